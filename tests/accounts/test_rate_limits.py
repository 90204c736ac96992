"""Rate limits: a sliding window in one row."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import RateLimit
from accounts.rate_limits import (
    LOGIN_PER_ACCOUNT_AND_IP,
    LOGIN_PER_IP,
    SIGNUP_PER_IP,
    RateLimitPolicy,
    consume_attempt,
    count_login_failures,
    purge_rate_limits,
    refund_attempt,
)
from core.errors import RateLimitedError

pytestmark = pytest.mark.django_db

THREE_A_MINUTE = RateLimitPolicy("test", 3, timedelta(minutes=1))


def make_older(by: timedelta, *, attempts: slice = slice(None)) -> None:
    """Let these attempts be older."""
    limit = RateLimit.objects.get()
    limit.attempts[attempts] = [at - by for at in limit.attempts[attempts]]
    limit.save()


def is_admitted(subject: str = "somebody") -> bool:
    try:
        consume_attempt(THREE_A_MINUTE, subject)
    except RateLimitedError:
        return False
    return True


def test_limits_are_those_of_the_contract() -> None:
    assert (SIGNUP_PER_IP.max_attempts, SIGNUP_PER_IP.window) == (5, timedelta(hours=1))
    quarter = timedelta(minutes=15)
    assert (LOGIN_PER_ACCOUNT_AND_IP.max_attempts, LOGIN_PER_ACCOUNT_AND_IP.window) == (
        10,
        quarter,
    )
    assert (LOGIN_PER_IP.max_attempts, LOGIN_PER_IP.window) == (100, quarter)


def test_attempts_up_to_the_limit_pass() -> None:
    assert [is_admitted() for _ in range(5)] == [True, True, True, False, False]


def test_subjects_and_limits_are_counted_apart() -> None:
    other = RateLimitPolicy("other", 1, timedelta(minutes=1))
    assert [is_admitted() for _ in range(4)][-1] is False
    assert is_admitted("somebody else")
    assert consume_attempt(other, "somebody")


def test_refusal_says_when_the_oldest_attempt_will_have_passed() -> None:
    for _ in range(3):
        consume_attempt(THREE_A_MINUTE, "somebody")
    make_older(timedelta(seconds=40), attempts=slice(1))
    with pytest.raises(RateLimitedError) as refusal:
        consume_attempt(THREE_A_MINUTE, "somebody")
    assert refusal.value.headers["Retry-After"] in {"19", "20"}


def test_window_slides_instead_of_restarting() -> None:
    for _ in range(3):
        consume_attempt(THREE_A_MINUTE, "somebody")
    make_older(timedelta(minutes=1), attempts=slice(2))
    assert [is_admitted() for _ in range(3)] == [True, True, False]


def test_attempts_that_have_passed_are_not_kept() -> None:
    for _ in range(10):
        consume_attempt(THREE_A_MINUTE, "somebody")
        make_older(timedelta(minutes=1))
    assert len(RateLimit.objects.get().attempts) == 1


def test_refused_attempts_are_not_kept_either() -> None:
    assert [is_admitted() for _ in range(20)].count(True) == 3
    assert len(RateLimit.objects.get().attempts) == 3


def test_attempt_can_be_given_back_once() -> None:
    taken = [consume_attempt(THREE_A_MINUTE, "somebody") for _ in range(3)]
    refund_attempt(taken[1])
    refund_attempt(taken[1])
    assert [is_admitted() for _ in range(2)] == [True, False]


def test_only_what_ends_in_a_refusal_counts_as_a_failure() -> None:
    for _ in range(12):
        with count_login_failures("minji", "192.0.2.1"):
            pass
    for _ in range(10):
        with (
            pytest.raises(ValueError, match="wrong"),
            count_login_failures("minji", "x"),
        ):
            raise ValueError("wrong")
    with pytest.raises(RateLimitedError), count_login_failures("MINJI", "x"):
        pytest.fail("not reached")


def test_very_long_subject_is_no_fault() -> None:
    assert is_admitted("x" * 10_000)
    assert len(RateLimit.objects.get().key) == 200


def test_purge_deletes_more_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.rate_limits.PURGE_BATCH", 2)
    for number in range(5):
        consume_attempt(THREE_A_MINUTE, str(number))
    assert purge_rate_limits(timezone.now() + timedelta(minutes=2)) == 5
    assert not RateLimit.objects.exists()


def test_purge_deletes_only_windows_that_have_passed() -> None:
    consume_attempt(THREE_A_MINUTE, "past")
    consume_attempt(SIGNUP_PER_IP, "present")
    later = timezone.now() + timedelta(minutes=2)
    assert purge_rate_limits(later) == 1
    assert RateLimit.objects.get().key == "sign-up:present"
    assert purge_rate_limits(later) == 0
