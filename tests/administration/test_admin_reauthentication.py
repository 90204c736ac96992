"""Fresh authentication in Django admin: roles, plans, factors, deletion (spec 2.13)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuthSession, Member, SecurityLogEntry
from tests.support.admin_site import MEMBERS, get_page, logged_in_browser, run_action
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    code_now,
    give_recovery_codes,
    give_totp,
    wrong_code,
)

SETUP = "/admin/second-factor/"
ASKED = "Confirm that it is you"
ACTIONS = ["set_premium", "make_administrator", "make_moderator"]


@pytest.fixture
def stale(browser: JSONClient, administrator: Member) -> JSONClient:
    """Return a browser whose login is a while ago."""
    make_stale(administrator)
    return browser


def make_stale(member: Member) -> None:
    AuthSession.objects.filter(member=member).update(
        fresh_until=None, factor_fresh_until=None
    )


def deletion_url(member: Member) -> str:
    return f"{MEMBERS}{member.pk}/deeds/deletion/"


def read_hidden(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


@pytest.mark.parametrize("action", ACTIONS)
def test_roles_and_plans_ask_again_and_go_on_with_the_question(
    stale: JSONClient, free_member: Member, action: str
) -> None:
    # Even a confirmed one: the question comes again after the proof.
    asked = run_action(stale, action, free_member, confirmed="yes")
    page = asked.content.decode()
    assert ASKED in page
    before = Member.objects.get(pk=free_member.pk)
    assert (before.role, before.plan) == ("MEMBER", "FREE")
    hidden = read_hidden(page)
    assert hidden == {"action": action, "_selected_action": str(free_member.pk)}
    question: Any = stale.post(MEMBERS, hidden | {"proof_password": PASSWORD})
    assert ASKED not in question.content.decode()
    assert 'name="confirmed"' in question.content.decode()
    done = run_action(stale, action, free_member, confirmed="yes")
    assert done.status_code == 302
    after = Member.objects.get(pk=free_member.pk)
    assert (after.role, after.plan) != ("MEMBER", "FREE")


@pytest.mark.parametrize("action", ["suspend"])
def test_other_actions_do_not_ask(
    stale: JSONClient, free_member: Member, action: str
) -> None:
    assert ASKED not in run_action(stale, action, free_member).content.decode()


def test_deletion_asks_before_its_question_and_keeps_what_was_sent(
    stale: JSONClient, administrator: Member, free_member: Member
) -> None:
    path = deletion_url(free_member)
    assert ASKED in get_page(stale, path)
    answer: Any = stale.post(path, {"proof_password": PASSWORD})
    assert answer.headers["Location"] == path
    assert ASKED not in get_page(stale, path)
    # The time passes while the login id is typed.
    make_stale(administrator)
    form = {"login_id": free_member.login_id, "confirmed": "yes"}
    late: Any = stale.post(path, form)
    hidden = read_hidden(late.content.decode())
    assert hidden == {"login_id": free_member.login_id}
    again: Any = stale.post(path, hidden | {"proof_password": PASSWORD})
    assert f'value="{free_member.login_id}"' in again.content.decode()
    assert Member.objects.filter(pk=free_member.pk).exists()
    assert stale.post(path, form).status_code == 302
    assert not Member.objects.filter(pk=free_member.pk).exists()


def test_factor_of_a_member_asks_too(stale: JSONClient, free_member: Member) -> None:
    give_totp(free_member)
    assert ASKED in get_page(stale, f"{MEMBERS}{free_member.pk}/deeds/factors/")
    form = {"confirmed": "yes"}
    stale.post(f"{MEMBERS}{free_member.pk}/deeds/factors/", form)
    free_member.refresh_from_db()
    assert free_member.has_second_factor


@pytest.mark.parametrize("proof", ["", "wrong"])
def test_wrong_password_proves_nothing_and_counts(
    stale: JSONClient, administrator: Member, free_member: Member, proof: str
) -> None:
    path = deletion_url(free_member)
    answer: Any = stale.post(path, {"proof_password": proof})
    assert "The password is incorrect." in answer.content.decode()
    assert not AuthSession.objects.filter(
        member=administrator, fresh_until__isnull=False
    ).exists()
    assert SecurityLogEntry.objects.get().kind == "LOGIN_FAILED"


def test_proofs_are_limited_as_logins(stale: JSONClient, free_member: Member) -> None:
    path = deletion_url(free_member)
    texts = []
    for _ in range(12):
        answer: Any = stale.post(path, {"proof_password": "wrong"})
        texts.append("The password is incorrect." in answer.content.decode())
    assert texts[0] is True
    assert texts[-1] is False
    right: Any = stale.post(path, {"proof_password": PASSWORD})
    assert ASKED in right.content.decode(), "limited for the right one too"


def test_second_factor_is_asked_beside_the_password(
    stale: JSONClient, administrator: Member, free_member: Member
) -> None:
    give_totp(administrator)
    path = deletion_url(free_member)
    page = get_page(stale, path)
    assert "proof_password" in page
    assert "proof_code" in page
    for proof in (
        {"proof_password": PASSWORD},
        {"proof_code": code_now()},
        {"proof_password": PASSWORD, "proof_code": wrong_code()},
        {"proof_password": "wrong", "proof_code": code_now()},
    ):
        refused: Any = stale.post(path, proof)
        assert ASKED in refused.content.decode(), proof
    proof = {"proof_password": PASSWORD, "proof_code": code_now()}
    assert stale.post(path, proof).status_code == 302
    assert ASKED not in get_page(stale, path)


def test_recovery_code_counts_once(
    stale: JSONClient, administrator: Member, free_member: Member
) -> None:
    give_totp(administrator)
    code = give_recovery_codes(administrator)[0]
    proof = {"proof_password": PASSWORD, "proof_code": code}
    path = deletion_url(free_member)
    assert stale.post(path, proof).status_code == 302
    make_stale(administrator)
    again: Any = stale.post(path, proof)
    assert "The code is wrong or no longer valid." in again.content.decode()


def test_another_factor_needs_a_code_and_not_another_login(
    stale: JSONClient, administrator: Member
) -> None:
    give_totp(administrator)
    # The password was shown a minute ago, the code was not.
    later = timezone.now() + timedelta(minutes=9)
    AuthSession.objects.filter(member=administrator).update(fresh_until=later)
    assert ASKED in stale.post(SETUP).content.decode()
    proof = {"proof_password": PASSWORD, "proof_code": code_now()}
    assert stale.post(SETUP, proof).headers["Location"] == SETUP
    assert "data:image/svg+xml" in stale.post(SETUP).content.decode()


def test_account_without_password_and_factor_has_to_log_in_again(
    free_member: Member,
) -> None:
    member = make_member(role="ADMIN", password=None)
    browser = logged_in_browser(member)
    make_stale(member)
    answer: Any = browser.post(deletion_url(free_member), {"proof_password": ""})
    assert "Log out and in again first." in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "members/{}/role", {"role": "ADMIN"}),
        ("PUT", "members/{}/plan", {"plan": "PREMIUM"}),
        ("DELETE", "members/{}/factors", None),
        ("DELETE", "members/{}", None),
    ],
)
def test_api_asks_administrators_with_a_factor_for_the_same(
    client: JSONClient,
    administrator: Member,
    free_member: Member,
    method: str,
    path: str,
    body: Any,
) -> None:
    give_totp(free_member)
    give_totp(administrator)
    make_stale(administrator)
    # Before 404 and 400 as everywhere.
    for number, sent in ((free_member.pk, body), (987654321, body), (1, {})):
        answer = client.send(method, f"/api/admin/{path.format(number)}", sent)
        assert_problem(answer, 403, "REAUTHENTICATION_REQUIRED", "methods")
    free_member.refresh_from_db()
    assert (free_member.role, free_member.plan) == ("MEMBER", "FREE")
    assert free_member.has_second_factor
    proof = {"password": PASSWORD}
    client.send("POST", "/api/auth/reauthenticate", proof)
    answer = client.send(method, f"/api/admin/{path.format(free_member.pk)}", body)
    assert answer.status_code in {200, 204}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "admin/members/{}/role", {"role": "ADMIN"}),
        ("PUT", "admin/members/{}/plan", {"plan": "PREMIUM"}),
        ("DELETE", "admin/members/{}", None),
        ("DELETE", "users/{}", None),
    ],
)
def test_api_asks_administrators_without_one_as_little_as_before(
    client: JSONClient,
    administrator: Member,
    free_member: Member,
    method: str,
    path: str,
    body: Any,
) -> None:
    make_stale(administrator)
    answer = client.send(method, f"/api/{path.format(free_member.pk)}", body)
    assert answer.status_code in {200, 204}


def test_deletion_of_a_user_asks_too(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    give_totp(administrator)
    make_stale(administrator)
    answer = client.send("DELETE", f"/api/users/{free_member.pk}")
    assert_problem(answer, 403, "REAUTHENTICATION_REQUIRED", "methods")


def test_status_and_sessions_do_not_ask(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    make_stale(administrator)
    path = f"/api/admin/members/{free_member.pk}"
    body = {"status": "SUSPENDED"}
    assert client.send("PUT", f"{path}/status", body).status_code == 200
    assert client.send("DELETE", f"{path}/sessions").status_code == 204
