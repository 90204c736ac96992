"""Limits on attempts: a sliding window in one row, exact whatever happens."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import RateLimit
from accounts.rate_limits import (
    LOGIN_BY_ACCOUNT,
    LOGIN_BY_ADDRESS,
    SIGN_UP,
    Limit,
    count_failures,
    give_back,
    purge_limits,
    take,
)
from core.errors import RateLimited

pytestmark = pytest.mark.django_db

THREE_A_MINUTE = Limit("test", 3, timedelta(minutes=1))


def make_older(by: timedelta, *, attempts: slice = slice(None)) -> None:
    """As if these attempts had been made earlier."""
    limit = RateLimit.objects.get()
    limit.attempts[attempts] = [at - by for at in limit.attempts[attempts]]
    limit.save()


def is_admitted(subject: str = "somebody") -> bool:
    try:
        take(THREE_A_MINUTE, subject)
    except RateLimited:
        return False
    return True


def test_limits_are_those_of_the_contract() -> None:
    assert (SIGN_UP.attempts, SIGN_UP.window) == (5, timedelta(hours=1))
    quarter = timedelta(minutes=15)
    assert (LOGIN_BY_ACCOUNT.attempts, LOGIN_BY_ACCOUNT.window) == (10, quarter)
    assert (LOGIN_BY_ADDRESS.attempts, LOGIN_BY_ADDRESS.window) == (100, quarter)


def test_attempts_up_to_the_limit_pass() -> None:
    assert [is_admitted() for _ in range(5)] == [True, True, True, False, False]


def test_subjects_and_limits_are_counted_apart() -> None:
    other = Limit("other", 1, timedelta(minutes=1))
    assert [is_admitted() for _ in range(4)][-1] is False
    assert is_admitted("somebody else")
    assert take(other, "somebody")


def test_refusal_says_when_the_oldest_attempt_will_have_passed() -> None:
    for _ in range(3):
        take(THREE_A_MINUTE, "somebody")
    make_older(timedelta(seconds=40), attempts=slice(1))
    with pytest.raises(RateLimited) as refusal:
        take(THREE_A_MINUTE, "somebody")
    assert refusal.value.headers["Retry-After"] in {"19", "20"}


def test_window_slides_instead_of_starting_anew() -> None:
    for _ in range(3):
        take(THREE_A_MINUTE, "somebody")
    make_older(timedelta(minutes=1), attempts=slice(2))
    assert [is_admitted() for _ in range(3)] == [True, True, False]


def test_attempts_that_have_passed_are_not_kept() -> None:
    for _ in range(10):
        take(THREE_A_MINUTE, "somebody")
        make_older(timedelta(minutes=1))
    assert len(RateLimit.objects.get().attempts) == 1


def test_refused_attempts_are_not_kept_either() -> None:
    assert [is_admitted() for _ in range(20)].count(True) == 3
    assert len(RateLimit.objects.get().attempts) == 3


def test_attempt_can_be_given_back_once() -> None:
    taken = [take(THREE_A_MINUTE, "somebody") for _ in range(3)]
    give_back(taken[1])
    give_back(taken[1])
    assert [is_admitted() for _ in range(2)] == [True, False]


def test_only_what_ends_in_a_refusal_counts_as_a_failure() -> None:
    for _ in range(12):
        with count_failures("minji", "192.0.2.1"):
            pass
    for _ in range(10):
        with pytest.raises(ValueError, match="wrong"), count_failures("minji", "x"):
            raise ValueError("wrong")
    with pytest.raises(RateLimited), count_failures("MINJI", "x"):
        pytest.fail("not reached")


def test_very_long_subject_is_no_fault() -> None:
    assert is_admitted("x" * 10_000)
    assert len(RateLimit.objects.get().key) == 200


def test_purge_deletes_only_windows_that_have_passed() -> None:
    take(THREE_A_MINUTE, "past")
    take(SIGN_UP, "present")
    later = timezone.now() + timedelta(minutes=2)
    assert purge_limits(later) == 1
    assert RateLimit.objects.get().key == "sign-up:present"
    assert purge_limits(later) == 0
