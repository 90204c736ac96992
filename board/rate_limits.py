"""Limits of writes in an hour (spec 10.2)."""

from datetime import timedelta
from typing import Literal

from django.conf import settings

from accounts.models import Member
from accounts.security.rate_limits import RateLimitPolicy


def count_write(member: Member, kind: Literal["posts", "comments", "votes"]) -> None:
    """Count a write, or raise `RateLimitedError`.

    Call it in the transaction of the write, after the locks of posts and comments: a
    refused write does not count, and no writer waits for a post behind this counter.
    """
    max_writes: int = settings.BOARD_LIMITS_PER_HOUR[kind]
    policy = RateLimitPolicy(f"board-{kind}", max_writes, timedelta(hours=1))
    policy.consume(str(member.pk))
