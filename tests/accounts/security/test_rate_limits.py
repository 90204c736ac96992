"""Rate limits: a sliding window in one row."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import RateLimit
from accounts.security.rate_limits import (
    LOGIN_PER_ACCOUNT_AND_IP,
    LOGIN_PER_IP,
    SIGNUP_PER_IP,
    RateLimitPolicy,
    count_login_failures,
    purge_rate_limits,
)
from core.errors import RateLimitedError

THREE_A_MINUTE = RateLimitPolicy("test", 3, timedelta(minutes=1))


def make_older(by: timedelta, *, attempts: slice = slice(None)) -> None:
    """Let these attempts be older."""
    limit = RateLimit.objects.get()
    limit.attempts[attempts] = [at - by for at in limit.attempts[attempts]]
    limit.save()


def is_admitted(subject: str = "somebody") -> bool:
    try:
        THREE_A_MINUTE.consume(subject)
    except RateLimitedError:
        return False
    return True


def test_limits_are_those_of_the_contract() -> None:
    assert (SIGNUP_PER_IP.max_attempts, SIGNUP_PER_IP.window) == (5, timedelta(hours=1))
    quarter = timedelta(minutes=15)
    for policy, attempts in ((LOGIN_PER_ACCOUNT_AND_IP, 10), (LOGIN_PER_IP, 50)):
        assert (policy.max_attempts, policy.window) == (attempts, quarter)


def test_attempts_up_to_the_limit_pass() -> None:
    assert [is_admitted() for _ in range(5)] == [True, True, True, False, False]


def test_subjects_and_limits_are_counted_apart() -> None:
    other = RateLimitPolicy("other", 1, timedelta(minutes=1))
    assert [is_admitted() for _ in range(4)][-1] is False
    assert is_admitted("somebody else")
    assert other.consume("somebody")


def test_refusal_says_when_the_oldest_attempt_will_have_passed() -> None:
    for _ in range(3):
        THREE_A_MINUTE.consume("somebody")
    make_older(timedelta(seconds=40), attempts=slice(1))
    with pytest.raises(RateLimitedError) as refusal:
        THREE_A_MINUTE.consume("somebody")
    assert refusal.value.headers["Retry-After"] in {"19", "20"}


def test_window_slides_instead_of_restarting() -> None:
    for _ in range(3):
        THREE_A_MINUTE.consume("somebody")
    make_older(timedelta(minutes=1), attempts=slice(2))
    assert [is_admitted() for _ in range(3)] == [True, True, False]


def test_attempts_that_have_passed_are_not_kept() -> None:
    for _ in range(10):
        THREE_A_MINUTE.consume("somebody")
        make_older(timedelta(minutes=1))
    assert len(RateLimit.objects.get().attempts) == 1


def test_refused_attempts_are_not_kept_either() -> None:
    assert [is_admitted() for _ in range(20)].count(True) == 3
    assert len(RateLimit.objects.get().attempts) == 3


def test_attempt_can_be_given_back_once() -> None:
    taken = [THREE_A_MINUTE.consume("somebody") for _ in range(3)]
    taken[1].refund()
    taken[1].refund()
    assert [is_admitted() for _ in range(2)] == [True, False]


def test_only_what_ends_in_a_refusal_counts_as_a_failure() -> None:
    for _ in range(12):
        with count_login_failures("minji", "192.0.2.1", None):
            pass
    for _ in range(10):
        with (
            pytest.raises(ValueError, match="wrong"),
            count_login_failures("minji", "x", None),
        ):
            raise ValueError("wrong")
    with pytest.raises(RateLimitedError), count_login_failures("MINJI", "x", None):
        pytest.fail("not reached")


def test_very_long_subject_is_no_fault() -> None:
    assert is_admitted("x" * 10_000)
    assert len(RateLimit.objects.get().key) == 200


def test_purge_deletes_more_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.models.purging.BATCH_SIZE", 2)
    for number in range(5):
        THREE_A_MINUTE.consume(str(number))
    assert purge_rate_limits(timezone.now() + timedelta(minutes=2)) == 5
    assert not RateLimit.objects.exists()


def test_purge_deletes_only_windows_that_have_passed() -> None:
    THREE_A_MINUTE.consume("past")
    SIGNUP_PER_IP.consume("present")
    later = timezone.now() + timedelta(minutes=2)
    assert purge_rate_limits(later) == 1
    assert RateLimit.objects.get().key == "sign-up:present"
    assert purge_rate_limits(later) == 0
