"""Bills of a card, of a group of cards, or of all (spec 3.30)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InvalidFieldError, NotFoundError
from ledger.base.ownership import get_owned_or_404
from ledger.cards.compute import Account, Bill, find_open_month
from ledger.cards.reading import (
    BillRange,
    Group,
    find_group,
    list_groups,
    read_accounts,
)
from ledger.cards.schedule import count_months, format_month, move_month
from ledger.models import Card, Wallet

# Closed bills that are listed by default.
MONTHS_SHOWN = 12
# Bills in one answer.
MAX_BILLS = 120
# An empty bill can be read so many months ahead.
MAX_MONTHS_AHEAD = 36


@dataclass(frozen=True, slots=True)
class CardBillOf:
    """A bill with the account that it belongs to."""

    group: Group
    account: Account
    bill: Bill


@dataclass(frozen=True, slots=True)
class CardState:
    """Debts and credit of a card outside its closed bills and the open one."""

    credit: int
    unbilled: int


def require_group(member: Member, wallet_id: int) -> Group:
    """Raise `NotFoundError` for a wallet without bills."""
    group = find_group(list_groups(member.pk), wallet_id)
    if group is None:
        get_owned_or_404(Wallet.objects.all(), member, wallet_id)
        raise NotFoundError
    return group


def list_bills(
    member: Member, wallet_id: int, first: date | None, last: date | None, today: date
) -> list[CardBillOf]:
    """Return the bills of a range of months, oldest first.

    By default the last 12, the open one, and those with parts to come. Raises
    `NotFoundError` for a wallet without bills.
    """
    group = require_group(member, wallet_id)
    open_month = find_open_month(group.schedule, today)
    start = first or move_month(min(last or open_month, open_month), -MONTHS_SHOWN)
    start = max(start, group.schedule.first_month)
    _raise_on_unfit_range(first or start, last, open_month)
    (account,) = read_accounts(member.pk, [(group, BillRange(start, last))], today)
    end = account.last_month if last is None else last
    count = count_months(start, end) + 1
    months = [move_month(start, number) for number in range(count)]
    return [CardBillOf(group, account, account.get_bill(month)) for month in months]


def _raise_on_unfit_range(first: date, last: date | None, open_month: date) -> None:
    furthest = move_month(open_month, MAX_MONTHS_AHEAD)
    for name, month in (("from", first), ("to", last)):
        if month is not None and month > furthest:
            detail = gettext("Must be at most {count} months ahead.")
            raise InvalidFieldError(name, detail.format(count=MAX_MONTHS_AHEAD))
    if last is not None and last < first:
        raise InvalidFieldError("to", gettext("Must not be before `from`."))
    if count_months(first, last or open_month) >= MAX_BILLS:
        name = "from" if last is None else "to"
        detail = gettext("A range may have at most {limit} months.")
        raise InvalidFieldError(name, detail.format(limit=MAX_BILLS))


def get_bill(member: Member, wallet_id: int, month: date, today: date) -> CardBillOf:
    """Raise `NotFoundError` for a month before the first bill, or far ahead."""
    group = require_group(member, wallet_id)
    raise_on_unknown_month(group, month, today)
    (account,) = read_accounts(member.pk, [(group, BillRange(month, month))], today)
    return CardBillOf(group, account, account.get_bill(month))


def list_bills_of_month(member: Member, month: date, today: date) -> list[CardBillOf]:
    """Return the bills of all cards in one month, in the order of the wallets."""
    groups = [
        group for group in list_groups(member.pk) if is_known_month(group, month, today)
    ]
    ranges = [(group, BillRange(month, month)) for group in groups]
    accounts = read_accounts(member.pk, ranges, today)
    return [
        CardBillOf(group, account, account.get_bill(month))
        for group, account in zip(groups, accounts, strict=True)
    ]


def is_known_month(group: Group, month: date, today: date) -> bool:
    open_month = find_open_month(group.schedule, today)
    last = move_month(open_month, MAX_MONTHS_AHEAD)
    return group.schedule.first_month <= month <= last


def raise_on_unknown_month(group: Group, month: date, today: date) -> None:
    if not is_known_month(group, month, today):
        raise NotFoundError


def read_state(member: Member, card: Card, today: date) -> CardState:
    """Return credit and unbilled amounts of the bill that a card is on."""
    group = find_group(list_groups(member.pk), card.id)
    if group is None:
        return CardState(0, 0)
    open_month = find_open_month(group.schedule, today)
    (account,) = read_accounts(
        member.pk, [(group, BillRange(open_month, open_month))], today
    )
    return CardState(account.credit, account.unbilled)


def describe_bill(found: CardBillOf) -> dict[str, Any]:
    """Return the answer of a bill, as `BillSerializer` describes it."""
    bill, account = found.bill, found.account
    return {
        "walletId": found.group.main.id,
        "month": format_month(bill.month),
        "periodStart": bill.period.start,
        "periodEnd": bill.period.end,
        "paymentDate": bill.payment_date,
        "charges": bill.charges,
        "installments": bill.installments,
        "refunds": bill.refunds,
        "carried": bill.carried,
        "total": bill.total,
        "printed": bill.printed_amount,
        "difference": bill.difference,
        "paid": bill.paid,
        "remaining": account.remaining(bill),
        "pending": bill.pending,
        "status": bill.status.value,
        # A field serializer takes longer than all the rest.
        "items": [
            {
                "entryId": item.entry_id,
                "walletId": item.wallet_id,
                "date": item.date,
                "memo": item.memo,
                "amount": item.amount,
                "part": item.part,
                "parts": item.parts,
                "pending": item.is_pending,
            }
            for item in bill.items
        ],
        "payments": [
            {"entryId": part.entry_id, "date": part.date, "amount": part.amount}
            for part in bill.payments
        ],
    }


def sum_bills(found: Sequence[CardBillOf]) -> dict[str, int]:
    """Return the sums of bills of several cards."""
    return {
        "total": sum(each.bill.total for each in found),
        "paid": sum(each.bill.paid for each in found),
        "remaining": sum(each.account.remaining(each.bill) for each in found),
    }
