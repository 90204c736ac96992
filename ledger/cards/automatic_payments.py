"""Bills that cards pay by themselves, once for each card and month (spec 3.30).

The row of a bill is written with its transfer, under the lock of the ledger: concurrent
workers pay it once, and a deleted transfer is not made again.
"""

import logging
from datetime import date, datetime
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from accounts.models import Member
from core.progress import SILENT_PROGRESS, Progress
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.cards.existing_payments import has_payment
from ledger.cards.next_payment import find_next_payment, list_done_months
from ledger.cards.paying import DAYS_BEFORE, create_payment, read_bill
from ledger.cards.reading import Group, find_group, list_groups
from ledger.errors import LedgerFullError
from ledger.models import Card, CardPayment
from ledger.recurring.occurrences import list_bookable_members

logger = logging.getLogger(__name__)

# Bills of one card in one run; the next run continues.
MAX_BILLS_PER_RUN = 24


class PaymentRunResult(NamedTuple):
    booked: int = 0
    failed: int = 0


def pay_due_bills(
    now: datetime,
    progress: Progress = SILENT_PROGRESS,
    members: tuple[int, int] | None = None,
) -> PaymentRunResult:
    """Pay the bills that are due by today, of cards that pay themselves.

    `members` is a range of member ids, both inclusive. Idempotent and safe to run
    concurrently. A card that fails is logged and does not stop the others.
    """
    booked = failed = 0
    due = list_due_cards(now, members)
    for number, (member_id, card_id) in enumerate(due, 1):
        try:
            booked += _pay_card(Member(pk=member_id), card_id, now)
        except LedgerFullError:
            # The bill stays due until there is room.
            pass
        except Exception:
            logger.exception("automatic payment of card %s failed", card_id)
            failed += 1
        progress.update(f"{number} of {len(due)} cards")
    return PaymentRunResult(booked, failed)


def list_due_cards(
    now: datetime, members: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Return the cards that are due, of active members with a plan, by their member."""
    owners = list_bookable_members(now)
    rows = Card.objects.filter(
        auto_pay=True, next_payment_on__lte=timezone.localdate(now)
    )
    if members is not None:
        owners = owners.filter(pk__range=members)
        rows = rows.filter(member_id__gte=members[0], member_id__lte=members[1])
    rows = rows.filter(member__in=owners).order_by("member_id", "pk")
    return list(rows.values_list("member_id", "pk"))


@ledger_write(lock_timeout=False)
def _pay_card(ledger: LockedLedger, card_id: int, now: datetime) -> int:
    """Deal with the due bills of one card; return the number of transfers."""
    with connection.cursor() as cursor:
        # A crash loses the rows together with the transfers; the next run pays.
        cursor.execute("SET LOCAL synchronous_commit = off")
    today = timezone.localdate(now)
    # The card was listed without a lock; the plan may have ended.
    bookable = list_bookable_members(now).filter(pk=ledger.member.pk)
    premium_since = bookable.values_list("premium_since", flat=True).first()
    card = Card.objects.owned_by(ledger.member).filter(pk=card_id).first()
    group = find_group(list_groups(ledger.member.pk), card_id)
    if premium_since is None or card is None or group is None:
        return 0
    if not card.auto_pay or card.next_payment_on is None:
        return 0
    done = list_done_months(ledger.member.pk, card_id)
    since, booked = card.next_payment_on, 0
    for _ in range(MAX_BILLS_PER_RUN):
        due = find_next_payment(group.schedule, since, done)
        since = due.payment_date
        if since > today:
            break
        entry_id = None
        status = CardPayment.Status.MISSED
        if since >= timezone.localdate(premium_since):
            entry_id = _pay_if_unpaid(ledger, group, due.month, now)
            status = CardPayment.Status.SKIPPED
        if entry_id is not None:
            status, booked = CardPayment.Status.BOOKED, booked + 1
        CardPayment.objects.create(
            member=ledger.member,
            wallet_id=card_id,
            month=due.month,
            status=status,
            entry_id=entry_id,
        )
        done.add(due.month)
    Card.objects.owned_by(ledger.member).filter(pk=card_id).update(
        next_payment_on=since
    )
    return booked


def _pay_if_unpaid(
    ledger: LockedLedger, group: Group, month: date, now: datetime
) -> int | None:
    """Create the transfer of a bill; None where nothing remains or it is there."""
    found = read_bill(ledger, group, month, timezone.localdate(now))
    remaining = found.account.remaining(found.bill)
    payer = group.main.pay_from_wallet_id
    if remaining <= 0 or payer is None:
        return None
    day = found.bill.payment_date
    if has_payment(ledger, group.card_ids, remaining, day - DAYS_BEFORE):
        return None
    return create_payment(ledger, found, payer, remaining, day, now)
