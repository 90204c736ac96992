"""The second step of staff's login and the pages of the links, in a real browser.

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.deletion_page import is_deleted, make_without_password
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import NEW_PASSWORD, ask_reset, ask_verification, process_resets
from tests.support.second_factors import code_now, give_totp, wrong_code

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
each_look = pytest.mark.parametrize(
    ("language", "width"), [("ko", 390), ("ko", 1440), ("en", 390), ("en", 1440)]
)


@pytest.fixture
def staff(live_server: Any) -> Member:
    member = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    give_totp(member)
    return member


@pytest.fixture
def linked_mails(live_server: Any, settings: Any, mail_folder: Path) -> None:
    """Write mails to a folder, with links to the live server."""
    settings.PUBLIC_URL = live_server.url


def use_look(page: Chromium, language: str, width: int) -> None:
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.resize(width, 900)


def check(page: Chromium, width: int, name: str) -> None:
    """Check that the page fits and has neither errors nor barriers."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"{name}.png")
    assert page.errors() == []
    assert find_barriers(page) == []
    # axe-core itself sets styles that the policy refuses.
    page.errors()
    page.events.clear()


@each_look
def test_staff_log_in_in_two_steps(
    page: Chromium, live_server: Any, staff: Member, language: str, width: int
) -> None:
    use_look(page, language, width)
    page.open(f"{live_server.url}/admin/")
    page.type("#id_username", staff.login_id)
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")
    instruction = {"ko": "인증 앱의 코드", "en": "code of your authenticator app"}
    assert instruction[language] in page.text()
    assert page.evaluate("document.querySelectorAll('.errornote').length") == 0
    check(page, width, f"second-step-{language}-{width}")
    page.type("#id_code", wrong_code())
    page.click("input[type=submit]")
    assert page.evaluate("document.querySelectorAll('.errornote').length") == 1
    check(page, width, f"second-step-wrong-{language}-{width}")
    page.type("#id_code", code_now())
    page.click("input[type=submit]")
    assert page.evaluate("location.pathname") == "/admin/"


@each_look
@pytest.mark.usefixtures("linked_mails")
def test_link_of_a_mail_sets_a_new_password(
    page: Chromium, language: str, width: int
) -> None:
    member = make_member()
    ask_reset(loginId=member.login_id)
    (mail,) = process_resets()
    use_look(page, language, width)
    page.open(mail.links[0])
    check(page, width, f"reset-{language}-{width}")
    page.type("#password", "password")
    page.click("button")
    assert page.evaluate("document.querySelectorAll('.error').length") == 1
    check(page, width, f"reset-refused-{language}-{width}")
    page.type("#password", NEW_PASSWORD)
    page.click("button")
    assert page.evaluate("document.querySelectorAll('[role=status]').length") == 1
    check(page, width, f"reset-done-{language}-{width}")
    body = {"loginId": member.login_id, "password": NEW_PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 200
    page.open(mail.links[0])
    page.type("#password", NEW_PASSWORD)
    page.click("button")
    assert page.evaluate("document.querySelectorAll('[role=alert]').length") == 1
    check(page, width, f"reset-spent-{language}-{width}")


@each_look
@pytest.mark.usefixtures("linked_mails")
def test_link_of_a_mail_verifies_the_address(
    page: Chromium, language: str, width: int
) -> None:
    member = make_member()
    mail, _ = ask_verification(JSONClient(member))
    use_look(page, language, width)
    page.open(mail.links[0])
    check(page, width, f"confirm-{language}-{width}")
    assert not Member.objects.get(pk=member.pk).is_email_verified
    page.click("button")
    assert page.evaluate("document.querySelectorAll('[role=status]').length") == 1
    check(page, width, f"confirm-done-{language}-{width}")
    assert Member.objects.get(pk=member.pk).is_email_verified


@each_look
@pytest.mark.parametrize("by_mail", [False, True])
@pytest.mark.usefixtures("linked_mails")
def test_page_deletes_an_account(
    page: Chromium, live_server: Any, language: str, width: int, by_mail: bool
) -> None:
    member = make_without_password() if by_mail else make_member()
    give_totp(member)
    # A small phone.
    width = 320 if width == 390 else width
    name = f"{'mail' if by_mail else 'login'}-{language}-{width}"
    use_look(page, language, width)
    page.open(f"{live_server.url}/account/delete")
    check(page, width, f"delete-{name}")
    if by_mail:
        page.type("#email", member.email)
        page.click("#email ~ button")
        check(page, width, f"delete-sent-{name}")
        (mail,) = process_resets()
        page.open(mail.links[0])
    else:
        page.type("#login_id", member.login_id)
        page.type("#password", "wrong")
        page.click("#password ~ button")
        assert page.evaluate("document.querySelectorAll('[role=alert]').length") == 1
        check(page, width, f"delete-wrong-{name}")
        page.type("#password", PASSWORD)
        page.click("#password ~ button")
    check(page, width, f"delete-confirm-{name}")
    page.type("#word", "delete")
    if not by_mail:
        page.type("#factor", wrong_code())
    # The link of a mail asks for the factor only now, if it is needed.
    page.click("button.danger")
    assert page.evaluate("document.querySelectorAll('#factor-error').length") == 1
    check(page, width, f"delete-factor-{name}")
    page.type("#factor", code_now())
    page.click("button.danger")
    assert page.evaluate("document.querySelectorAll('[role=status]').length") == 1
    check(page, width, f"delete-done-{name}")
    assert is_deleted(member)
