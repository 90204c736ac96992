"""Process card notifications: each payment becomes one pending entry.

See spec 4.1, 4.5 and 4.6.
"""

from dataclasses import replace
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from card_alerts import parse_all
from core.db.transactions import retry_on_conflict
from ledger.card_notifications.announcements import Payments, list_of_same_value
from ledger.card_notifications.bank_bookings import (
    captures_bank_texts,
    process_booking,
    read_booking,
)
from ledger.card_notifications.counters import increment_notification_count
from ledger.card_notifications.deduplication import build_fingerprint
from ledger.card_notifications.layouts import (
    count_use,
    list_layouts_of,
    read_as_taught,
)
from ledger.card_notifications.outcomes import (
    Action,
    IncomingNotification,
    Message,
    Outcome,
    settle_outcomes,
)
from ledger.card_notifications.payment_intake import PaymentIntake, record_payment
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.locking import lock_ledger
from ledger.models import Wallet
from ledger.rates import RateCache, retry_with_rates


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
    return settle_outcomes(outcomes)


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
        fingerprint = build_fingerprint(
            message.parsed, timezone.localtime(incoming.received_at)
        )
        intake = PaymentIntake(
            member=member,
            message=message,
            fingerprint=fingerprint,
            known=Payments(list_of_same_value(member, fingerprint)),
            wallet=_find_wallet(member, incoming, message),
            given_wallet=incoming.wallet,
            sender=incoming.sender,
            now=now,
            rates=rates,
        )
        outcome = record_payment(intake)
        if message.layout_id is not None:
            count_use(member, message.layout_id)
        # Last, since those of all members increment the same few rows.
        increment_notification_count(now, recognized=True)
    return replace(outcome, layout_id=message.layout_id)


def _find_wallet(
    member: Member, incoming: IncomingNotification, message: Message
) -> Wallet | None:
    """Return the taught wallet, unless the client gave one, else that of the card."""
    given, taught = incoming.wallet, message.taught_wallet
    if taught is not None and (given is None or given.kind == Wallet.Kind.CASH):
        return taught
    return match_wallet(member, message.parsed, given)
