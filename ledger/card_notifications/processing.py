"""Taking notifications in: each payment becomes one pending entry, once.

Service.md, Notification rules; contract, Notification results. A member's
notifications are taken in one after the other (`lock_notifications`), each under the
ledger's shared lock; rates are looked up outside the transaction.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts.parser import parse
from card_alerts.result import Kind, Parsed, Reason
from ledger.card_notifications.category_suggestion import learn_category
from ledger.card_notifications.counters import count_notification
from ledger.card_notifications.deduplication import (
    CANCELLATION_DAYS,
    CLOCK_SKEW,
    WINDOW,
    Announcement,
    announce,
    is_cancelled_by,
    is_same_payment,
    key_of,
)
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entries import Draft, write_pending
from ledger.locking import lock_notifications, share_ledger
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MEMO_LENGTH, EntryType
from ledger.rates import KnownRates, write_with_rates


class Action(StrEnum):
    """What became of a notification; the values are those of the contract."""

    CREATED = "CREATED"
    DUPLICATE = "DUPLICATE"
    CANCELLED = "CANCELLED"
    REFUND_PENDING = "REFUND_PENDING"
    IGNORED = "IGNORED"


@dataclass(frozen=True, slots=True)
class Received:
    """A notification as it came; `received_at` is in the home time zone."""

    text: str
    received_at: datetime
    sender: str = ""
    wallet: Wallet | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, the entry that tells of it, and why nothing was recorded."""

    action: Action
    parsed: Parsed
    entry_id: int | None = None
    reason: Reason | None = None


def read_notification(received: Received) -> Parsed:
    """What the text says; nothing is stored."""
    return parse(
        received.text,
        timezone.localtime(received.received_at),
        received.sender,
        settings.HOME_CURRENCY,
    )


def take_in(member: Member, received: Received, now: datetime) -> Outcome:
    """Create, cancel or ignore; the same payment announced again is a duplicate."""
    parsed = read_notification(received)
    count_notification(now, recognised=parsed.recognized)
    if not parsed.recognized:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    return write_with_rates(
        lambda rates: _Intake(member, received, parsed, now, rates).take_in()
    )


class _Intake:
    """One attempt to take a notification in, in one transaction."""

    def __init__(
        self,
        member: Member,
        received: Received,
        parsed: Parsed,
        now: datetime,
        rates: KnownRates,
    ) -> None:
        self.member, self.received, self.parsed = member, received, parsed
        self.now, self.rates = now, rates
        self.announcement = announce(parsed, timezone.localtime(received.received_at))

    def take_in(self) -> Outcome:
        with transaction.atomic():
            share_ledger(self.member)
            lock_notifications(self.member)
            if known := _find_same(self.member, self.announcement):
                entry_id = _existing(self.member, known.entry_id)
                return Outcome(Action.DUPLICATE, self.parsed, entry_id)
            if self.parsed.kind == Kind.CANCELLATION:
                return self._cancel()
            entry_id = self._write(EntryType.EXPENSE)
            self._remember(entry_id)
            return Outcome(Action.CREATED, self.parsed, entry_id)

    def _cancel(self) -> Outcome:
        """A pending entry goes; a confirmed one, or a part, becomes a refund."""
        if self.parsed.is_partial:
            return self._refund(None)
        found = _find_approval(
            self.member, self.announcement, self.parsed.original_date
        )
        if found is None:
            reason = Reason.NO_MATCHING_APPROVAL
            return Outcome(Action.IGNORED, self.parsed, reason=reason)
        approval, entry = found
        approval.is_cancelled = True
        approval.save(update_fields=["is_cancelled"])
        if not entry.pending:
            return self._refund(entry)
        entry.delete()
        self._remember(None)
        return Outcome(Action.CANCELLED, self.parsed)

    def _refund(self, entry: Entry | None) -> Outcome:
        entry_id = self._write(EntryType.INCOME, entry)
        self._remember(entry_id)
        return Outcome(Action.REFUND_PENDING, self.parsed, entry_id)

    def _write(self, type_: EntryType, refunded: Entry | None = None) -> int:
        """The pending entry; a refund goes back to the wallet that paid."""
        parsed = self.parsed
        wallet = match_wallet(self.member, parsed, self.received.wallet)
        if refunded is not None and self.received.wallet is None:
            wallet = refunded.wallet or wallet
        by_card = wallet is not None and wallet.kind == Wallet.Kind.CARD
        merchant = (parsed.merchant or "")[:MEMO_LENGTH]
        draft = Draft(
            date=self._day(),
            type=type_,
            amount=parsed.amount,
            category=learn_category(self.member, type_, merchant),
            wallet=wallet,
            memo=merchant,
            currency=parsed.currency,
            original_amount=parsed.original_amount,
            exchange_rate=_rate_of(refunded, parsed),
            installment_months=(
                parsed.installment_months
                if by_card and type_ == EntryType.EXPENSE
                else None
            ),
        )
        return write_pending(self.member, draft, self.now, self.rates)

    def _day(self) -> date:
        """The printed day, else that of the receipt."""
        return self.parsed.occurred_on or self.announcement.happened_at.date()

    def _remember(self, entry_id: int | None) -> None:
        one = self.announcement
        Notification.objects.create(
            member=self.member,
            notif_key=key_of(one),
            entry_id=entry_id,
            **{name: getattr(one, name) for name in Announcement.__slots__},
        )


def _find_same(member: Member, one: Announcement) -> Notification | None:
    rows = _near(member, one).filter(
        happened_at__range=(one.happened_at - WINDOW, one.happened_at + WINDOW)
    )
    return next((row for row in rows if is_same_payment(one, _recall(row))), None)


def _find_approval(
    member: Member, one: Announcement, original_date: date | None
) -> tuple[Notification, Entry] | None:
    """The newest approval that fits and whose entry is still there."""
    rows = _near(member, one).filter(
        kind=Kind.APPROVAL,
        is_cancelled=False,
        happened_at__range=(
            one.happened_at - CANCELLATION_DAYS,
            one.happened_at + CLOCK_SKEW,
        ),
    )
    entries = Entry.objects.owned_by(member).select_for_update(
        no_key=True, of=("self",)
    )
    for row in rows:
        if is_cancelled_by(_recall(row), one, original_date):
            entry = entries.select_related("wallet").filter(pk=row.entry_id).first()
            if entry is not None:
                return row, entry
    return None


def _recall(row: Notification) -> Announcement:
    """What was announced, its moment in the home time zone."""
    fields = {name: getattr(row, name) for name in Announcement.__slots__}
    return Announcement(**fields | {"happened_at": timezone.localtime(row.happened_at)})


def _near(member: Member, one: Announcement) -> Any:
    """What was announced of this value, newest first."""
    rows = Notification.objects.owned_by(member)
    return rows.filter(value=one.value, currency=one.currency)


def _existing(member: Member, entry_id: int | None) -> int | None:
    rows = Entry.objects.owned_by(member).filter(pk=entry_id)
    return rows.values_list("pk", flat=True).first()


def _rate_of(refunded: Entry | None, parsed: Parsed) -> Decimal | None:
    """A refund in full is converted as its payment was."""
    if refunded is None or refunded.currency != parsed.currency:
        return None
    return refunded.exchange_rate
