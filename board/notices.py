"""Notices: posts that administrators put before all others but the hot ones."""

from django.db import transaction

from accounts.models import Member
from board.locking import lock_member_key_share, lock_post
from board.moderation import mark_notices


def set_notice(actor: Member, post_id: int, *, notice: bool) -> None:
    """Turn the flag on or off; twice is as once (spec 5.5)."""
    with transaction.atomic():
        lock_member_key_share(actor)
        lock_post(post_id)
        mark_notices(actor, [post_id], notice=notice)
