"""Identities that are linked and removed at once with something else (spec 2.4, 2.18)."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.login.identities import link_from_within, remove_identity
from accounts.login.identity_login import login_with_identity
from accounts.login.identity_provider import Identity
from accounts.login.login import complete_login, log_in
from accounts.login.tickets import SecondFactorRequired
from accounts.models import AuthSession, LinkedIdentity, Member
from accounts.sessions.store import create_session, hash_session_key
from core.errors import DomainError
from tests.support.factories import make_member
from tests.support.id_tokens import EMAIL
from tests.support.mail import ask_reset, confirm_reset, process_resets
from tests.support.races import call_before, run_concurrently
from tests.support.second_factors import code_now, give_totp

pytestmark = pytest.mark.django_db(transaction=True)

IDENTITY = Identity("subject-1", EMAIL, email_verified=True, name="Minji", picture="")
LOGINS = 64


def attempt(call: Any, *arguments: Any) -> str:
    """Return what became of the call: the code of its error, or nothing."""
    try:
        call(*arguments)
    except DomainError as error:
        return error.code
    return ""


def make_key(member: Member) -> str:
    return hash_session_key(create_session(member, has_shown_factor=True)[0])


def make_tickets(member: Member, count: int) -> list[str]:
    found = login_with_identity(IDENTITY)
    assert found.member == member
    results = [log_in(found.member, identity=IDENTITY) for _ in range(count)]
    return [each.ticket for each in results if isinstance(each, SecondFactorRequired)]


def test_first_logins_of_one_identity_make_one_account() -> None:
    logins = run_concurrently([partial(login_with_identity, IDENTITY)] * 8)
    assert len({login.member.pk for login in logins}) == 1
    assert Member.objects.count() == LinkedIdentity.objects.count() == 1


def test_one_code_links_one_identity_once() -> None:
    member = make_member(email=EMAIL, verified_email=EMAIL)
    give_totp(member)
    tickets, code = make_tickets(member, LOGINS), code_now()
    results = run_concurrently(
        [
            partial(attempt, complete_login, ticket, code, f"198.51.100.{n}", now)
            for n, ticket in enumerate(tickets)
            for now in [timezone.now()]
        ]
    )
    assert results.count("") == 1
    assert AuthSession.objects.count() == LinkedIdentity.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [{"email": "new@example.com"}, {"role": "ADMIN"}, {"status": "SUSPENDED"}],
    ids=str,
)
def test_change_of_the_member_while_linking(change: dict[str, str]) -> None:
    member = make_member(email=EMAIL, verified_email=EMAIL)
    give_totp(member)
    (ticket,) = make_tickets(member, 1)
    update = partial(Member.objects.filter(pk=member.pk).update, **change)
    with call_before("FOR NO KEY UPDATE", update):
        result = attempt(
            complete_login, ticket, code_now(), "198.51.100.1", timezone.now()
        )
    assert result in {"LINKING_REFUSED", "CODE_INVALID"}
    assert not LinkedIdentity.objects.exists()


def test_two_removals_of_the_last_identity() -> None:
    member = make_member()
    now, keys = timezone.now(), [make_key(member) for _ in range(2)]
    link_from_within(member, IDENTITY, keys[0], now)
    results = run_concurrently(
        [partial(attempt, remove_identity, member, "google", key, now) for key in keys]
    )
    assert sorted(results) == ["", "NOT_FOUND"]


def test_two_members_link_one_identity() -> None:
    members = [make_member() for _ in range(8)]
    now = timezone.now()
    results = run_concurrently(
        [
            partial(attempt, link_from_within, each, IDENTITY, make_key(each), now)
            for each in members
        ]
    )
    assert sorted(results) == ["", *["DUPLICATE"] * 7]
    assert Member.objects.exclude(idp_id=None).count() == 1
    assert LinkedIdentity.objects.count() == 1


def test_deletion_while_linking_leaves_nothing() -> None:
    member = make_member()
    key = make_key(member)
    with call_before("FOR NO KEY UPDATE", partial(delete_account, member)):
        result = attempt(link_from_within, member, IDENTITY, key, timezone.now())
    assert result == "AUTHENTICATION_REQUIRED"
    assert not LinkedIdentity.objects.exists()
    assert login_with_identity(IDENTITY).created


def test_one_ticket_is_redeemed_once() -> None:
    member = make_member(email=EMAIL, verified_email=EMAIL)
    give_totp(member)
    (ticket,), code = make_tickets(member, 1), code_now()
    results = run_concurrently(
        [
            partial(attempt, complete_login, ticket, code, f"198.51.100.{n}", now)
            for n in range(LOGINS)
            for now in [timezone.now()]
        ]
    )
    assert results.count("") == 1
    assert AuthSession.objects.count() == LinkedIdentity.objects.count() == 1


@pytest.mark.usefixtures("mail_folder")
def test_reset_while_linking_leaves_no_identity() -> None:
    # Either the reset removes it, or its session has ended before it could be linked.
    for number in range(5):
        member = make_member(email=f"owner{number}@example.com")
        key, now = make_key(member), timezone.now()
        ask_reset(loginId=member.login_id)
        mail = process_resets()[-1]
        identity = replace(IDENTITY, subject=f"subject-{number}")
        _, reset = run_concurrently(
            [
                partial(attempt, link_from_within, member, identity, key, now),
                partial(confirm_reset, mail),
            ]
        )
        assert reset.status_code == 204
        assert not LinkedIdentity.objects.filter(member=member).exists()
        member.refresh_from_db()
        assert member.idp_id is None


def test_login_with_an_identity_that_is_being_removed() -> None:
    # The session of the login ends with the identity, or there is none.
    member = make_member()
    key, now = make_key(member), timezone.now()
    for _ in range(5):
        link_from_within(member, IDENTITY, key, now)

        def log_in_by_identity() -> None:
            found = login_with_identity(IDENTITY)
            if found.member == member:
                attempt(partial(log_in, found.member, identity=IDENTITY))

        run_concurrently(
            [log_in_by_identity, partial(remove_identity, member, "google", key, now)]
        )
        left = AuthSession.objects.filter(member=member, identity_provider="google")
        linked = LinkedIdentity.objects.filter(member=member)
        assert not (left.exists() and not linked.exists())
        Member.objects.exclude(pk=member.pk).delete()
