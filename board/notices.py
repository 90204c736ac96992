"""Notices: posts that administrators pin to the top of the list (spec 5.5)."""

from django.db import transaction

from accounts.models import Member
from board.locking import lock_member_key_share, lock_post
from board.moderation import mark_notices
from core.db.transactions import retry_on_conflict


@retry_on_conflict
def set_notice(actor: Member, post_id: int, *, notice: bool) -> None:
    """Make a visible post a notice, or a regular post again.

    Idempotent. Raises `NotFoundError`.
    """
    with transaction.atomic():
        lock_member_key_share(actor)
        lock_post(post_id)
        mark_notices(actor, [post_id], notice=notice)
