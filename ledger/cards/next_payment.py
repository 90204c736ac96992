"""The next bill that a card pays by itself (spec 3.30)."""

from collections.abc import Collection
from datetime import date
from typing import NamedTuple

from ledger.cards.reading import Group
from ledger.cards.schedule import Schedule, first_of_month, move_month
from ledger.models import CardPayment

# A payment date stands at most so many months from the month of its bill.
_MONTHS_APART = 2


class DuePayment(NamedTuple):
    month: date
    payment_date: date


def find_next_payment(
    schedule: Schedule, since: date, done: Collection[date]
) -> DuePayment:
    """Return the first bill that is paid on `since` or later, and is not `done`."""
    month = max(schedule.first_month, move_month(first_of_month(since), -_MONTHS_APART))
    while month in done or schedule.payment_date(month) < since:
        month = move_month(month, 1)
    return DuePayment(month, schedule.payment_date(month))


def list_done_months(member_id: int, card_id: int) -> set[date]:
    rows = CardPayment.objects.filter(member_id=member_id, wallet_id=card_id)
    return set(rows.values_list("month", flat=True))


def find_next_payment_on(member_id: int, group: Group, today: date) -> date:
    done = list_done_months(member_id, group.main.id)
    return find_next_payment(group.schedule, today, done).payment_date
