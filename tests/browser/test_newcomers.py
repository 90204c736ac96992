"""The landing page and the dashboard fit, and show first what comes first (spec 7.7).

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from core.jobs.models import JobRun
from tests.support.admin_site import list_pages, make_rows
from tests.support.cases import make_case
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_member, make_post

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
HEIGHT = 900
LOOKS = [
    *((390, "light", "ko"), (390, "dark", "en")),
    *((1440, "light", "en"), (1440, "dark", "ko")),
]
each_look = pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
# Elements that can be seen and end right of the screen.
OUTSIDE = """
[...document.querySelectorAll('#container *, body > main *')]
    .filter((each) => each.checkVisibility() && !each.closest('svg, .visually-hidden'))
    // Heads for screen readers only.
    .filter((each) => !each.closest('.app-list thead'))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 120))
"""


def use_look(page: Chromium, width: int, scheme: str, language: str) -> None:
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.use_scheme(scheme)
    page.resize(width, HEIGHT)


def log_in(page: Chromium, address: str) -> None:
    page.open(f"{address}/admin/login/?next=/admin/password_change/")
    page.type("#id_username", "staff")
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")


def shoot(page: Chromium, name: str) -> None:
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"{name}.png")


def bottom_of(page: Chromium, selector: str) -> float:
    box = f"document.querySelector('{selector}').getBoundingClientRect()"
    return float(page.evaluate(f"{box}.bottom"))


@each_look
def test_landing_page_is_one_screen(
    page: Chromium, live_server: Any, width: int, scheme: str, language: str
) -> None:
    use_look(page, width, scheme, language)
    page.open(f"{live_server.url}/")
    shoot(page, f"landing-{width}-{scheme}-{language}")
    assert page.evaluate(OUTSIDE) == []
    # What it is and what to do next: on a phone the picture comes after them.
    assert bottom_of(page, ".next") < HEIGHT
    if width > 390:
        assert bottom_of(page, "footer") <= HEIGHT
    assert page.evaluate("document.querySelector('img').naturalWidth") == 960
    assert page.errors() == []
    assert find_barriers(page) == []


@each_look
def test_dashboard_shows_navigation_first_and_fits(
    page: Chromium, live_server: Any, width: int, scheme: str, language: str
) -> None:
    staff = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    make_rows(staff)
    now = timezone.now()
    make_case(make_post(make_member()), opened_at=now - timedelta(hours=30))
    JobRun.objects.create(
        job="purge_sessions", state="FAILED", started_at=now, error="OSError " * 20
    )
    use_look(page, width, scheme, language)
    log_in(page, live_server.url)
    page.errors()
    page.events.clear()
    page.open(f"{live_server.url}/admin/")
    shoot(page, f"dashboard-{width}-{scheme}-{language}")
    assert page.errors() == []
    assert bottom_of(page, "#content-main") < HEIGHT
    figures = "document.querySelector('.dashboard-section').getBoundingClientRect().top"
    assert bottom_of(page, "#content-main") <= page.evaluate(figures)
    assert page.evaluate(OUTSIDE) == []
    if width > 390:
        assert_no_header_is_broken(page)
        assert_charts_fill_their_rows(page)
    assert find_barriers(page) == []


def assert_no_header_is_broken(page: Chromium) -> None:
    heights = page.evaluate(
        "[...document.querySelectorAll('.runs thead th')]"
        ".map((each) => each.getBoundingClientRect().height)"
    )
    assert len(heights) == 6
    assert max(heights) < 50


def assert_charts_fill_their_rows(page: Chromium) -> None:
    """Each row of charts ends where its section ends."""
    gaps = page.evaluate(
        """
        [...document.querySelectorAll('.figures:not(.columns-0)')].map((figures) => {
            const end = figures.getBoundingClientRect().right;
            const charts = [...figures.querySelectorAll('.chart')];
            return end - charts.at(-1).getBoundingClientRect().right;
        })
        """
    )
    assert len(gaps) == 5
    assert max(gaps) < 2


def test_row_of_any_list_is_a_card_on_a_phone(page: Chromium, live_server: Any) -> None:
    staff = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    make_rows(staff)
    page.resize(390, HEIGHT)
    log_in(page, live_server.url)
    lists = 0
    for path in list_pages():
        page.open(f"{live_server.url}{path}")
        cells = "document.querySelectorAll('#result_list tbody :is(td, th)')"
        if not page.evaluate(f"{cells}.length"):
            continue
        lists += 1
        assert page.evaluate(OUTSIDE) == [], path
        unlabelled = (
            f"[...{cells}].filter((each) => !each.matches('.action-checkbox')"
            " && !each.dataset.label).map((each) => each.outerHTML.slice(0, 120))"
        )
        assert page.evaluate(unlabelled) == [], path
        # The cells of a card stand below each other.
        lefts = f"new Set([...{cells}].map((e) => e.getBoundingClientRect().left)).size"
        assert page.evaluate(lefts) == 1, path
    assert lists >= 8
