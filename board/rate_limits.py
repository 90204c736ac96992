"""Limits of what a member writes on the board in an hour (spec 10.2)."""

from datetime import timedelta
from typing import Literal

from django.conf import settings

from accounts.models import Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt


def count_write(member: Member, kind: Literal["posts", "comments", "votes"]) -> None:
    """Count a write of the member; raise `RateLimitedError` if there are too many.

    Call in the transaction of the write, after the locks of posts and comments: a write
    that is refused does not count, and none waits for a post while others wait for it.
    """
    max_writes: int = settings.BOARD_LIMITS_PER_HOUR[kind]
    policy = RateLimitPolicy(f"board-{kind}", max_writes, timedelta(hours=1))
    consume_attempt(policy, str(member.pk))
