"""The page at `/`: what this is, and where to go."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.legal.documents import KNOWN, read_documents
from accounts.models import LegalDocument
from tests.support.clients import JSONClient

ICON = "/static/administration/favicon.svg"
pytestmark = pytest.mark.django_db


def read() -> str:
    response = JSONClient().get("/")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    return response.content.decode()


def test_page_names_the_service_and_leads_to_its_pages() -> None:
    page = read()
    assert "<h1>Household Ledger and Community Board</h1>" in page
    links = re.findall('<a href="([^"]+)"', page)
    assert links == [
        *("/api/docs", "/admin/", "/api/health", "/account/delete"),
        "/legal/report",
    ]
    for link in links:
        assert JSONClient().get(link, follow=True).status_code == 200


def test_page_asks_nobody_else_and_runs_nothing() -> None:
    page = read()
    assert not re.search(r"https?://|<script|url\(", page)
    assert re.findall("<link [^>]*>", page) == [f'<link rel="icon" href="{ICON}">']


def test_report_page_is_the_one_of_the_operator(settings: Any) -> None:
    page = "https://example.org/reports"
    legal = settings.ABOUT["legal"] | {"reports": page}
    settings.ABOUT = settings.ABOUT | {"legal": legal}
    assert f'<a href="{page}"><strong>Report a post or comment</strong>' in read()


def test_every_link_has_a_second_line(monkeypatch: pytest.MonkeyPatch) -> None:
    LegalDocument.objects.create(
        kind="TERMS",
        version="2.1",
        locale="en",
        title="Terms of use",
        body="Be kind.",
        effective_at=datetime(2026, 1, 31, tzinfo=UTC),
        required=False,
    )
    monkeypatch.setattr(KNOWN, "documents", read_documents())
    page = read()
    assert "Terms of use</strong>version 2.1, in force since 2026-01-31</a>" in page
    assert "</strong></a>" not in page


@pytest.mark.parametrize(
    "path", ["/", "/account/delete", "/legal/report", "/admin/login/", "/nothing"]
)
def test_pages_name_an_icon(path: str) -> None:
    page = JSONClient().get(path, HTTP_ACCEPT="text/html").content.decode()
    assert page.count(f'<link rel="icon" href="{ICON}">') == 1


def test_browsers_find_the_icon_where_they_look_and_keep_it() -> None:
    response: Any = JSONClient().get("/favicon.ico")
    assert (response.status_code, response.headers["Location"]) == (302, ICON)
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    icon: Any = JSONClient().get(ICON)
    assert icon.status_code == 200
    assert icon.headers["Content-Type"] == "image/svg+xml"
    assert b"<svg" in icon.getvalue()
