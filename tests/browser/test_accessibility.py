"""Pages have no findings of axe-core and fit, in both themes, widths and languages.

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Member
from tests.support.admin_site import MEMBERS, list_pages, make_rows
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_member
from tests.support.scale import IS_FULL

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
ALL_LOOKS = list(product(["ko", "en"], ["light", "dark"], [390, 1440]))
# Each language and theme on a phone, and a desktop; all eight take three times as long.
FEW_LOOKS = [("ko", "light", 390), ("en", "dark", 390), ("en", "dark", 1440)]
# Both themes and both widths: what axe-core finds hardly depends on the language.
LOOKS_OF_AXE = [FEW_LOOKS[0], FEW_LOOKS[2]]
LOOKS = ALL_LOOKS if IS_FULL or SCREENSHOTS else FEW_LOOKS
PUBLIC_PAGES = (
    *(
        "/",
        "/api/docs",
        "/api/docs/try",
        "/admin/login/",
        "/account/delete",
        "/legal/report",
    ),
    *("/account/delete?request=1&code=2", "/legal/report?request=1&code=2"),
)
# Swagger UI is not ours.
OURS = {"/api/docs/try": '{exclude: ["#swagger-ui"]}'}
# A list may be wider than its frame only where it scrolls; ours must not need to.
TOO_WIDE = (
    "[...document.querySelectorAll('.results')]"
    ".filter((part) => part.scrollWidth > part.clientWidth + 1).length"
)


@pytest.fixture
def staff(live_server: Any) -> Member:
    return make_member(role="ADMIN", login_id="staff", password=PASSWORD)


def log_in(page: Chromium, live_server: Any, staff: Member) -> None:
    page.open(f"{live_server.url}/admin/login/?next=/admin/password_change/")
    page.type("#id_username", staff.login_id)
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")


def check(
    page: Chromium,
    address: str,
    path: str,
    width: int,
    picture: str,
    *,
    has_axe: bool,
) -> None:
    # axe-core itself sets styles that the policy refuses.
    page.errors()
    page.events.clear()
    page.open(f"{address}{path}")
    if path in OURS:
        page.wait("document.querySelector('#swagger-ui main, #swagger-ui .opblock')")
    assert page.errors() == [], path
    assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert page.evaluate(TOO_WIDE) == 0, path
    if SCREENSHOTS:
        name = path.strip("/").translate(str.maketrans("/?", "--")) or "landing"
        page.shoot(Path(SCREENSHOTS) / f"{name}-{picture}.png")
    if not has_axe:
        return
    context = OURS.get(path, "document")
    assert find_barriers(page, context=context) == [], path


@pytest.mark.parametrize(("language", "scheme", "width"), LOOKS)
def test_page_fits_and_has_no_barriers(
    page: Chromium,
    live_server: Any,
    staff: Member,
    mail_folder: Path,
    language: str,
    scheme: str,
    width: int,
) -> None:
    member = make_rows(staff)
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.use_scheme(scheme)
    page.resize(width, 900)
    picture = f"{language}-{scheme}-{width}"
    has_axe = IS_FULL or (language, scheme, width) in LOOKS_OF_AXE
    for path in PUBLIC_PAGES:
        check(page, live_server.url, path, width, picture, has_axe=has_axe)
    log_in(page, live_server, staff)
    for path in [*list_pages(), f"{MEMBERS}{member.pk}/change/"]:
        check(page, live_server.url, path, width, picture, has_axe=has_axe)
    # The question before an action.
    page.click("button[value=set_free]")
    assert find_barriers(page) == []


def test_axe_finds_barriers(page: Chromium, live_server: Any) -> None:
    # Otherwise the test above would prove nothing.
    page.open(f"{live_server.url}/")
    page.evaluate("document.querySelector('main').innerHTML = '<input id=a>';0")
    assert any(found.startswith("label: #a") for found in find_barriers(page))
