"""Two cards on one bill, which a bank account pays, and their purchases."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta

from ledger.backup.columns import EntryRow
from ledger.base.ledger_write import LockedLedger
from ledger.cards.bills import CardBillOf, require_group
from ledger.cards.card_settings import (
    CardValues,
    TargetExcludes,
    refresh_next_payment,
    set_card,
)
from ledger.cards.paying import create_payment
from ledger.cards.printed import set_printed
from ledger.cards.reading import BillRange, read_accounts
from ledger.cards.schedule import Printed, move_month
from ledger.demo.entries import start_date
from ledger.demo.transfers import BANK
from ledger.models import CardPayment, Wallet

MAIN_CARD, SECOND_CARD, CHECK_CARD = "신한카드", "신한 가족카드", "카카오 체크"
CLOSING_DAY, PAYMENT_DAY = 31, 14
# Day of the month, category, memo and amount of the second card.
MONTHLY_PURCHASES = (
    (9, "학원/강의", "영어 학원", 260_000),
    (20, "자녀 교육", "학습지", 78_000),
)
# Days ago, category, memo, amount, months and amounts of the parts (None: equal ones).
PLANS = (
    (75, "가구/가전", "노트북", 1_584_000, 6, None),
    (40, "가구/가전", "식기세척기", 900_000, 3, (400_000, 250_000, 250_000)),
)
SETTINGS = CardValues(
    closing_day=CLOSING_DAY,
    payment_day=PAYMENT_DAY,
    auto_pay=True,
    credit_limit=8_000_000,
    targets=(300_000, 600_000, 900_000),
    target_excludes=TargetExcludes(
        categories=("월세/관리비", "세금"), tags=("고정비",), installments=True
    ),
)
CHECK_CARD_TARGETS = (200_000,)


def generate_card_purchases(today: date) -> Iterator[EntryRow]:
    """Yield purchases of the second card, and those in parts. Pure."""
    first = start_date(today)
    for offset in range((today - first).days + 1):
        day = first + timedelta(days=offset)
        for due_day, category, memo, amount in MONTHLY_PURCHASES:
            if day.day == due_day:
                yield _make_purchase(day, SECOND_CARD, category, memo, amount)
    for days_ago, category, memo, amount, months, parts in PLANS:
        day = today - timedelta(days=days_ago)
        purchase = _make_purchase(day, MAIN_CARD, category, memo, amount)
        purchase.installment_months, purchase.installment_parts = months, parts
        yield purchase


def _make_purchase(
    day: date, card: str, category: str, memo: str, amount: int
) -> EntryRow:
    return EntryRow(
        date=day,
        type="expense",
        category=category,
        memo=memo,
        wallet=card,
        amount=amount,
    )


def set_up_cards(ledger: LockedLedger, now: datetime, today: date) -> int:
    """Write settings of the cards, and pay the bills that were due.

    Returns the number of transfers.
    """
    names = (MAIN_CARD, SECOND_CARD, CHECK_CARD, BANK)
    rows = Wallet.objects.owned_by(ledger.member).filter(name__in=names)
    wallets = dict(rows.values_list("name", "pk"))
    main_id, bank_id = wallets[MAIN_CARD], wallets[BANK]
    settings = replace(
        SETTINGS,
        pay_from_wallet=bank_id,
        from_month=move_month(start_date(today), 1),
    )
    for name, values in (
        (MAIN_CARD, settings),
        (SECOND_CARD, CardValues(billed_with=main_id)),
        (CHECK_CARD, CardValues(targets=CHECK_CARD_TARGETS)),
    ):
        set_card.within(ledger, wallets[name], values, now)
    paid = _pay_due_bills(ledger, main_id, bank_id, now, today)
    refresh_next_payment(ledger, main_id, today)
    return paid


def _pay_due_bills(
    ledger: LockedLedger, main_id: int, bank_id: int, now: datetime, today: date
) -> int:
    """Pay each bill on its day, as the job would have; the last one was printed."""
    group = require_group(ledger.member, main_id)
    shown = BillRange(group.schedule.first_month, None)
    (account,) = read_accounts(ledger.member.pk, [(group, shown)], today)
    due = [bill for bill in account.bills.values() if bill.payment_date <= today]
    for bill in due:
        found = CardBillOf(group, account, bill)
        amount = account.remaining(bill)
        entry_id = create_payment(
            ledger, found, bank_id, amount, bill.payment_date, now
        )
        CardPayment.objects.create(
            member=ledger.member,
            wallet_id=main_id,
            month=bill.month,
            status=CardPayment.Status.BOOKED,
            entry_id=entry_id,
        )
    last = due[-1]
    printed = Printed(payment_date=last.payment_date, amount=last.total)
    set_printed.within(ledger, main_id, last.month, printed, now)
    return len(due)
