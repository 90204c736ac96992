"""Transfers that pay bills: by the member, and by the job (spec 3.30)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from core.errors import DuplicateError, InvalidFieldError, MissingItemError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.cards.bills import CardBillOf, raise_on_unknown_month, require_group
from ledger.cards.compute import find_open_month
from ledger.cards.existing_payments import has_pending_payment
from ledger.cards.reading import BillRange, Group, read_accounts
from ledger.cards.schedule import format_month
from ledger.entries.writing import create_entry
from ledger.entry_shape import EXPENSE, TRANSFER, EntryShape, LineShape
from ledger.models import Entry, Wallet

# A transfer so many days before the payment date may be the payment.
DAYS_BEFORE = timedelta(days=3)
NOTHING_REMAINS = gettext_lazy("Nothing remains to be paid.")
IS_PENDING = gettext_lazy("A transfer of this amount waits to be confirmed.")


@dataclass(frozen=True, slots=True)
class SentPayment:
    """The fields of a request. None: the whole rest, today, the card's wallet."""

    amount: int | None = None
    day: date | None = None
    wallet: int | None = None


@ledger_write
def pay_bill(
    ledger: LockedLedger,
    wallet_id: int,
    month: date,
    sent: SentPayment,
    now: datetime,
) -> int:
    """Create the transfer that pays a bill, and return its id.

    Raises `NotFoundError`, `InvalidFieldError`, and `DuplicateError` where nothing
    remains or the payment waits to be confirmed.
    """
    today = timezone.localdate(now)
    group = require_group(ledger.member, wallet_id)
    raise_on_unknown_month(group, month, today)
    if month > find_open_month(group.schedule, today):
        detail = gettext("The period of this bill has not begun.")
        raise InvalidFieldError("month", detail)
    payer = sent.wallet or group.main.pay_from_wallet_id
    if payer is None:
        detail = gettext("Required: the card names no wallet that pays.")
        raise InvalidFieldError("walletId", detail, "required")
    if payer in group.card_ids:
        raise InvalidFieldError("walletId", gettext("Must be another wallet."))
    if not Wallet.objects.owned_by(ledger.member).filter(pk=payer).exists():
        raise MissingItemError("walletId")
    found = read_bill(ledger, group, month, today)
    remaining = found.account.remaining(found.bill)
    if remaining <= 0:
        raise DuplicateError(NOTHING_REMAINS)
    amount = sent.amount or remaining
    since = found.bill.payment_date - DAYS_BEFORE
    if has_pending_payment(ledger, group.card_ids, amount, since):
        raise DuplicateError(IS_PENDING)
    day = sent.day or today
    return create_payment(ledger, found, payer, amount, day, now)


def read_bill(
    ledger: LockedLedger, group: Group, month: date, today: date
) -> CardBillOf:
    ranges = [(group, BillRange(month, month))]
    (account,) = read_accounts(ledger.member.pk, ranges, today)
    return CardBillOf(group, account, account.get_bill(month))


def create_payment(
    ledger: LockedLedger,
    found: CardBillOf,
    payer: int,
    amount: int,
    day: date,
    now: datetime,
) -> int:
    """Create the transfer; one that pays a whole bill has a line for each card."""
    main, month = found.group.main, found.bill.month
    is_whole = amount == found.account.remaining(found.bill)
    shares = divide_payment(found, amount) if is_whole else [(main.id, amount)]
    is_flat = len(shares) == 1
    shape = EntryShape(
        type=TRANSFER,
        amount=amount,
        wallet=payer,
        to_wallet=shares[0][0] if is_flat else None,
        lines=()
        if is_flat
        else tuple(
            LineShape(share, category_type=EXPENSE, wallet=card_id)
            for card_id, share in shares
        ),
        memo=f"{main.name} {format_month(month)}",
        date=day,
        bill_month=month,
        source=Entry.Source.BILL.value,
    )
    return create_entry.within(ledger, shape, now)


def divide_payment(found: CardBillOf, amount: int) -> list[tuple[int, int]]:
    """Return what each card of a bill gets: its own items, the main card the rest.

    The rest is what was carried, paid in part, or has come back.
    """
    main_id = found.group.main.id
    shares = [
        (card_id, found.bill.by_wallet.get(card_id, 0))
        for card_id in found.group.card_ids
        if card_id != main_id and found.bill.by_wallet.get(card_id, 0) > 0
    ]
    rest = amount - sum(share for _, share in shares)
    if rest < 0:
        return [(main_id, amount)]
    return [(main_id, rest), *shares] if rest else shares
