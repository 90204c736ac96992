"""Quick entries: templates of frequent entries (spec 3.9)."""

from typing import Any

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.errors import raise_on_constraint_violation
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room
from ledger.entries.rows import OF_QUICK_ENTRIES
from ledger.entries.templates import assign_values, with_lines_and_tags
from ledger.errors import MissingWalletError
from ledger.models import QuickEntry
from ledger.models.base import OwnedQuerySet
from ledger.tags.tags import get_or_create_tags


def with_category_and_tags(rows: OwnedQuerySet, member: Member) -> OwnedQuerySet:
    return with_lines_and_tags(rows, member, OF_QUICK_ENTRIES)


def get_quick_entry(member: Member, quick_entry_id: int) -> QuickEntry:
    rows = with_category_and_tags(QuickEntry.objects.all(), member)
    quick: QuickEntry = get_owned_or_404(rows, member, quick_entry_id)
    return quick


@ledger_write
def create_quick_entry(ledger: LockedLedger, values: dict[str, Any]) -> QuickEntry:
    require_room(ledger, QuickEntry)
    position = next_position(QuickEntry.objects.owned_by(ledger.member))
    quick = QuickEntry(member=ledger.member, sort_order=position)
    _save(ledger, quick, values)
    return get_quick_entry(ledger.member, quick.pk)


@ledger_write
def update_quick_entry(
    ledger: LockedLedger, quick_entry_id: int, values: dict[str, Any]
) -> QuickEntry:
    rows = QuickEntry.objects.select_related("category")
    quick = get_owned_or_404(rows, ledger.member, quick_entry_id)
    _save(ledger, quick, values)
    return get_quick_entry(ledger.member, quick_entry_id)


@ledger_write
def delete_quick_entry(ledger: LockedLedger, quick_entry_id: int) -> None:
    rows = QuickEntry.objects.all()
    get_owned_or_404(rows, ledger.member, quick_entry_id).delete()


@ledger_write
def reorder_quick_entries(ledger: LockedLedger, ids: list[int]) -> None:
    reorder(QuickEntry.objects.owned_by(ledger.member), ids)


def _save(ledger: LockedLedger, quick: QuickEntry, values: dict[str, Any]) -> None:
    lines = assign_values(ledger, quick, values, OF_QUICK_ENTRIES)
    with (
        raise_on_constraint_violation(
            "account_quick_entry_wallet_owned", MissingWalletError()
        ),
        raise_on_constraint_violation(
            "account_quick_entry_to_wallet_owned", MissingWalletError("toWalletId")
        ),
    ):
        quick.save()
    if lines is not None:
        OF_QUICK_ENTRIES.replace_lines(quick, lines)
    if "tags" in values:
        tags = get_or_create_tags(ledger, values["tags"])
        OF_QUICK_ENTRIES.replace_tags(quick, tags)
