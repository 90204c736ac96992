"""The printed values of a bill (spec 3.30)."""

from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext

from core.errors import InvalidFieldError, NotFoundError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.cards.bills import raise_on_unknown_month, require_group
from ledger.cards.card_settings import refresh_next_payment
from ledger.cards.reading import Group
from ledger.cards.schedule import Printed, Schedule, move_month
from ledger.models import CardBill

# A printed day stands at most so far from the computed one.
MAX_DAYS_APART = 31


@ledger_write
def set_printed(
    ledger: LockedLedger, wallet_id: int, month: date, printed: Printed, now: datetime
) -> None:
    """Store the printed values of a bill, and replace earlier ones.

    The next period starts the day after `period_end`. Raises `NotFoundError` and
    `InvalidFieldError`.
    """
    group = require_group(ledger.member, wallet_id)
    today = timezone.localdate(now)
    raise_on_unknown_month(group, month, today)
    if printed == Printed():
        detail = gettext("Give `periodEnd`, `paymentDate` or `amount`.")
        raise InvalidFieldError("amount", detail, "required")
    _raise_on_unfit_days(group, month, printed)
    CardBill.objects.update_or_create(
        member=ledger.member,
        card_id=group.main.id,
        month=month,
        defaults={
            "period_end": printed.period_end,
            "payment_date": printed.payment_date,
            "amount": printed.amount,
        },
    )
    refresh_next_payment(ledger, group.main.id, today)


@ledger_write
def delete_printed(
    ledger: LockedLedger, wallet_id: int, month: date, now: datetime
) -> None:
    """Let the bill be as computed. Raises `NotFoundError` if nothing is stored."""
    group = require_group(ledger.member, wallet_id)
    rows = CardBill.objects.owned_by(ledger.member)
    if not rows.filter(card_id=group.main.id, month=month).delete()[0]:
        raise NotFoundError
    refresh_next_payment(ledger, group.main.id, timezone.localdate(now))


def _raise_on_unfit_days(group: Group, month: date, printed: Printed) -> None:
    others = {
        other: value
        for other, value in group.schedule.printed.items()
        if other != month
    }
    schedule = Schedule(group.schedule.terms, others)
    end = printed.period_end
    if end is not None:
        before = schedule.period_end(move_month(month, -1))
        following = others.get(move_month(month, 1), Printed()).period_end
        if end <= before or (following is not None and end >= following):
            detail = gettext("Must be between the ends of the bills before and after.")
            raise InvalidFieldError("periodEnd", detail)
        _raise_if_far("periodEnd", end, schedule.period_end(month))
    if printed.payment_date is not None:
        if printed.payment_date < (end or schedule.period_end(month)):
            detail = gettext("Must not be before the end of the period.")
            raise InvalidFieldError("paymentDate", detail)
        computed = schedule.payment_date(month)
        _raise_if_far("paymentDate", printed.payment_date, computed)


def _raise_if_far(name: str, day: date, computed: date) -> None:
    if abs(day - computed) > timedelta(days=MAX_DAYS_APART):
        detail = gettext("Must be within {count} days of the computed day.")
        raise InvalidFieldError(name, detail.format(count=MAX_DAYS_APART))
