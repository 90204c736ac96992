"""Process card notifications: each payment becomes one pending entry.

See spec 4.1, 4.5 and 4.6.
"""

from dataclasses import asdict, dataclass, fields, replace
from datetime import date, datetime
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind, ParseResult, Reason, parse
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
from ledger.entries import EntryData, create_pending_entry, delete_locked_entry
from ledger.locking import lock_ledger_shared, lock_notifications
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.rates import RateCache, retry_with_rates

_FINGERPRINT_FIELDS = [field.name for field in fields(PaymentFingerprint)]


class Action(StrEnum):
    """The effect of a notification; the values are those of spec 4.1."""

    CREATED = "CREATED"
    DUPLICATE = "DUPLICATE"
    CANCELLED = "CANCELLED"
    REFUND_PENDING = "REFUND_PENDING"
    IGNORED = "IGNORED"


@dataclass(frozen=True, slots=True)
class IncomingNotification:
    """A notification as it was received; `wallet` is the one that the client chose."""

    text: str
    received_at: datetime
    sender: str = ""
    wallet: Wallet | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of a notification, its entry, and why it was ignored."""

    action: Action
    parsed: ParseResult
    entry_id: int | None = None
    reason: Reason | None = None


def parse_notification(incoming: IncomingNotification) -> ParseResult:
    """Parse the text without storing anything."""
    return parse(
        incoming.text,
        timezone.localtime(incoming.received_at),
        incoming.sender,
        settings.HOME_CURRENCY,
    )


def process_notification(
    member: Member, incoming: IncomingNotification, now: datetime
) -> Outcome:
    """Create or cancel the entry of a payment, unless the payment is known already."""
    parsed = parse_notification(incoming)
    increment_notification_count(now, recognized=parsed.recognized)
    if not parsed.recognized:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    return retry_with_rates(
        lambda rates: _process_payment(member, incoming, parsed, now, rates)
    )


def _process_payment(
    member: Member,
    incoming: IncomingNotification,
    parsed: ParseResult,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Process a recognized notification in one transaction."""
    fingerprint = build_fingerprint(parsed, timezone.localtime(incoming.received_at))
    with transaction.atomic():
        lock_ledger_shared(member)
        lock_notifications(member)
        duplicate = _find_duplicate(member, fingerprint)
        if duplicate is not None:
            # The entry may have been deleted since.
            entries = Entry.objects.owned_by(member).filter(pk=duplicate.entry_id)
            entry_id = entries.values_list("pk", flat=True).first()
            return Outcome(Action.DUPLICATE, parsed, entry_id)

        is_cancellation = parsed.kind == Kind.CANCELLATION
        refunded: Entry | None = None
        # A partial cancellation is a refund of its own; the approval stays.
        if is_cancellation and not parsed.is_partial:
            found = _find_approval(member, fingerprint, parsed.original_date)
            if found is None:
                reason = Reason.NO_MATCHING_APPROVAL
                return Outcome(Action.IGNORED, parsed, reason=reason)
            approval, refunded = found
            approval.is_cancelled = True
            approval.save(update_fields=["is_cancelled"])

        if refunded is not None and refunded.pending:
            delete_locked_entry(refunded)
            action, entry_id = Action.CANCELLED, None
        else:
            action = Action.REFUND_PENDING if is_cancellation else Action.CREATED
            wallet = match_wallet(member, parsed, incoming.wallet)
            # A refund goes to the wallet that paid.
            if refunded is not None and incoming.wallet is None:
                wallet = refunded.wallet or wallet
            data = _build_entry_data(member, parsed, fingerprint, wallet, refunded)
            entry_id = create_pending_entry(member, data, now, rates)
        # The unique key is a second guard against duplicates.
        Notification.objects.create(
            member=member,
            notif_key=deduplication_key(fingerprint),
            entry_id=entry_id,
            **asdict(fingerprint),
        )
        return Outcome(action, parsed, entry_id)


def _build_entry_data(
    member: Member,
    parsed: ParseResult,
    fingerprint: PaymentFingerprint,
    wallet: Wallet | None,
    refunded: Entry | None,
) -> EntryData:
    """Return an expense, or an income for a cancellation."""
    is_refund = parsed.kind == Kind.CANCELLATION
    type_ = EntryType.INCOME if is_refund else EntryType.EXPENSE
    memo = (parsed.merchant or "")[:MAX_MEMO_LENGTH]
    data = EntryData(
        date=parsed.occurred_on or fingerprint.happened_at.date(),
        type=type_,
        amount=parsed.amount,
        category=suggest_category(member, type_, memo),
        wallet=wallet,
        memo=memo,
        currency=parsed.currency,
        original_amount=parsed.original_amount,
    )
    # A full refund is converted like its payment.
    if refunded is not None and refunded.currency == parsed.currency:
        return replace(data, exchange_rate=refunded.exchange_rate)
    # Only expenses by credit card have installments (spec 3.2).
    if not is_refund and wallet is not None and wallet.kind == Wallet.Kind.CARD:
        return replace(data, installment_months=parsed.installment_months)
    return data


def _list_of_same_value(
    member: Member, fingerprint: PaymentFingerprint
) -> "QuerySet[Notification]":
    """Return the earlier notifications of this value, newest first."""
    return Notification.objects.owned_by(member).filter(
        value=fingerprint.value, currency=fingerprint.currency
    )


def _find_duplicate(
    member: Member, fingerprint: PaymentFingerprint
) -> Notification | None:
    """Return an earlier notification of the same payment or cancellation."""
    notifications = _list_of_same_value(member, fingerprint).filter(
        happened_at__range=(
            fingerprint.happened_at - DEDUPLICATION_WINDOW,
            fingerprint.happened_at + DEDUPLICATION_WINDOW,
        )
    )
    return next(
        (
            notification
            for notification in notifications
            if is_same_payment(fingerprint, _fingerprint_of(notification))
        ),
        None,
    )


def _find_approval(
    member: Member, cancellation: PaymentFingerprint, original_date: date | None
) -> tuple[Notification, Entry] | None:
    """Return the newest matching approval that has an entry; lock the entry."""
    approvals = _list_of_same_value(member, cancellation).filter(
        kind=Kind.APPROVAL,
        is_cancelled=False,
        happened_at__range=(
            cancellation.happened_at - MAX_CANCELLATION_AGE,
            cancellation.happened_at + MAX_CLOCK_SKEW,
        ),
    )
    entries = Entry.objects.owned_by(member).select_related("wallet")
    for approval in approvals:
        if is_cancelled_by(_fingerprint_of(approval), cancellation, original_date):
            # NO KEY UPDATE, since rows that refer to the entry may still be written.
            locked = entries.select_for_update(no_key=True, of=("self",))
            entry = locked.filter(pk=approval.entry_id).first()
            if entry is not None:
                return approval, entry
    return None


def _fingerprint_of(notification: Notification) -> PaymentFingerprint:
    """Return the stored fingerprint, with its time in the home time zone."""
    values = {name: getattr(notification, name) for name in _FINGERPRINT_FIELDS}
    values["happened_at"] = timezone.localtime(notification.happened_at)
    return PaymentFingerprint(**values)
