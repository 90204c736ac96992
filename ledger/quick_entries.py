"""Quick entries: templates of frequent entries."""

from typing import Any

from django.db import transaction

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.db.transactions import retry_on_conflict
from ledger.locking import lock_ledger
from ledger.models import QuickEntry, QuickEntryLine, QuickEntryTag
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404
from ledger.quotas import require_room
from ledger.tags import get_or_create_tags
from ledger.templates import (
    assign_shape,
    replace_lines,
    with_lines_and_tags,
)
from ledger.wallets import raise_on_missing_wallet

_OWNER = "quick_entry_id"


def with_category_and_tags(rows: OwnedQuerySet, member: Member) -> OwnedQuerySet:
    """Return the templates with what their JSON needs."""
    return with_lines_and_tags(rows, member, _OWNER, QuickEntryLine, QuickEntryTag)


def get_quick_entry(member: Member, quick_entry_id: int) -> QuickEntry:
    rows = with_category_and_tags(QuickEntry.objects.all(), member)
    quick: QuickEntry = get_owned_or_404(rows, member, quick_entry_id)
    return quick


@retry_on_conflict
def create_quick_entry(member: Member, values: dict[str, Any]) -> QuickEntry:
    """Create a template at the end of the list."""
    with transaction.atomic():
        lock_ledger(member)
        require_room(member, QuickEntry)
        quick = QuickEntry(
            member=member,
            sort_order=next_position(QuickEntry.objects.owned_by(member)),
        )
        _save(quick, values)
    return get_quick_entry(member, quick.pk)


@retry_on_conflict
def update_quick_entry(
    member: Member, quick_entry_id: int, values: dict[str, Any]
) -> QuickEntry:
    with transaction.atomic():
        lock_ledger(member)
        quick = get_owned_or_404(
            QuickEntry.objects.select_related("category", "wallet", "to_wallet"),
            member,
            quick_entry_id,
        )
        _save(quick, values)
    return get_quick_entry(member, quick_entry_id)


@retry_on_conflict
def delete_quick_entry(member: Member, quick_entry_id: int) -> None:
    with transaction.atomic():
        lock_ledger(member)
        get_owned_or_404(QuickEntry.objects.all(), member, quick_entry_id).delete()


@retry_on_conflict
def reorder_quick_entries(member: Member, ids: list[int]) -> None:
    """Give the member's templates the order of `ids`, which must name all of them."""
    with transaction.atomic():
        lock_ledger(member)
        reorder(QuickEntry.objects.owned_by(member), ids)


def _save(quick: QuickEntry, values: dict[str, Any]) -> None:
    """Assign the values and save the template with its category and tags."""
    values = dict(values)
    tags = values.pop("tags", None)
    lines = assign_shape(quick, values, QuickEntryLine, _OWNER)
    for field, value in values.items():
        setattr(quick, field, value)
    with (
        raise_on_missing_wallet("account_quick_entry_wallet_owned"),
        raise_on_missing_wallet("account_quick_entry_to_wallet_owned", "toWalletId"),
    ):
        quick.save()
    replace_lines(quick, lines, QuickEntryLine, _OWNER)
    if tags is not None:
        links = QuickEntryTag.objects.filter(
            member_id=quick.member_id, quick_entry_id=quick.pk
        )
        links.delete()
        QuickEntryTag.objects.bulk_create(
            QuickEntryTag(
                quick_entry=quick, tag=tag, member_id=quick.member_id, position=position
            )
            for position, tag in enumerate(get_or_create_tags(quick.member, tags))
        )
