"""Process card notifications: each payment becomes one pending entry.

See spec 4.1, 4.5 and 4.6.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind, ParseResult, Reason, parse_all
from core.db.transactions import retry_on_conflict
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    add_notification,
    fingerprint_of,
    list_of_same_value,
    merge_announcement,
)
from ledger.card_notifications.bank_bookings import (
    captures_bank_texts,
    process_booking,
    read_booking,
)
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.counters import increment_notification_count
from ledger.card_notifications.deduplication import (
    MAX_CANCELLATION_AGE,
    MAX_CLOCK_SKEW,
    PaymentFingerprint,
    build_fingerprint,
    is_cancelled_by,
)
from ledger.card_notifications.follow_ups import (
    is_booking_of_payment,
    is_preliminary_of,
)
from ledger.card_notifications.layouts import (
    count_use,
    list_layouts_of,
    read_as_taught,
)
from ledger.card_notifications.outcomes import Action, IncomingNotification, Outcome
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entries import create_pending_entry, delete_locked_entry
from ledger.entry_data import EntryData
from ledger.locking import lock_ledger
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType, EntryType
from ledger.rates import RateCache, retry_with_rates
from ledger.refunds import link_refund


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a notification, as the taught layouts and the parser read it."""

    parsed: ParseResult
    text: str
    layout_id: int | None = None
    taught_wallet: Wallet | None = None


def read_messages(member: Member, incoming: IncomingNotification) -> list[Message]:
    """Return the messages of a notification, 1 to 20, without storing anything."""
    results = parse_all(
        incoming.text,
        timezone.localtime(incoming.received_at),
        incoming.sender,
        settings.HOME_CURRENCY,
        incoming.title,
    )
    layouts = None
    messages = []
    for parsed in results:
        start, end = parsed.text_span or (0, len(incoming.text))
        message = Message(parsed, incoming.text[start:end])
        if parsed.recognized:
            if layouts is None:
                layouts = list_layouts_of(member, incoming.sender)
            taught = read_as_taught(member, layouts, incoming.text, parsed)
            if taught is not None:
                message = Message(
                    taught.parsed, message.text, taught.layout_id, taught.wallet
                )
        messages.append(message)
    return messages


def parse_notification(member: Member, incoming: IncomingNotification) -> list[Outcome]:
    """Return what each message says, with its wallet, without storing anything."""
    outcomes = []
    is_capturing = None
    for message in read_messages(member, incoming):
        parsed = message.parsed
        if parsed.bank_booking:
            if is_capturing is None:
                is_capturing = captures_bank_texts(member)
            if is_capturing:
                outcomes.append(read_booking(member, parsed))
                continue
        outcome = Outcome(Action.IGNORED, parsed, layout_id=message.layout_id)
        if parsed.kind:
            wallet = _find_wallet(member, incoming, message)
            outcome = replace(outcome, wallet=wallet)
        outcomes.append(replace(outcome, reason=parsed.reason))
    return outcomes


def process_notification(
    member: Member, incoming: IncomingNotification, now: datetime
) -> list[Outcome]:
    """Create or cancel the entry of each payment, unless it is known already.

    Each message is processed in a transaction of its own. Where one fails, the others
    are processed before its error is raised; sent again, they are duplicates.
    """
    outcomes = []
    failure: Exception | None = None
    for message in read_messages(member, incoming):
        try:
            outcomes.append(_process_message(member, incoming, message, now))
        except Exception as error:  # raised below
            failure = failure or error
    if failure is not None:
        raise failure
    return outcomes


def _process_message(
    member: Member, incoming: IncomingNotification, message: Message, now: datetime
) -> Outcome:
    parsed = message.parsed
    if parsed.recognized:
        # A phone may send its notification only once: rather an entry without amount.
        return retry_with_rates(
            partial(_process_payment, member, incoming, message, now), can_wait=False
        )
    booking = parsed.bank_booking
    if booking is not None and captures_bank_texts(member):
        return retry_with_rates(
            partial(process_booking, member, incoming, parsed, booking, now),
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
    message: Message,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    """Process a recognized notification in one transaction, and count it.

    The lock makes it see all earlier ones, so that it finds those of the same payment.
    """
    with transaction.atomic():
        lock_ledger(member)
        outcome = _record_payment(member, incoming, message, now, rates)
        if message.layout_id is not None:
            count_use(member, message.layout_id)
        # Last, since those of all members increment the same few rows.
        increment_notification_count(now, recognized=True)
    return replace(outcome, layout_id=message.layout_id)


def _record_payment(
    member: Member,
    incoming: IncomingNotification,
    message: Message,
    now: datetime,
    rates: RateCache,
) -> Outcome:
    parsed = message.parsed
    fingerprint = build_fingerprint(parsed, timezone.localtime(incoming.received_at))
    known = Payments(list_of_same_value(member, fingerprint))
    matched = _find_wallet(member, incoming, message)
    announcement = Announcement(
        fingerprint, installment_months=parsed.installment_months
    )
    same = known.find(fingerprint) or known.find_first(
        lambda row: is_booking_of_payment(row, fingerprint)
    )
    if same:
        merged = merge_announcement(member, same, announcement, matched, now)
        entry_id = same[0].entry_id
        return Outcome(Action.DUPLICATE, parsed, matched, entry_id, merged=merged)

    is_cancellation = parsed.kind == Kind.CANCELLATION
    refunded: Entry | None = None
    # A partial cancellation is a refund of its own; the approval stays.
    if is_cancellation and not parsed.is_partial:
        found = _find_approval(member, known, fingerprint, parsed.original_date)
        if found is None:
            reason = Reason.NO_MATCHING_APPROVAL
            return Outcome(Action.IGNORED, parsed, matched, reason=reason)
        approval, refunded = found
        known.mark_cancelled(member, approval)
    elif not is_cancellation:
        _replace_preliminary(member, known, fingerprint)
    original = refunded
    if is_cancellation and parsed.is_partial:
        original = _find_partly_cancelled(member, fingerprint, parsed.original_date)

    if refunded is not None and refunded.pending:
        delete_locked_entry(refunded)
        action, entry_id = Action.CANCELLED, None
    else:
        action = Action.REFUND_PENDING if is_cancellation else Action.CREATED
        wallet = matched
        # A refund goes to the wallet that paid.
        if refunded is not None and incoming.wallet is None:
            wallet = refunded.wallet or matched
        data = _build_entry_data(member, parsed, fingerprint, wallet, original)
        entry_id = create_pending_entry(member, data, now, rates)
        announcement = replace(announcement, text=message.text, sender=incoming.sender)
    add_notification(member, replace(announcement, entry_id=entry_id))
    return Outcome(action, parsed, matched, entry_id)


def _find_wallet(
    member: Member, incoming: IncomingNotification, message: Message
) -> Wallet | None:
    """Return the taught wallet, unless the client gave one, else that of the card."""
    given, taught = incoming.wallet, message.taught_wallet
    if taught is not None and (given is None or given.kind == Wallet.Kind.CASH):
        return taught
    return match_wallet(member, message.parsed, given)


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
        wallet=wallet,
        memo=memo,
        currency=parsed.currency,
        original_amount=parsed.original_amount,
        # A refund takes from the expense.
        category_type=CategoryType.EXPENSE.value,
        time=fingerprint.time_of_day,
        source=Entry.Source.NOTIFICATION.value,
    )
    if refunded is not None:
        # A full refund is converted like its payment.
        if refunded.currency == parsed.currency:
            data = replace(data, exchange_rate=refunded.exchange_rate)
        data = link_refund(data, refunded)
    if data.category is None and not data.lines:
        category = suggest_category(member, CategoryType.EXPENSE, memo)
        data = replace(data, category=category, category_type=CategoryType.EXPENSE)
    # Only expenses by credit card have installments (spec 3.2).
    if not is_refund and wallet is not None and wallet.kind == Wallet.Kind.CARD:
        return replace(data, installment_months=parsed.installment_months)
    return data


def _find_approval(
    member: Member,
    known: Payments,
    cancellation: PaymentFingerprint,
    original_date: date | None,
) -> tuple[list[Notification], Entry] | None:
    """Return the notifications of the newest matching approval that has an entry."""
    entries = Entry.objects.owned_by(member).select_related("wallet", "category")
    for rows in known.not_cancelled():
        for row in rows:
            approval = fingerprint_of(row)
            if row.kind == Kind.APPROVAL and is_cancelled_by(
                approval, cancellation, original_date
            ):
                entry = entries.filter(pk=row.entry_id).first()
                if entry is not None:
                    return rows, entry
    return None


def _find_partly_cancelled(
    member: Member, cancellation: PaymentFingerprint, original_date: date | None
) -> Entry | None:
    """Return the entry of the newest approval of which this may be a part."""
    approvals = Notification.objects.owned_by(member).filter(
        kind=Kind.APPROVAL,
        is_cancelled=False,
        currency=cancellation.currency,
        value__gte=cancellation.value,
        happened_at__range=(
            cancellation.happened_at - MAX_CANCELLATION_AGE,
            cancellation.happened_at + MAX_CLOCK_SKEW,
        ),
    )
    entries = Entry.objects.owned_by(member).select_related("wallet", "category")
    for row in approvals.order_by("-happened_at", "-pk"):
        # Of the same value, as a cancellation of the whole would be.
        approval = replace(fingerprint_of(row), value=cancellation.value)
        if is_cancelled_by(approval, cancellation, original_date):
            entry: Entry | None = entries.filter(pk=row.entry_id).first()
            if entry is not None:
                return entry
    return None


def _replace_preliminary(
    member: Member, known: Payments, final: PaymentFingerprint
) -> None:
    """Delete the pending entry of the amount that was reserved for a payment."""
    for rows in known.not_cancelled():
        if any(is_preliminary_of(fingerprint_of(row), final) for row in rows):
            entries = Entry.objects.owned_by(member)
            pending = entries.filter(pk=rows[0].entry_id, pending=True).first()
            if pending is not None:
                known.mark_cancelled(member, rows)
                delete_locked_entry(pending)
                return
