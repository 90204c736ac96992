"""Merges of an expense and an income into a transfer (contract C5)."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import orjson
from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InUseError, InvalidFieldError, NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.operations import pair_rows
from ledger.base.ownership import get_owned_or_404
from ledger.categories.categories import get_or_create_categories
from ledger.entries.listing import get_entry_payload
from ledger.entries.rows import OF_ENTRIES, delete_lines, insert_lines
from ledger.entry_shape import EXPENSE, INCOME, MAX_MEMO_LENGTH, TRANSFER
from ledger.errors import NotMergeableError
from ledger.models import (
    Category,
    Entry,
    EntryLine,
    EntryTag,
    MergedEntry,
    Notification,
    RowKind,
    Tag,
    Tombstone,
    Wallet,
)
from ledger.models.entries import EntryDetails
from ledger.taught_layouts.learning import forget_text

# Between the two days, whichever comes first.
MAX_DAYS = 31
# Of the income.
MAX_FEE_PERCENT = 10
_KEPT_COLUMNS = tuple(
    field.attname
    for field in EntryDetails._meta.fields
    if field.name != "member" and not field.generated
)


@dataclass(frozen=True, slots=True)
class Fee:
    """The category of what the expense is larger by, by name or id, or none."""

    category: str | None = None
    category_id: int | None = None


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A value of the transfer that neither of its two entries gets back."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Unmerged:
    expense_id: int
    income_id: int
    given_up: list[GivenUp]

    @property
    def ids(self) -> list[int]:
        return [self.expense_id, self.income_id]


@ledger_write
def merge_entries(
    ledger: LockedLedger,
    entry_id: int,
    other_id: int,
    now: datetime,
    *,
    day: date | None = None,
    has_fee: bool = False,
    fee_category: Category | None = None,
) -> int:
    """Make one transfer of an expense and an income; return the expense's id.

    Its date is `day`, the day of either entry, or the expense's. A larger expense
    leaves a line for the fee. Raises `NotMergeableError` unless both are flat, of two
    wallets and fit in amount and date, and `InvalidFieldError` for another day or fee.
    """
    member = ledger.member
    rows = Entry.objects.select_related("wallet", "category")
    first: Entry = get_owned_or_404(rows, member, entry_id)
    second = rows.owned_by(member).filter(pk=other_id).first()
    if second is None:
        raise NotMergeableError(gettext("Entry not found."))
    expense, income = (second, first) if first.type == INCOME else (first, second)
    if obstacle := _find_obstacle(expense, income, has_fee=has_fee):
        raise NotMergeableError(obstacle)
    fee = expense.amount - income.amount
    if has_fee and (obstacle := _find_obstacle_to_fee(fee, income)):
        raise InvalidFieldError("fee", obstacle)
    if day not in (None, expense.date, income.date):
        raise InvalidFieldError("date", gettext("Must be the date of one of the two."))
    lines = _make_lines(income, fee, fee_category) if fee else []
    notifications = Notification.objects.owned_by(member).filter(entry_id=income.pk)
    merged = [_keep(entry, expense) for entry in (expense, income)]
    merged[1].notification_ids = list(notifications.values_list("pk", flat=True))
    # A move of a wallet may have made an earlier transfer an expense or income: its
    # rows are stale.
    former = MergedEntry.objects.owned_by(member)
    former.filter(entry__in=[expense.pk, income.pk]).delete()
    notifications.update(entry_id=expense.pk)
    OF_ENTRIES.delete_tags(income)
    income.delete()
    _write_transfer(expense, income, lines, day, now)
    if expense.pending != income.pending:
        # The transfer is confirmed.
        forget_text(ledger, expense.pk, is_confirmed=True)
    united = dict.fromkeys(tag_id for each in merged for tag_id in each.tag_ids)
    _replace_tags(ledger, expense, list(united))
    MergedEntry.objects.bulk_create(merged)
    pair_rows(RowKind.ENTRY, {income.pk: expense.pk})
    return int(expense.pk)


@ledger_write
def merge_with_fee(
    ledger: LockedLedger,
    entry_id: int,
    other_id: int,
    now: datetime,
    fee: Fee,
    *,
    day: date | None = None,
) -> int:
    """Do as `merge_entries`, and raise `InvalidFieldError` for an unknown category."""
    category: Category | None = None
    if fee.category_id is not None:
        rows = Category.objects.owned_by(ledger.member).filter(type=EXPENSE)
        category = rows.filter(pk=fee.category_id).first()
        if category is None:
            detail = gettext("Category not found.")
            raise InvalidFieldError("fee.categoryId", detail, "does_not_exist")
        if fee.category not in (None, category.name):
            detail = gettext("The category has another name.")
            raise InvalidFieldError("fee.categoryId", detail, "mismatch")
    elif fee.category is not None:
        key = EXPENSE, fee.category
        category = get_or_create_categories(ledger, [key])[key]
    return merge_entries.within(
        ledger, entry_id, other_id, now, day=day, has_fee=True, fee_category=category
    )


@ledger_write
def unmerge_entry(ledger: LockedLedger, entry_id: int, now: datetime) -> Unmerged:
    """Make the two entries of a transfer again.

    Amounts and wallets stay as in the transfer; the expense has its fee. Raises
    `NotFoundError` for an entry that was not merged, and `InUseError` if it moves no
    money to one other wallet any more.
    """
    member = ledger.member
    rows = Entry.objects.select_related("wallet", "to_wallet")
    entry: Entry = get_owned_or_404(rows, member, entry_id)
    of_entry = MergedEntry.objects.owned_by(member).filter(entry=entry.pk)
    merged = {row.type: row for row in of_entry}
    if not merged:
        raise NotFoundError(gettext("The entry was not merged."))
    lines = OF_ENTRIES.list_lines(entry) if entry.line_count else []
    to_wallets = [line for line in lines if line.wallet_id is not None]
    if to_wallets:
        target, amount = to_wallets[0].wallet, to_wallets[0].amount
    else:
        target, amount = entry.to_wallet, entry.amount
    if entry.type != TRANSFER or target is None or len(to_wallets) > 1 or amount < 1:
        raise InUseError(gettext("The entry is no transfer of two wallets."))
    former_expense, former_income = merged[EXPENSE], merged[INCOME]
    merged_memo = _join_memos(former_expense, former_income)
    given_up = _list_given_up(
        entry, lines, (former_expense, former_income), merged_memo
    )
    delete_lines(entry)
    Entry.objects.filter(member_id=member.pk, pk=entry.pk).update(
        type=EXPENSE,
        to_wallet=None,
        line_count=0,
        updated_at=now,
        **_columns_of(former_expense, entry.wallet),
    )
    _replace_tags(ledger, entry, former_expense.tag_ids)
    income = Entry(
        member=member,
        id=former_income.former_id,
        type=INCOME,
        amount=amount,
        wallet_id=target.pk,
        line_count=0,
        updated_at=now,
        client_id=former_income.client_id,
        **_columns_of(former_income, target),
    )
    income.save(force_insert=True)
    # The feed of changes has a row once.
    gone = Tombstone.objects.owned_by(member).filter(kind=RowKind.ENTRY)
    gone.filter(row_id=income.pk).delete()
    _replace_tags(ledger, income, former_income.tag_ids)
    notifications = Notification.objects.owned_by(member)
    ids = former_income.notification_ids
    notifications.filter(pk__in=ids).update(entry_id=income.pk)
    of_entry.delete()
    pair_rows(RowKind.ENTRY, {income.pk: entry.pk})
    return Unmerged(int(entry.pk), int(income.pk), given_up)


@ledger_write
def preview_unmerge(
    ledger: LockedLedger, entry_id: int, now: datetime
) -> list[orjson.Fragment]:
    """Return what `list_unmerged` would return after `unmerge_entry`; write nothing."""
    with transaction.atomic():
        unmerged = unmerge_entry.within(ledger, entry_id, now)
        payloads = list_unmerged(ledger.member, unmerged)
        transaction.set_rollback(True)
    return payloads


def list_unmerged(member: Member, unmerged: Unmerged) -> list[orjson.Fragment]:
    """Return the two entries; the expense has `givenUp`."""
    expense = get_entry_payload(
        member, unmerged.expense_id, {"givenUp": unmerged.given_up}
    )
    return [expense, get_entry_payload(member, unmerged.income_id)]


def is_merged(entry: Entry) -> bool:
    return (
        entry.type == TRANSFER
        and MergedEntry.objects.filter(
            member_id=entry.member_id, entry=entry.pk
        ).exists()
    )


def _find_obstacle(expense: Entry, income: Entry, *, has_fee: bool) -> str | None:
    fits = (
        (expense.type, income.type) == (EXPENSE, INCOME)
        and expense.amount >= income.amount > 0
        and expense.wallet_id is not None
        and income.wallet_id is not None
        and expense.wallet_id != income.wallet_id
    )
    if not fits:
        return gettext(
            "Must be an expense and an income of two wallets with equal amounts, or "
            "with a fee."
        )
    if abs((income.date - expense.date).days) > MAX_DAYS:
        detail = gettext("The two entries are more than {days} days apart.")
        return detail.format(days=MAX_DAYS)
    if expense.amount != income.amount and not has_fee:
        return gettext("The amounts differ. Give `fee` for the difference.")
    ids: dict[str, Any] = {"member_id": expense.member_id, "refund_of": expense.pk}
    has_refunds = (
        Entry.objects.filter(**ids).exists() or EntryLine.objects.filter(**ids).exists()
    )
    is_plain = all(
        entry.line_count == 0 and entry.currency is None and entry.refund_of_id is None
        for entry in (expense, income)
    )
    if has_refunds or not is_plain:
        return gettext("Split, foreign and refunded entries cannot be merged.")
    return None


def _find_obstacle_to_fee(fee: int, income: Entry) -> str | None:
    if not fee:
        return gettext("The amounts are equal.")
    if fee * 100 > income.amount * MAX_FEE_PERCENT:
        detail = gettext("Must be at most {percent} percent of the income.")
        return detail.format(percent=MAX_FEE_PERCENT)
    return None


def _write_transfer(
    expense: Entry,
    income: Entry,
    lines: list[EntryLine],
    day: date | None,
    now: datetime,
) -> None:
    is_of_income = day is not None and day != expense.date
    dated, other = (income, expense) if is_of_income else (expense, income)
    Entry.objects.filter(member_id=expense.member_id, pk=expense.pk).update(
        type=TRANSFER,
        to_wallet=None if lines else income.wallet_id,
        line_count=None if lines else 0,
        date=dated.date,
        time=dated.time or other.time,
        category=None,
        is_reversal=False,
        installment_months=None,
        installment_parts=None,
        bill_month=income.bill_month,
        memo=_join_memos(expense, income),
        pending=expense.pending and income.pending,
        excluded=expense.excluded and income.excluded,
        updated_at=now,
    )
    if lines:
        insert_lines(expense, lines)


def _make_lines(income: Entry, fee: int, category: Category | None) -> list[EntryLine]:
    lines = [
        EntryLine(
            member_id=income.member_id,
            position=position,
            amount=amount,
            category_type=EXPENSE,
        )
        for position, amount in enumerate((income.amount, fee))
    ]
    lines[0].wallet_id = income.wallet_id
    lines[1].category = category
    return lines


def _list_given_up(
    entry: Entry,
    lines: list[EntryLine],
    halves: tuple[MergedEntry, MergedEntry],
    merged_memo: str,
) -> list[GivenUp]:
    """Return the values that a transfer has got since it was merged."""
    given_up = []
    if entry.date not in {half.date for half in halves}:
        given_up.append(GivenUp("date", entry.date))
    if entry.time is not None and entry.time not in {half.time for half in halves}:
        given_up.append(GivenUp("time", entry.time.strftime("%H:%M")))
    memos = {"", merged_memo, *(half.memo for half in halves)}
    given_up += [
        GivenUp("memo", memo)
        for memo in [entry.memo, *(line.memo for line in lines if line.wallet_id)]
        if memo not in memos
    ]
    links = EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk)
    kept = [tag_id for half in halves for tag_id in half.tag_ids]
    names = links.exclude(tag__in=kept).order_by("position")
    if tags := list(names.values_list("tag__name", flat=True)):
        given_up.append(GivenUp("tags", tags))
    if entry.excluded not in {half.excluded for half in halves}:
        given_up.append(GivenUp("excluded", entry.excluded))
    for line in lines:
        if line.wallet_id is None:
            category = line.category and line.category.name
            value = {"amount": line.amount, "category": category, "memo": line.memo}
            given_up.append(GivenUp("fee", value))
    return given_up


def _join_memos(expense: Entry | MergedEntry, income: Entry | MergedEntry) -> str:
    memos = dict.fromkeys(memo for memo in (expense.memo, income.memo) if memo)
    return ", ".join(memos)[:MAX_MEMO_LENGTH]


def _replace_tags(ledger: LockedLedger, entry: Entry, tag_ids: list[int]) -> None:
    known = Tag.objects.owned_by(ledger.member).in_bulk(tag_ids)
    tags = [known[tag_id] for tag_id in tag_ids if tag_id in known]
    OF_ENTRIES.replace_tags(entry, tags)


def _keep(entry: Entry, transfer: Entry) -> MergedEntry:
    links = EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk)
    return MergedEntry(
        member_id=entry.member_id,
        entry=transfer,
        type=entry.type,
        former_id=entry.pk,
        tag_ids=list(links.order_by("position").values_list("tag_id", flat=True)),
        notification_ids=[],
        client_id=entry.client_id if entry.type == INCOME else None,
        **{name: getattr(entry, name) for name in _KEPT_COLUMNS},
    )


def _columns_of(merged: MergedEntry, wallet: Wallet | None) -> dict[str, Any]:
    """Return the columns to restore; only cards have installments."""
    values = {name: getattr(merged, name) for name in _KEPT_COLUMNS}
    if wallet is None or wallet.kind != Wallet.Kind.CARD:
        values |= {"installment_months": None, "installment_parts": None}
    return values
