"""Deeds of staff in a session that is not fresh: who they are is asked in the form."""

from typing import Any

import pytest

from accounts.models import AuditLogEntry, AuthSession, Member, SecurityLogEntry
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.second_factors import code_now, give_totp, wrong_code

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/accounts/member/"
NEEDING_PROOF = ["set_premium", "make_administrator", "make_moderator"]


@pytest.fixture
def browser(administrator: Member) -> JSONClient:
    """Return a browser whose session is not fresh."""
    browser = logged_in_browser(administrator)
    AuthSession.objects.update(fresh_until=None)
    return browser


def act(browser: JSONClient, member: Member, name: str, **fields: str) -> Any:
    form = {"action": name, "_selected_action": str(member.pk), **fields}
    return browser.post(LIST, form)


def read_state(member: Member) -> tuple[str, str]:
    member.refresh_from_db()
    return member.role, member.plan


@pytest.mark.parametrize("name", NEEDING_PROOF)
def test_question_of_a_stale_session_has_a_field_for_the_password(
    browser: JSONClient, free_member: Member, name: str
) -> None:
    page = act(browser, free_member, name).content.decode()
    assert 'type="password"' in page
    assert 'name="proof"' in page


@pytest.mark.parametrize("name", NEEDING_PROOF)
@pytest.mark.parametrize("proof", [{}, {"proof": ""}, {"proof": "wrong"}])
def test_nothing_is_done_without_the_right_password(
    browser: JSONClient, free_member: Member, name: str, proof: dict[str, str]
) -> None:
    before = read_state(free_member)
    page = act(browser, free_member, name, confirmed="yes", **proof)
    assert page.status_code == 200
    assert 'name="proof"' in page.content.decode()
    assert ("errornote" in page.content.decode()) is bool(proof.get("proof"))
    assert read_state(free_member) == before
    assert not AuditLogEntry.objects.exists()


def test_password_does_the_deed_and_makes_the_session_fresh(
    browser: JSONClient, free_member: Member
) -> None:
    done = act(browser, free_member, "set_premium", confirmed="yes", proof=PASSWORD)
    assert done.status_code == 302
    assert read_state(free_member)[1] == "PREMIUM"
    page = act(browser, free_member, "make_moderator").content.decode()
    assert 'name="proof"' not in page
    act(browser, free_member, "make_moderator", confirmed="yes")
    assert read_state(free_member)[0] == "MODERATOR"


def test_wrong_passwords_count_as_failed_logins(
    browser: JSONClient, free_member: Member
) -> None:
    act(browser, free_member, "set_premium", confirmed="yes", proof="wrong")
    assert SecurityLogEntry.objects.filter(kind="LOGIN_FAILED").count() == 1


def test_staff_with_a_factor_give_a_code(
    administrator: Member, browser: JSONClient, free_member: Member
) -> None:
    give_totp(administrator)
    page = act(browser, free_member, "set_premium").content.decode()
    assert 'autocomplete="one-time-code"' in page
    for proof in (PASSWORD, wrong_code()):
        act(browser, free_member, "set_premium", confirmed="yes", proof=proof)
        assert read_state(free_member)[1] == "FREE"
    act(browser, free_member, "set_premium", confirmed="yes", proof=code_now())
    assert read_state(free_member)[1] == "PREMIUM"


def test_other_deeds_ask_for_no_proof(browser: JSONClient, free_member: Member) -> None:
    assert 'name="proof"' not in act(browser, free_member, "suspend").content.decode()
    act(browser, free_member, "suspend", confirmed="yes")
    free_member.refresh_from_db()
    assert free_member.status == "SUSPENDED"


def test_all_of_a_filter_take_one_proof(
    browser: JSONClient, free_member: Member, other_member: Member
) -> None:
    question = act(browser, free_member, "set_premium", select_across="1")
    found = question.context["found"]
    fields = {"confirmed": "yes", "select_across": "1", "found": found}
    act(browser, free_member, "set_premium", proof=PASSWORD, **fields)
    assert [read_state(each)[1] for each in (free_member, other_member)] == [
        "PREMIUM",
        "PREMIUM",
    ]
