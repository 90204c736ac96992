"""The pages work under their Content-Security-Policy, and foreign scripts do not."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ApplicationSetting, Member
from tests.support.clients import JSONClient
from tests.support.devtools import Chromium, needs_chromium
from tests.support.factories import PASSWORD, make_entry, make_member, make_post

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]


def log_in(page: Chromium, live_server: Any) -> Member:
    staff = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    page.open(f"{live_server.url}/admin/")
    page.type("#id_username", staff.login_id)
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")
    return staff


def test_landing_page_has_its_style(page: Chromium, live_server: Any) -> None:
    page.open(f"{live_server.url}/")
    display = "getComputedStyle(document.body).display"
    assert page.evaluate(display) == "grid"
    assert page.errors() == []


def test_page_that_tries_out_calls_an_endpoint(
    page: Chromium, live_server: Any
) -> None:
    schema = JSONClient().get_json("/api/schema", format="json")
    operation = schema["paths"]["/api/health/live"]["get"]
    name = f"{operation['tags'][0]}/{operation['operationId']}"
    # The page opens the operation that its address names.
    page.open(f"{live_server.url}/api/docs/try#/{name}")
    block = f"document.getElementById('operations-{name.replace('/', '-')}')"
    for button in (".try-out__btn", ".execute"):
        page.wait(f"{block}?.querySelector('{button}')")
        page.evaluate(f"{block}.querySelector('{button}').click()")
    page.wait(f"{block}.querySelector('.live-responses-table .response')")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(250, 250, 250)"
    answer = page.evaluate(f"{block}.querySelector('.responses-table').innerText")
    assert '"status": "ok"' in answer
    assert page.errors() == []


def test_page_that_tries_out_is_dark_where_the_browser_is_and_fits(
    page: Chromium, live_server: Any
) -> None:
    page.use_scheme("dark")
    page.open(f"{live_server.url}/api/docs/try#/Entries/createEntry")
    page.wait("document.querySelector('table.headers td')")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(28, 32, 34)"
    header = "getComputedStyle(document.querySelector('table.headers td')).color"
    assert page.evaluate(header) == "rgb(228, 230, 230)"
    for width in (390, 1440):
        page.resize(width, 900)
        # Blocks of operations cut off what is too wide: the page alone does not tell.
        edges = page.evaluate(
            "[...document.querySelectorAll('.opblock *')]"
            ".map((part) => part.getBoundingClientRect().right)"
        )
        assert max(edges) <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.use_scheme("light")
    page.wait(f"{background} === 'rgb(250, 250, 250)'")
    assert page.errors() == []


def test_dashboard_and_admin_work(page: Chromium, live_server: Any) -> None:
    staff = log_in(page, live_server)
    make_post(staff)
    ApplicationSetting.objects.get_or_create(name="signup_enabled")
    for days in range(3):
        member = make_member(created_at=timezone.now() - timedelta(days=days))
        make_entry(member)
    page.open(f"{live_server.url}/admin/")
    page.wait("document.querySelectorAll('.chart .bar').length > 1")
    links = page.evaluate(
        "[...document.querySelectorAll('#content-main a, .app-list a')]"
        ".map((link) => link.href)"
    )
    assert len(links) > 8
    opened = {f"{live_server.url}/admin/accounts/member/{staff.pk}/change/", *links}
    for address in sorted(opened):
        page.open(address)
        assert page.errors() == [], address
    page.open(f"{live_server.url}/admin/")
    # The admin's own scripts run: it changes the theme.
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme)
    page.click(".theme-toggle", leave=False)
    page.wait(f"{theme} !== {before!r}")
    page.open(f"{live_server.url}/admin/accounts/member/")
    page.click("#action-toggle", leave=False)
    page.wait("document.querySelectorAll('tr.selected').length > 1")
    assert page.errors() == []


@pytest.mark.parametrize("path", ["/", "/api/docs", "/api/docs/try", "/admin/login/"])
def test_script_that_was_put_into_a_page_does_not_run(
    page: Chromium, live_server: Any, path: str
) -> None:
    page.open(f"{live_server.url}{path}")
    page.evaluate(
        """
        document.body.insertAdjacentHTML("beforeend", `<img src="x:y" onerror="ran=1">`);
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        document.body.append(script);
        """
    )
    page.wait("document.images.length === 0 || document.images[0].complete")
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in page.errors())
