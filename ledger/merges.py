"""Merge an expense and an income into one transfer, and take them apart again."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from core.errors import InUseError, NotFoundError
from ledger.errors import NotMergeableError
from ledger.locking import lock_ledger
from ledger.models import (
    Entry,
    EntryTag,
    MergedEntry,
    Notification,
    Tag,
    Wallet,
)
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.moves import raise_if_moving
from ledger.ownership import get_owned_or_404

# Columns that a merge changes, and that both entries get back.
_COLUMNS = (
    *("date", "memo", "time", "source", "created_at", "excluded", "pending"),
    *("category_id", "is_reversal", "installment_months"),
)


@retry_on_conflict
def merge_entries(member: Member, entry_id: int, other_id: int, now: datetime) -> int:
    """Make one transfer of an expense and an income; return the expense's id.

    Tags and memos are united, and the keys of notifications of both are kept. Raises
    `NotMergeableError` unless both are flat, of two wallets and equal amounts.
    """
    with transaction.atomic():
        lock_ledger(member)
        rows = Entry.objects.select_related("wallet", "category")
        first: Entry = get_owned_or_404(rows, member, entry_id)
        second = rows.owned_by(member).filter(pk=other_id).first()
        if second is None:
            raise NotMergeableError(gettext("Entry not found."))
        expense, income = _order(first, second)
        raise_if_moving(
            expense.wallet, income.wallet, expense.category, income.category
        )
        notifications = Notification.objects.owned_by(member).filter(entry_id=income.pk)
        merged = [_keep(entry, expense) for entry in (expense, income)]
        merged[1].notification_ids = list(notifications.values_list("pk", flat=True))
        # Of a transfer that a move of a wallet made an expense or income since.
        former = MergedEntry.objects.owned_by(member)
        former.filter(entry__in=[expense.pk, income.pk]).delete()
        notifications.update(entry_id=expense.pk)
        EntryTag.objects.filter(member_id=member.pk, entry_id=income.pk).delete()
        income.delete()
        memos = dict.fromkeys(memo for memo in (expense.memo, income.memo) if memo)
        Entry.objects.filter(member_id=member.pk, pk=expense.pk).update(
            type=EntryType.TRANSFER,
            to_wallet=income.wallet_id,
            category=None,
            is_reversal=False,
            installment_months=None,
            memo=", ".join(memos)[:MAX_MEMO_LENGTH],
            pending=expense.pending and income.pending,
            excluded=expense.excluded and income.excluded,
            updated_at=now,
        )
        united = dict.fromkeys(tag_id for each in merged for tag_id in each.tag_ids)
        _replace_tags(expense, list(united))
        MergedEntry.objects.bulk_create(merged)
    return int(expense.pk)


@retry_on_conflict
def unmerge_entry(member: Member, entry_id: int, now: datetime) -> list[int]:
    """Make the two entries of a transfer again; return their ids, the expense first.

    Amount and wallets are those of the transfer, all else is as it was. Raises
    `NotFoundError` for one that was not merged, and `InUseError` if it is no flat
    transfer any more.
    """
    with transaction.atomic():
        lock_ledger(member)
        rows = Entry.objects.select_related("wallet", "to_wallet")
        entry: Entry = get_owned_or_404(rows, member, entry_id)
        of_entry = MergedEntry.objects.owned_by(member).filter(entry=entry.pk)
        merged = {row.type: row for row in of_entry.select_related("category")}
        if not merged:
            raise NotFoundError(gettext("The entry was not merged."))
        if entry.type != EntryType.TRANSFER or entry.to_wallet_id is None:
            raise InUseError(gettext("The entry is no transfer of two wallets."))
        former_expense = merged[EntryType.EXPENSE]
        former_income = merged[EntryType.INCOME]
        raise_if_moving(
            *(entry.wallet, entry.to_wallet),
            *(former_expense.category, former_income.category),
        )
        target_id = entry.to_wallet_id
        stored = Entry.objects.filter(member_id=member.pk, pk=entry.pk)
        stored.update(
            type=EntryType.EXPENSE,
            to_wallet=None,
            updated_at=now,
            **_columns_of(former_expense, entry.wallet),
        )
        _replace_tags(entry, former_expense.tag_ids)
        income = Entry(
            member=member,
            id=former_income.former_id,
            type=EntryType.INCOME,
            amount=entry.amount,
            wallet_id=target_id,
            line_count=0,
            updated_at=now,
            **_columns_of(former_income, entry.to_wallet),
        )
        income.save(force_insert=True)
        _replace_tags(income, former_income.tag_ids)
        notifications = Notification.objects.owned_by(member)
        ids = former_income.notification_ids
        notifications.filter(pk__in=ids).update(entry_id=income.pk)
        of_entry.delete()
    return [int(entry.pk), int(income.pk)]


def raise_if_merged(entry: Entry, type_: str) -> None:
    """Raise `InUseError` if a merged transfer would be none any more.

    What it was made of could not be had again.
    """
    if entry.type != EntryType.TRANSFER or type_ == entry.type:
        return
    if MergedEntry.objects.filter(member_id=entry.member_id, entry=entry.pk).exists():
        raise InUseError(gettext("The transfer was merged. Take it apart first."))


def _order(first: Entry, second: Entry) -> tuple[Entry, Entry]:
    """Return the expense and the income; raise `NotMergeableError`."""
    expense, income = first, second
    if first.type == EntryType.INCOME:
        expense, income = second, first
    fits = (
        (expense.type, income.type) == (EntryType.EXPENSE, EntryType.INCOME)
        and expense.amount == income.amount > 0
        and expense.wallet_id is not None
        and income.wallet_id is not None
        and expense.wallet_id != income.wallet_id
    )
    if not fits:
        raise NotMergeableError(
            gettext(
                "Must be an expense and an income of two wallets with equal amounts."
            )
        )
    refunds = Entry.objects.filter(member_id=expense.member_id, refund_of=expense.pk)
    is_plain = all(
        entry.line_count == 0 and entry.currency is None and entry.refund_of_id is None
        for entry in (expense, income)
    )
    if not is_plain or refunds.exists():
        raise NotMergeableError(
            gettext("Split, foreign and refunded entries cannot be merged.")
        )
    return expense, income


def _list_tag_ids(entry: Entry) -> list[int]:
    links = EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk)
    return list(links.order_by("position").values_list("tag_id", flat=True))


def _replace_tags(entry: Entry, tag_ids: list[int]) -> None:
    """Give an entry the tags of these that still exist."""
    EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk).delete()
    known = set(
        Tag.objects.filter(member_id=entry.member_id, pk__in=tag_ids).values_list(
            "pk", flat=True
        )
    )
    EntryTag.objects.bulk_create(
        EntryTag(
            member_id=entry.member_id,
            entry_id=entry.pk,
            tag_id=tag_id,
            position=position,
        )
        for position, tag_id in enumerate(each for each in tag_ids if each in known)
    )


def _keep(entry: Entry, transfer: Entry) -> MergedEntry:
    """Return what an entry gets back when the transfer is taken apart."""
    return MergedEntry(
        member_id=entry.member_id,
        entry=transfer,
        type=entry.type,
        former_id=entry.pk,
        tag_ids=_list_tag_ids(entry),
        notification_ids=[],
        **{name: getattr(entry, name) for name in _COLUMNS},
    )


def _columns_of(merged: MergedEntry, wallet: Wallet | None) -> dict[str, Any]:
    """Return the columns of the entry again; only cards have installments."""
    values = {name: getattr(merged, name) for name in _COLUMNS}
    if wallet is None or wallet.kind != Wallet.Kind.CARD:
        values["installment_months"] = None
    return values
