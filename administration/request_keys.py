"""Deletion of old keys of requests, of all members."""

from datetime import datetime
from typing import Any

from accounts.models import Member
from board.models import PostKey
from core.api.keyed_answers import KEY_LIFETIME
from ledger.models import RequestKey

TABLES: tuple[Any, ...] = (RequestKey, PostKey)
# An owner has at most 10,000 keys.
MEMBERS_PER_STATEMENT = 100


def find_last_member() -> int:
    ids = Member.objects.order_by("-pk").values_list("pk", flat=True)
    return ids.first() or 0


def purge_keys(now: datetime, first_member: int, last_member: int) -> int:
    """Delete the old keys of a range of members; return their number."""
    deleted = 0
    for first in range(first_member, last_member + 1, MEMBERS_PER_STATEMENT):
        last = min(first + MEMBERS_PER_STATEMENT - 1, last_member)
        for table in TABLES:
            old = table.objects.filter(
                member_id__gte=first,
                member_id__lte=last,
                created_at__lt=now - KEY_LIFETIME,
            )
            deleted += old.delete()[0]
    return deleted
