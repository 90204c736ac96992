"""Staff and the second factor: the demand for one, the login form, ending others'."""

import html
import re
from typing import Any
from urllib.parse import unquote

import pyotp
import pytest
import segno
from django.utils import timezone

from accounts.models import (
    AuthSession,
    LoginTicket,
    Member,
    SecurityLogEntry,
    TotpFactor,
)
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    code_now,
    give_recovery_codes,
    give_totp,
    wrong_code,
)

pytestmark = pytest.mark.django_db(transaction=True)

LOGIN = "/admin/login/"
SETUP = "/admin/second-factor/"
MEMBERS = "/api/admin/members"


def find_ticket(page: str) -> str:
    found = re.search(r'name="ticket" value="([^"]+)"', page)
    assert found, page
    return found[1]


def send_password(browser: JSONClient, member: Member) -> Any:
    form = {"username": member.login_id, "password": PASSWORD}
    return browser.post(f"{LOGIN}?next=/admin/", form)


def begin_login(browser: JSONClient, member: Member) -> str:
    """Return the ticket of the form's second step."""
    response = send_password(browser, member)
    assert response.status_code == 200
    return find_ticket(response.content.decode())


def finish_login(browser: JSONClient, ticket: str, code: str) -> Any:
    return browser.post(f"{LOGIN}?next=/admin/", {"ticket": ticket, "code": code})


def test_staff_without_a_factor_log_in_as_before(administrator: Member) -> None:
    browser = JSONClient()
    assert send_password(browser, administrator).status_code == 302
    assert browser.get("/admin/").status_code == 200
    assert AuthSession.objects.get(member=administrator).fresh_until


def test_password_alone_lets_no_one_with_a_factor_in(administrator: Member) -> None:
    give_totp(administrator)
    browser = JSONClient()
    begin_login(browser, administrator)
    assert browser.get("/admin/").status_code == 302
    assert not AuthSession.objects.filter(member=administrator).exists()


def test_second_step_is_an_instruction_and_no_error(administrator: Member) -> None:
    give_totp(administrator)
    browser = JSONClient()
    page = send_password(browser, administrator).content.decode()
    assert "Enter the code of your authenticator app" in page
    for word in ("errornote", "Error:", "errorlist"):
        assert word not in page
    ticket = find_ticket(page)
    wrong: Any = finish_login(browser, ticket, wrong_code())
    page = wrong.content.decode()
    assert "Enter the code of your authenticator app" in page
    assert page.count('class="errornote"') == 1
    assert "The code is wrong or no longer valid." in page
    assert 'value="0000' not in page


def test_second_step_lets_in(administrator: Member) -> None:
    give_totp(administrator)
    browser = JSONClient()
    response = finish_login(browser, begin_login(browser, administrator), code_now())
    assert (response.status_code, response.headers["Location"]) == (302, "/admin/")
    assert browser.get("/admin/").status_code == 200
    assert not LoginTicket.objects.exists()
    assert SecurityLogEntry.objects.get(kind="LOGIN").member == administrator


def test_recovery_code_lets_in_too(administrator: Member) -> None:
    give_totp(administrator)
    code = give_recovery_codes(administrator)[0]
    browser = JSONClient()
    ticket = begin_login(browser, administrator)
    assert finish_login(browser, ticket, code).status_code == 302


@pytest.mark.parametrize("code", ["wrong", "", "\0", "x" * 99])
def test_wrong_code_shows_the_second_step_again(
    administrator: Member, code: str
) -> None:
    give_totp(administrator)
    browser = JSONClient()
    ticket = begin_login(browser, administrator)
    code = wrong_code() if code == "wrong" else code
    response = finish_login(browser, ticket, code)
    assert response.status_code == 200
    assert find_ticket(response.content.decode()) == ticket
    assert browser.get("/admin/").status_code == 302


def test_other_members_are_refused_before_the_second_step(free_member: Member) -> None:
    give_totp(free_member)
    response = send_password(JSONClient(), free_member)
    assert 'name="ticket"' not in response.content.decode()
    assert not LoginTicket.objects.exists()


@pytest.mark.parametrize("path", [MEMBERS, "/api/admin/nothing", "/api/users"])
def test_staff_without_one_reach_nothing_of_the_api(
    administrator: Member, settings: Any, path: str
) -> None:
    client = JSONClient(administrator)
    assert client.send("GET", path).status_code in {200, 404}
    settings.ADMIN_SECOND_FACTOR = True
    assert_problem(client.send("GET", path), 403, "SECOND_FACTOR_SETUP_REQUIRED")
    give_totp(administrator)
    assert client.send("GET", path).status_code in {200, 404}


def test_members_are_refused_as_before(free_member: Member, settings: Any) -> None:
    settings.ADMIN_SECOND_FACTOR = True
    assert_problem(JSONClient(free_member).send("GET", MEMBERS), 403, "ADMIN_REQUIRED")


def test_staff_without_one_reach_only_its_set_up(
    administrator: Member, settings: Any
) -> None:
    settings.ADMIN_SECOND_FACTOR = True
    browser = logged_in_browser(administrator)
    for path in ("/admin/", "/admin/accounts/member/", "/admin/password_change/"):
        response: Any = browser.get(path)
        assert (response.status_code, response.headers["Location"]) == (302, SETUP)
        assert browser.post(path).status_code == 403
    assert browser.get(SETUP).status_code == 200


def test_staff_without_one_can_log_out(administrator: Member, settings: Any) -> None:
    settings.ADMIN_SECOND_FACTOR = True
    browser = logged_in_browser(administrator)
    assert browser.post("/admin/logout/").status_code == 200
    assert not AuthSession.objects.filter(member=administrator).exists()


def test_set_up_opens_the_administration(administrator: Member, settings: Any) -> None:
    settings.ADMIN_SECOND_FACTOR = True
    browser = logged_in_browser(administrator)
    page: Any = browser.post(SETUP)
    code = pyotp.TOTP(read_secret(page.content.decode())).at(timezone.now())
    done: Any = browser.post(SETUP, {"code": code})
    assert len(re.findall(r"<li><code>", done.content.decode())) == 10
    assert browser.get("/admin/").status_code == 200


def read_secret(page: str) -> str:
    found = re.search(r'<code class="secret">([A-Z2-7 ]{39})</code>', page)
    assert found, page
    return found[1].replace(" ", "")


def test_wrong_code_keeps_the_secret_for_its_time(administrator: Member) -> None:
    browser = logged_in_browser(administrator)
    begun: Any = browser.post(SETUP)
    secret = read_secret(begun.content.decode())
    for _ in range(2):
        wrong: Any = browser.post(SETUP, {"code": "nothing"})
        page = wrong.content.decode()
        assert "The code is wrong or no longer valid." in page
        assert "Begin again" not in page
        assert read_secret(page) == secret
    code = pyotp.TOTP(secret).at(timezone.now())
    done: Any = browser.post(SETUP, {"code": code})
    assert len(re.findall(r"<li><code>", done.content.decode())) == 10


def test_secret_ends_with_its_time(administrator: Member) -> None:
    browser = logged_in_browser(administrator)
    begun: Any = browser.post(SETUP)
    secret = read_secret(begun.content.decode())
    TotpFactor.objects.update(pending_until=timezone.now())
    code = pyotp.TOTP(secret).at(timezone.now())
    late: Any = browser.post(SETUP, {"code": code})
    assert "Begin again" in late.content.decode()
    assert 'class="secret"' not in late.content.decode()
    administrator.refresh_from_db()
    assert not administrator.has_second_factor


def test_secret_is_shown_in_a_fresh_session_only(administrator: Member) -> None:
    browser = logged_in_browser(administrator)
    browser.post(SETUP)
    AuthSession.objects.update(fresh_until=None)
    for form in ({}, {"code": "nothing"}):
        stale: Any = browser.post(SETUP, form)
        assert "Confirm that it is you" in stale.content.decode()
        assert 'class="secret"' not in stale.content.decode()
    assert 'class="secret"' not in browser.get(SETUP).content.decode()
    administrator.refresh_from_db()
    assert not administrator.has_second_factor


def test_picture_has_the_secret_and_needs_no_inline_style(
    administrator: Member,
) -> None:
    browser = logged_in_browser(administrator)
    response: Any = browser.post(SETUP)
    page = response.content.decode()
    found = re.search(r'src="data:image/svg\+xml;charset=utf-8,([^"]+)"', page)
    assert found
    svg = unquote(html.unescape(found[1]))
    secret = read_secret(page)
    uri = re.search(r'href="(otpauth://[^"]+)"', page)
    assert uri
    assert secret in uri[1]
    expected = segno.make(html.unescape(uri[1]), error="m", micro=False)
    assert expected.svg_inline(scale=4, light="#fff") in svg.replace(
        "xmlns='http://www.w3.org/2000/svg' ", ""
    ).replace("'", '"')
    assert "style" not in svg
    assert "script" not in svg
    assert "no-store" in response.headers["Cache-Control"]


def test_strangers_are_sent_to_the_login(free_member: Member) -> None:
    for browser in (JSONClient(), logged_in_browser(free_member)):
        for ask in (browser.get, browser.post):
            response: Any = ask(SETUP)
            assert response.headers["Location"] == f"{LOGIN}?next={SETUP}"


def test_administrator_ends_a_members_factor(
    administrator: Member, free_member: Member
) -> None:
    give_totp(free_member)
    path = f"{MEMBERS}/{free_member.pk}/factors"
    client = JSONClient(administrator)
    assert client.send("DELETE", path).status_code == 204
    free_member.refresh_from_db()
    assert not free_member.has_second_factor
    entry = SecurityLogEntry.objects.get()
    assert (entry.kind, entry.is_by_staff) == ("FACTOR_REMOVED", True)
    assert_problem(client.send("DELETE", path), 404, "NOT_FOUND")


def test_ending_a_factor_asks_for_fresh_authentication(
    administrator: Member, free_member: Member
) -> None:
    give_totp(free_member)
    client = JSONClient(administrator)
    AuthSession.objects.update(fresh_until=None)
    response = client.send("DELETE", f"{MEMBERS}/{free_member.pk}/factors")
    assert_problem(response, 403, "REAUTHENTICATION_REQUIRED", "methods")
    free_member.refresh_from_db()
    assert free_member.has_second_factor


def test_factor_of_staff_ends_at_the_console_only(administrator: Member) -> None:
    other = make_member(role="ADMIN")
    give_totp(other)
    client = JSONClient(administrator)
    response = client.send("DELETE", f"{MEMBERS}/{other.pk}/factors")
    assert_problem(response, 403, "FORBIDDEN")
    response = client.send("DELETE", f"{MEMBERS}/{administrator.pk}/factors")
    assert_problem(response, 400, "SELF_CHANGE")


def test_administrator_ends_all_sessions_of_a_member(
    administrator: Member, free_member: Member, other_member: Member
) -> None:
    theirs, others = JSONClient(free_member), JSONClient(other_member)
    theirs.get_json("/api/auth/session")
    path = f"{MEMBERS}/{free_member.pk}/sessions"
    assert JSONClient(administrator).send("DELETE", path).status_code == 204
    assert theirs.send("GET", "/api/auth/session").status_code == 401
    assert others.send("GET", "/api/auth/session").status_code == 200
