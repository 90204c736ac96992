"""Concurrent second factors: each step and recovery code counts once (spec 2.16)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pyotp
import pytest
from django.db import transaction
from django.utils import timezone

from accounts.login import second_factor
from accounts.login.second_factor import CodeMatch
from accounts.models import AuthSession, Member, RecoveryCode, TotpFactor
from accounts.security import rate_limits
from accounts.security.rate_limits import RateLimitPolicy
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.second_factors import (
    code_now,
    complete_login,
    get_ticket,
    give_recovery_codes,
    give_totp,
)
from tests.support.stores import run_valkey

pytestmark = pytest.mark.django_db(transaction=True)

LOGINS = 64


@pytest.fixture
def member(db: None, monkeypatch: pytest.MonkeyPatch) -> Member:
    """Return a member with a second factor, whom no limit of attempts stops."""
    for name in ("WRONG_TOTP_CODES", "WRONG_RECOVERY_CODES"):
        window = getattr(second_factor, name).window
        limit = RateLimitPolicy(name, 10 * LOGINS, window)
        monkeypatch.setattr(second_factor, name, limit)
    limit = RateLimitPolicy("logins", 10 * LOGINS, timedelta(hours=1))
    monkeypatch.setattr(rate_limits, "LOGIN_PER_ACCOUNT", limit)
    member = make_member()
    give_totp(member)
    return member


def log_in_at_once(member: Member, code: str) -> list[Any]:
    """Return the answers to second steps, each with a ticket and address of its own."""
    tickets = [get_ticket(member) for _ in range(LOGINS)]
    return run_concurrently(
        [
            partial(complete_login, ticket, code, REMOTE_ADDR=f"203.0.113.{number}")
            for number, ticket in enumerate(tickets)
        ]
    )


@contextmanager
def spent_by_reading_and_saving() -> Iterator[None]:
    """Spend codes as libraries do: read the row, look at it, write it."""
    barrier = threading.Barrier(2)

    def spend(match: CodeMatch, now: datetime) -> bool:
        factor = TotpFactor.objects.get(member=match.member)
        is_new = factor.last_step < match.step
        barrier.wait(timeout=10)
        TotpFactor.objects.filter(pk=factor.pk).update(last_step=match.step)
        return is_new

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CodeMatch, "spend", spend)
        yield


def test_step_that_is_read_and_saved_counts_twice(member: Member) -> None:
    # The race: two requests read the same last step before either writes it.
    match = second_factor.match_code(member, code_now(), timezone.now())
    assert match is not None
    with spent_by_reading_and_saving():
        spent = run_concurrently([lambda: match.spend(timezone.now())] * 2)
    assert spent == [True, True]


def test_one_step_of_sixty_four_logins_makes_one_session(member: Member) -> None:
    answers = log_in_at_once(member, code_now())
    assert sorted_statuses(answers) == [200] + [400] * (LOGINS - 1)
    assert AuthSession.objects.count() == 1


def test_one_recovery_code_of_sixty_four_logins_makes_one_session(
    member: Member,
) -> None:
    answers = log_in_at_once(member, give_recovery_codes(member)[0])
    assert sorted_statuses(answers) == [200] + [400] * (LOGINS - 1)
    assert AuthSession.objects.count() == 1
    assert RecoveryCode.objects.filter(spent_at=None).count() == 9


@pytest.mark.parametrize("of_app", [True, False])
def test_valkey_that_is_killed_lets_no_second_login_in(
    member: Member, of_app: bool
) -> None:
    code = code_now() if of_app else give_recovery_codes(member)[0]
    with run_valkey() as valkey:
        killer = threading.Timer(0.2, valkey.kill)
        killer.start()
        answers = log_in_at_once(member, code)
        killer.join()
    assert sorted_statuses(answers) == [200] + [400] * (LOGINS - 1)
    assert AuthSession.objects.count() == 1


def test_one_ticket_of_many_logins_makes_one_session(member: Member) -> None:
    codes = give_recovery_codes(member)
    ticket = get_ticket(member)
    answers = run_concurrently(
        [partial(complete_login, ticket, code) for code in codes[:5]]
    )
    assert sorted_statuses(answers) == [200] + [400] * 4
    assert AuthSession.objects.count() == 1
    # The others were refused as a whole: their codes are not spent.
    assert RecoveryCode.objects.filter(spent_at=None).count() == 9


def test_two_confirmations_of_one_seed_make_one_set_of_codes(db: None) -> None:
    member = make_member()
    client, other = JSONClient(member), JSONClient(member)
    secret = client.send("POST", "/api/auth/factors/totp").data["secret"]
    code = pyotp.TOTP(secret).now()
    answers = run_concurrently(
        [
            partial(
                sender.send, "POST", "/api/auth/factors/totp/confirm", {"code": code}
            )
            for sender in (client, other)
        ]
    )
    assert sorted_statuses(answers) == [200, 403]
    assert RecoveryCode.objects.count() == 10


def test_removal_during_a_login_leaves_no_half_of_it(member: Member) -> None:
    # Either the login was first, or its ticket has gone with the factor.
    for _ in range(5):
        client, ticket, code = JSONClient(member), get_ticket(member), code_now()
        login, removal = run_concurrently(
            [
                partial(complete_login, ticket, code),
                partial(client.send, "DELETE", "/api/auth/factors/totp"),
            ]
        )
        assert removal.status_code == 204
        assert login.status_code in {200, 400}
        with transaction.atomic():
            give_totp(member)
