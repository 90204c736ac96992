"""Process card notifications: each payment becomes one pending entry.

See spec 4.1, 4.5 and 4.6.
"""

from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind, ParseResult, Reason, parse
from core.db.rows import fetch_all, prepared_cursor
from core.db.transactions import retry_on_conflict
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
from ledger.locking import lock_ledger
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.rates import RateCache, retry_with_rates

_FINGERPRINT_FIELDS = [field.name for field in fields(PaymentFingerprint)]
_FINGERPRINT_COLUMNS = ", ".join(_FINGERPRINT_FIELDS)
_NOTIFICATIONS_OF_SAME_VALUE = f"""
    SELECT id, member_id, entry_id, is_cancelled, {_FINGERPRINT_COLUMNS}
    FROM account_notification
    WHERE member_id = %s AND value = %s AND currency IS NOT DISTINCT FROM %s
        AND happened_at BETWEEN %s AND %s
    ORDER BY happened_at DESC, id DESC
"""  # noqa: S608  # names of columns
_ADD_NOTIFICATION = f"""
    INSERT INTO account_notification
        (member_id, notif_key, entry_id, is_cancelled, {_FINGERPRINT_COLUMNS})
    VALUES (%s, %s, %s, false, {", ".join(["%s"] * len(_FINGERPRINT_FIELDS))})
"""  # noqa: S608  # names of columns


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
    """The effect of a notification, its entry, and why it was ignored.

    `wallet` is that of the card which the text names. The entry of a duplicate may have
    been deleted since.
    """

    action: Action
    parsed: ParseResult
    wallet: Wallet | None = None
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
    if parsed.recognized:
        # A phone may send its notification only once: rather an entry without amount.
        return retry_with_rates(
            lambda rates: _process_payment(member, incoming, parsed, now, rates),
            can_wait=False,
        )
    increment_notification_count(now, recognized=False)
    # A declined payment names a card too.
    wallet = match_wallet(member, parsed, incoming.wallet) if parsed.kind else None
    return Outcome(Action.IGNORED, parsed, wallet, reason=parsed.reason)


@retry_on_conflict
def _process_payment(
    member: Member,
    incoming: IncomingNotification,
    parsed: ParseResult,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Process a recognized notification in one transaction, and count it.

    The lock makes it see all earlier ones, so that it finds those of the same payment.
    """
    with transaction.atomic():
        lock_ledger(member)
        outcome = _record_payment(member, incoming, parsed, now, rates)
        # Last, since those of all members increment the same few rows.
        increment_notification_count(now, recognized=True)
    return outcome


def _record_payment(
    member: Member,
    incoming: IncomingNotification,
    parsed: ParseResult,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    fingerprint = build_fingerprint(parsed, timezone.localtime(incoming.received_at))
    known = _list_of_same_value(member, fingerprint)
    matched = match_wallet(member, parsed, incoming.wallet)
    for earlier in known:
        if is_same_payment(fingerprint, _fingerprint_of(earlier)):
            return Outcome(Action.DUPLICATE, parsed, matched, earlier.entry_id)

    is_cancellation = parsed.kind == Kind.CANCELLATION
    refunded: Entry | None = None
    # A partial cancellation is a refund of its own; the approval stays.
    if is_cancellation and not parsed.is_partial:
        found = _find_approval(member, known, fingerprint, parsed.original_date)
        if found is None:
            reason = Reason.NO_MATCHING_APPROVAL
            return Outcome(Action.IGNORED, parsed, matched, reason=reason)
        approval, refunded = found
        approval.is_cancelled = True
        approval.save(update_fields=["is_cancelled"])

    if refunded is not None and refunded.pending:
        delete_locked_entry(refunded)
        action, entry_id = Action.CANCELLED, None
    else:
        action = Action.REFUND_PENDING if is_cancellation else Action.CREATED
        wallet = matched
        # A refund goes to the wallet that paid.
        if refunded is not None and incoming.wallet is None:
            wallet = refunded.wallet or matched
        data = _build_entry_data(member, parsed, fingerprint, wallet, refunded)
        entry_id = create_pending_entry(member, data, now, rates)
    # The unique key is a second guard against duplicates.
    values = [getattr(fingerprint, name) for name in _FINGERPRINT_FIELDS]
    with prepared_cursor() as cursor:
        key = deduplication_key(fingerprint)
        cursor.execute(_ADD_NOTIFICATION, [member.pk, key, entry_id, *values])
    return Outcome(action, parsed, matched, entry_id)


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
    member: Member, payment: PaymentFingerprint
) -> list[Notification]:
    """Return the notifications that it may repeat or cancel, newest first."""
    earlier, later = DEDUPLICATION_WINDOW, DEDUPLICATION_WINDOW
    if payment.kind == Kind.CANCELLATION:
        earlier, later = MAX_CANCELLATION_AGE, MAX_CLOCK_SKEW
    since, until = payment.happened_at - earlier, payment.happened_at + later
    params = [member.pk, payment.value, payment.currency, since, until]
    return fetch_all(_NOTIFICATIONS_OF_SAME_VALUE, params, Notification)


def _find_approval(
    member: Member,
    known: list[Notification],
    cancellation: PaymentFingerprint,
    original_date: date | None,
) -> tuple[Notification, Entry] | None:
    """Return the newest matching approval that has an entry."""
    entries = Entry.objects.owned_by(member).select_related("wallet")
    for approval in known:
        if approval.kind != Kind.APPROVAL or approval.is_cancelled:
            continue
        if is_cancelled_by(_fingerprint_of(approval), cancellation, original_date):
            entry = entries.filter(pk=approval.entry_id).first()
            if entry is not None:
                return approval, entry
    return None


def _fingerprint_of(notification: Notification) -> PaymentFingerprint:
    """Return the stored fingerprint, with its time in the home time zone."""
    values = {name: getattr(notification, name) for name in _FINGERPRINT_FIELDS}
    values["happened_at"] = timezone.localtime(notification.happened_at)
    return PaymentFingerprint(**values)
