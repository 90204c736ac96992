"""Merge an expense and an income into one transfer, and take them apart again."""

from datetime import date, datetime, time
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from core.errors import InUseError, NotFoundError
from ledger.errors import NotMergeableError
from ledger.locking import lock_ledger
from ledger.models import (
    Category,
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
        tags = {entry.pk: _list_tag_ids(entry) for entry in (expense, income)}
        notifications = Notification.objects.owned_by(member).filter(entry_id=income.pk)
        merged = MergedEntry(
            member=member,
            entry=expense,
            expense=_dump(expense, tags[expense.pk]),
            income=_dump(income, tags[income.pk]),
            notification_ids=list(notifications.values_list("pk", flat=True)),
        )
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
        united = dict.fromkeys([*tags[expense.pk], *tags[income.pk]])
        _replace_tags(expense, list(united))
        merged.save(force_insert=True)
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
        merged: MergedEntry | None = of_entry.first()
        if merged is None:
            raise NotFoundError(gettext("The entry was not merged."))
        if entry.type != EntryType.TRANSFER or entry.to_wallet_id is None:
            raise InUseError(gettext("The entry is no transfer of two wallets."))
        raise_if_moving(entry.wallet, entry.to_wallet)
        target_id = entry.to_wallet_id
        _raise_if_category_is_moving(member, merged)
        stored = Entry.objects.filter(member_id=member.pk, pk=entry.pk)
        stored.update(
            type=EntryType.EXPENSE,
            to_wallet=None,
            updated_at=now,
            **_load(member, merged.expense, EntryType.EXPENSE, entry.wallet),
        )
        _replace_tags(entry, merged.expense["tags"])
        income = Entry(
            member=member,
            id=merged.income["id"],
            type=EntryType.INCOME,
            amount=entry.amount,
            wallet_id=target_id,
            line_count=0,
            updated_at=now,
            **_load(member, merged.income, EntryType.INCOME, entry.to_wallet),
        )
        income.save(force_insert=True)
        _replace_tags(income, merged.income["tags"])
        notifications = Notification.objects.owned_by(member)
        notifications.filter(pk__in=merged.notification_ids).update(entry_id=income.pk)
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


def _dump(entry: Entry, tag_ids: list[int]) -> dict[str, Any]:
    """Return the values of an entry as JSON."""
    values = {name: getattr(entry, name) for name in _COLUMNS}
    for name in ("date", "time", "created_at"):
        values[name] = values[name] and values[name].isoformat()
    return values | {"id": entry.pk, "tags": tag_ids}


def _load(
    member: Member, stored: dict[str, Any], type_: str, wallet: Wallet | None
) -> dict[str, Any]:
    """Return the columns of an entry; a category that is gone is none."""
    values = {name: stored[name] for name in _COLUMNS}
    values["date"] = date.fromisoformat(values["date"])
    values["time"] = values["time"] and time.fromisoformat(values["time"])
    values["created_at"] = datetime.fromisoformat(values["created_at"])
    is_income = (type_ == EntryType.INCOME) != values["is_reversal"]
    rows = Category.objects.owned_by(member).filter(
        pk=values["category_id"], type="income" if is_income else "expense"
    )
    if not rows.exists():
        values["category_id"] = None
    if wallet is None or wallet.kind != Wallet.Kind.CARD:
        values["installment_months"] = None
    return values


def _raise_if_category_is_moving(member: Member, merged: MergedEntry) -> None:
    ids = [part["category_id"] for part in (merged.expense, merged.income)]
    raise_if_moving(*Category.objects.owned_by(member).filter(pk__in=ids))
