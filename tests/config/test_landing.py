"""The page at `/`: what this is, and where to go."""

import re

import pytest

from tests.support.clients import JSONClient

pytestmark = pytest.mark.django_db


def read() -> str:
    response = JSONClient().get("/")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    return response.content.decode()


def test_page_names_the_service_and_leads_to_its_pages() -> None:
    page = read()
    assert "<h1>Household Ledger and Community Board</h1>" in page
    links = re.findall('href="([^"]+)"', page)
    assert links == ["/api/docs", "/admin/", "/api/health", "/account/delete"]
    for link in links:
        assert JSONClient().get(link, follow=True).status_code == 200


def test_page_asks_nobody_else_and_runs_nothing() -> None:
    assert not re.search(r"https?://|<script|<link|url\(", read())
