"""Blocking of members (spec 5.9)."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.models import Block, Member
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, LimitReachedError, NotFoundError

MAX_BLOCKS = 1_000
FIELD = "memberId"


@retry_on_conflict
def block_member(member: Member, blocked_id: int) -> None:
    """Block another member; do nothing if it is so already.

    Raises `NotFoundError` for an unknown member, `InvalidFieldError` for oneself and
    for staff, and `LimitReachedError`.
    """
    if blocked_id == member.pk:
        raise InvalidFieldError(FIELD, gettext("Must be another member."))
    blocked = Member.objects.only("id", "role").filter(pk=blocked_id).first()
    if blocked is None:
        raise NotFoundError
    if blocked.is_moderator:
        text = gettext("Administrators and moderators cannot be blocked.")
        raise InvalidFieldError(FIELD, text)
    try:
        with transaction.atomic():
            _lock_blocks(member)
            _add_block(member, blocked_id)
    except IntegrityError:
        # The other account has been deleted meanwhile.
        raise NotFoundError from None


def _lock_blocks(member: Member) -> None:
    """Let blocks of one member follow each other: their number stays as counted."""
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)


def _add_block(member: Member, blocked_id: int) -> None:
    blocks = list_blocks(member)
    if blocks.filter(blocked=blocked_id).exists():
        return
    if blocks.count() >= MAX_BLOCKS:
        detail = gettext("At most {limit} members can be blocked.")
        raise LimitReachedError(detail.format(limit=MAX_BLOCKS))
    Block.objects.create(member=member, blocked_id=blocked_id)


def unblock_member(member: Member, blocked_id: int) -> None:
    """End a block; do nothing if there is none."""
    list_blocks(member).filter(blocked=blocked_id).delete()


def list_blocks(member: Member) -> QuerySet[Block]:
    return Block.objects.filter(member=member)
