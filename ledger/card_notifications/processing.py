"""Taking notifications in: each payment becomes one pending entry, once.

See spec 4.1, 4.5, 4.6. A member's
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
from card_alerts.result import Kind, ParseResult, Reason
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.counters import increment_notification_count
from ledger.card_notifications.deduplication import (
    DEDUPLICATION_WINDOW,
    MAX_CANCELLATION_AGE,
    MAX_CLOCK_SKEW,
    PaymentFingerprint,
    build_fingerprint,
    deduplication_key,
    is_cancelled_by,
    is_same_payment,
)
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entries import EntryData, create_pending_entry
from ledger.locking import lock_ledger_shared, lock_notifications
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.rates import RateCache, retry_with_rates


class Action(StrEnum):
    """What became of a notification; the values are those of spec 4.1."""

    CREATED = "CREATED"
    DUPLICATE = "DUPLICATE"
    CANCELLED = "CANCELLED"
    REFUND_PENDING = "REFUND_PENDING"
    IGNORED = "IGNORED"


@dataclass(frozen=True, slots=True)
class IncomingNotification:
    """A notification as it came; `received_at` is in the home time zone."""

    text: str
    received_at: datetime
    sender: str = ""
    wallet: Wallet | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, the entry that tells of it, and why nothing was recorded."""

    action: Action
    parsed: ParseResult
    entry_id: int | None = None
    reason: Reason | None = None


def parse_notification(received: IncomingNotification) -> ParseResult:
    """What the text says; nothing is stored."""
    return parse(
        received.text,
        timezone.localtime(received.received_at),
        received.sender,
        settings.HOME_CURRENCY,
    )


def process_notification(
    member: Member, received: IncomingNotification, now: datetime
) -> Outcome:
    """Create, cancel or ignore; the same payment announced again is a duplicate."""
    parsed = parse_notification(received)
    increment_notification_count(now, recognised=parsed.recognized)
    if not parsed.recognized:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    return retry_with_rates(
        lambda rates: _NotificationProcessor(
            member, received, parsed, now, rates
        ).process()
    )


class _NotificationProcessor:
    """One attempt to take a notification in, in one transaction."""

    def __init__(
        self,
        member: Member,
        received: IncomingNotification,
        parsed: ParseResult,
        now: datetime,
        rates: RateCache,
    ) -> None:
        self.member, self.received, self.parsed = member, received, parsed
        self.now, self.rates = now, rates
        self.fingerprint = build_fingerprint(
            parsed, timezone.localtime(received.received_at)
        )

    def process(self) -> Outcome:
        with transaction.atomic():
            lock_ledger_shared(self.member)
            lock_notifications(self.member)
            if known := _find_duplicate(self.member, self.fingerprint):
                entry_id = _existing_entry_id(self.member, known.entry_id)
                return Outcome(Action.DUPLICATE, self.parsed, entry_id)
            if self.parsed.kind == Kind.CANCELLATION:
                return self._cancel()
            entry_id = self._create_pending_entry(EntryType.EXPENSE)
            self._save_notification(entry_id)
            return Outcome(Action.CREATED, self.parsed, entry_id)

    def _cancel(self) -> Outcome:
        """A pending entry goes; a confirmed one, or a part, becomes a refund."""
        if self.parsed.is_partial:
            return self._create_refund(None)
        found = _find_approval(self.member, self.fingerprint, self.parsed.original_date)
        if found is None:
            reason = Reason.NO_MATCHING_APPROVAL
            return Outcome(Action.IGNORED, self.parsed, reason=reason)
        approval, entry = found
        approval.is_cancelled = True
        approval.save(update_fields=["is_cancelled"])
        if not entry.pending:
            return self._create_refund(entry)
        entry.delete()
        self._save_notification(None)
        return Outcome(Action.CANCELLED, self.parsed)

    def _create_refund(self, entry: Entry | None) -> Outcome:
        entry_id = self._create_pending_entry(EntryType.INCOME, entry)
        self._save_notification(entry_id)
        return Outcome(Action.REFUND_PENDING, self.parsed, entry_id)

    def _create_pending_entry(
        self, type_: EntryType, refunded: Entry | None = None
    ) -> int:
        """The pending entry; a refund goes back to the wallet that paid."""
        parsed = self.parsed
        wallet = match_wallet(self.member, parsed, self.received.wallet)
        if refunded is not None and self.received.wallet is None:
            wallet = refunded.wallet or wallet
        by_card = wallet is not None and wallet.kind == Wallet.Kind.CARD
        merchant = (parsed.merchant or "")[:MAX_MEMO_LENGTH]
        draft = EntryData(
            date=self._entry_date(),
            type=type_,
            amount=parsed.amount,
            category=suggest_category(self.member, type_, merchant),
            wallet=wallet,
            memo=merchant,
            currency=parsed.currency,
            original_amount=parsed.original_amount,
            exchange_rate=_refund_rate(refunded, parsed),
            installment_months=(
                parsed.installment_months
                if by_card and type_ == EntryType.EXPENSE
                else None
            ),
        )
        return create_pending_entry(self.member, draft, self.now, self.rates)

    def _entry_date(self) -> date:
        """The printed day, else that of the receipt."""
        return self.parsed.occurred_on or self.fingerprint.happened_at.date()

    def _save_notification(self, entry_id: int | None) -> None:
        one = self.fingerprint
        Notification.objects.create(
            member=self.member,
            notif_key=deduplication_key(one),
            entry_id=entry_id,
            **{name: getattr(one, name) for name in PaymentFingerprint.__slots__},
        )


def _find_duplicate(member: Member, one: PaymentFingerprint) -> Notification | None:
    rows = _list_candidates(member, one).filter(
        happened_at__range=(
            one.happened_at - DEDUPLICATION_WINDOW,
            one.happened_at + DEDUPLICATION_WINDOW,
        )
    )
    return next(
        (row for row in rows if is_same_payment(one, _to_fingerprint(row))), None
    )


def _find_approval(
    member: Member, one: PaymentFingerprint, original_date: date | None
) -> tuple[Notification, Entry] | None:
    """The newest approval that fits and whose entry is still there."""
    rows = _list_candidates(member, one).filter(
        kind=Kind.APPROVAL,
        is_cancelled=False,
        happened_at__range=(
            one.happened_at - MAX_CANCELLATION_AGE,
            one.happened_at + MAX_CLOCK_SKEW,
        ),
    )
    entries = Entry.objects.owned_by(member).select_for_update(
        no_key=True, of=("self",)
    )
    for row in rows:
        if is_cancelled_by(_to_fingerprint(row), one, original_date):
            entry = entries.select_related("wallet").filter(pk=row.entry_id).first()
            if entry is not None:
                return row, entry
    return None


def _to_fingerprint(row: Notification) -> PaymentFingerprint:
    """What was announced, its moment in the home time zone."""
    fields = {name: getattr(row, name) for name in PaymentFingerprint.__slots__}
    return PaymentFingerprint(
        **fields | {"happened_at": timezone.localtime(row.happened_at)}
    )


def _list_candidates(member: Member, one: PaymentFingerprint) -> Any:
    """What was announced of this value, newest first."""
    rows = Notification.objects.owned_by(member)
    return rows.filter(value=one.value, currency=one.currency)


def _existing_entry_id(member: Member, entry_id: int | None) -> int | None:
    rows = Entry.objects.owned_by(member).filter(pk=entry_id)
    return rows.values_list("pk", flat=True).first()


def _refund_rate(refunded: Entry | None, parsed: ParseResult) -> Decimal | None:
    """A refund in full is converted as its payment was."""
    if refunded is None or refunded.currency != parsed.currency:
        return None
    return refunded.exchange_rate
