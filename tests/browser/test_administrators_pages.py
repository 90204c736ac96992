"""Pages of the log, the switches and announcements fit and have no barriers (spec 7.7).

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.models import ApplicationSetting, AuditLogEntry, Member
from accounts.switches.switches import add_missing_settings
from administration.log import log_export, log_reading
from tests.support.announcements import make_announcement
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_member

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
LOOKS = [
    *((390, "light", "ko"), (390, "dark", "en")),
    *((1440, "light", "en"), (1440, "dark", "ko")),
]
SETTINGS = "/admin/accounts/applicationsetting/"
LOG = "/admin/accounts/auditlogentry/"
ANNOUNCEMENTS = "/admin/accounts/announcement/"


def check(page: Chromium, address: str, path: str, name: str) -> None:
    # axe-core itself sets styles that the policy refuses.
    page.errors()
    page.events.clear()
    page.open(f"{address}{path}")
    assert page.errors() == [], path
    too_wide = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(too_wide), path
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"{name}.png")
    assert find_barriers(page) == [], path


def log_in(page: Chromium, address: str) -> Member:
    staff = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    page.open(f"{address}/admin/")
    page.type("#id_username", staff.login_id)
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")
    return staff


@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_pages_of_administrators(
    page: Chromium, live_server: Any, width: int, scheme: str, language: str
) -> None:
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.use_scheme(scheme)
    page.resize(width, 900)
    staff = log_in(page, live_server.url)
    add_missing_settings()
    row = make_announcement("Maintenance on Sunday", level="WARNING")
    log_reading(staff, {"action": "CHANGE"})
    log_export(staff, Member, 1234, {"q": "minji", "status__exact": "SUSPENDED"})
    line = AuditLogEntry.objects.latest("id")
    look = f"{width}-{scheme}-{language}"
    for path, name in (
        (SETTINGS, "switches"),
        (f"{SETTINGS}read_only/change/", "switch"),
        (LOG, "log"),
        (f"{LOG}?q=staff&action__exact=EXPORT", "log-found"),
        (f"{LOG}{line.pk}/change/", "line"),
        (ANNOUNCEMENTS, "announcements"),
        (f"{ANNOUNCEMENTS}add/", "announce"),
        (f"{ANNOUNCEMENTS}{row.pk}/change/", "announcement"),
    ):
        check(page, live_server.url, path, f"{name}-{look}")


def test_administrator_turns_a_switch_and_announces_something(
    page: Chromium, live_server: Any
) -> None:
    log_in(page, live_server.url)
    page.open(f"{live_server.url}{SETTINGS}")
    names = list(ApplicationSetting.objects.order_by("name").values_list("name"))
    number = names.index(("read_only",))
    page.click(f"#id_form-{number}-enabled", leave=False)
    page.click("input[name=_save]")
    assert ApplicationSetting.objects.get(name="read_only").enabled
    page.open(f"{live_server.url}{SETTINGS}")
    page.click(f"#id_form-{number}-enabled", leave=False)
    page.click("input[name=_save]")
    assert not ApplicationSetting.objects.get(name="read_only").enabled
    page.open(f"{live_server.url}{ANNOUNCEMENTS}add/")
    for field in ("title_ko", "title_en", "text_ko", "text_en"):
        page.type(f"#id_{field}", "Words")
    page.evaluate("document.querySelector('#id_ends_at').value = '2099-01-01T00:00'")
    page.click("input[name=_save]")
    assert "Words" in page.text()
    logged = AuditLogEntry.objects.order_by("id").values_list("action", "text")
    assert list(logged) == [
        ("CHANGE", "Enabled true."),
        ("CHANGE", "Enabled false."),
        ("ADDITION", ""),
    ]
