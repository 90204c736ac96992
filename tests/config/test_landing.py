"""The page at `/`: what this is, and where to go."""

import re
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from accounts.legal.documents import KNOWN, read_documents
from accounts.models import LegalDocument
from tests.support.clients import JSONClient

ICON = "/static/administration/favicon.svg"
pytestmark = pytest.mark.django_db


def read(language: str = "en") -> str:
    response = JSONClient().get("/", HTTP_ACCEPT_LANGUAGE=language)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    return response.content.decode()


def test_page_names_the_service_and_leads_to_its_pages() -> None:
    page = read()
    assert "<h1>Household Ledger and Community Board</h1>" in page
    links = re.findall('<a href="([^"]+)"', page)
    assert links == [
        *("/api/docs", "/api/docs/try", "/admin/"),
        *("/api/health", "/account/delete", "/legal/report"),
    ]
    for link in links:
        assert JSONClient().get(link, follow=True).status_code == 200


def test_page_asks_nobody_else_and_runs_nothing() -> None:
    page = read()
    assert not re.search(r"https?://|<script|url\(", page)
    assert re.findall("<link [^>]*>", page) == [f'<link rel="icon" href="{ICON}">']


@pytest.mark.parametrize("language", ["en", "ko"])
def test_picture_is_one_of_the_service_in_the_language(language: str) -> None:
    page = read(language)
    path, width, height = re.findall(
        r'<img src="(/[^"]+)" width="(\d+)" height="(\d+)" alt="[^"]{10,}">', page
    )[0]
    assert path == f"/static/administration/landing-{language}.png"
    response: Any = JSONClient().get(path)
    content = response.getvalue()
    assert len(content) <= 150 * 1024
    with Image.open(BytesIO(content)) as picture:
        assert picture.size == (int(width), int(height))


def test_page_names_version_license_and_source(settings: Any) -> None:
    named = f'Version {settings.VERSION} · <span lang="en">AGPL-3.0-or-later</span>'
    assert f"{named}</footer>" in read()
    source = "https://git.example/tree/v1"
    settings.ABOUT = settings.ABOUT | {"source": source, "name": "Our <books>"}
    page = read()
    assert f'{named} · <a href="{source}">source of this version</a>' in page
    assert "<b>Our &lt;books&gt;</b>" in page


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
