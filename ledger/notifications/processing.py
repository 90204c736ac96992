"""Process card notifications: each payment becomes one pending entry (spec 4.1)."""

import random
from dataclasses import replace
from datetime import datetime
from functools import partial

from django.conf import settings
from django.utils import timezone

from accounts.models import Member
from card_alerts import Doubt, parse_all
from core.db.rows import prepared_cursor
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.entries.merges import merge_entries
from ledger.entries.writing import delete_entry
from ledger.models import Ledger, Wallet
from ledger.notifications.accounts import load_account
from ledger.notifications.decide import decide_booking, decide_payment
from ledger.notifications.execute import (
    complete_pending_entry,
    create_pending_entry,
    unmerge_bookings,
    write_rows,
)
from ledger.notifications.imported import adopt_entry
from ledger.notifications.known import Known, load_known
from ledger.notifications.message import Message
from ledger.notifications.plan import (
    Action,
    CompleteEntry,
    CreateEntry,
    DeleteEntry,
    MergeEntries,
    Outcome,
    Plan,
    StoreRow,
    UnmergeEntry,
    UpdateRows,
)
from ledger.notifications.unsure import find_reason, keep_text, read_would_be
from ledger.notifications.wallets import (
    CARD_KINDS,
    KnownWallet,
    can_be_same_card,
    compute_balance_difference,
    load_wallets,
    match_wallet,
)
from ledger.notifications.would_be import move_to_message
from ledger.taught_layouts.doubts import without_doubt
from ledger.taught_layouts.learning import digest_text, is_confirmed_layout
from ledger.taught_layouts.reading import (
    TaughtReading,
    count_use,
    list_layouts_of,
    read_as_taught,
)

# A day's count is spread over rows, to avoid a hot row.
NOTIFICATION_SHARDS = 16

_INCREMENT_COUNT = """
    INSERT INTO notification_count AS stored (day, is_recognized, shard, count)
    VALUES (%s, %s, %s, 1)
    ON CONFLICT (day, is_recognized, shard)
    DO UPDATE SET count = stored.count + 1
"""


def read_messages(
    member: Member,
    now: datetime,
    *,
    text: str,
    received_at: datetime | None = None,
    sender: str | None = None,
    title: str | None = None,
    wallet: Wallet | None = None,
) -> list[Message]:
    """Return 1 to 20 messages; `wallet` is the client's choice."""
    received_at, sender = timezone.localtime(received_at or now), sender or ""
    results = parse_all(text, received_at, sender, settings.HOME_CURRENCY, title or "")
    given = KnownWallet(wallet.pk, wallet.kind, wallet.name) if wallet else None
    layouts = list_layouts_of(member, sender)
    is_capturing = None
    messages = []
    for parsed in results:
        start, end = parsed.text_span or (0, len(text))
        message = Message(parsed, received_at, text[start:end], sender, given)
        if parsed.bank_booking is not None:
            if is_capturing is None:
                is_capturing = captures_bank_texts(member)
            message = replace(message, is_captured=is_capturing)
        digest = _digest(message, start)
        message = replace(message, layout_digest=digest)
        is_confirmed = partial(is_confirmed_layout, member, digest)
        if parsed.recognized and Doubt.KIND in parsed.doubts and is_confirmed():
            parsed = without_doubt(parsed, Doubt.KIND)
        taught = read_as_taught(
            layouts, text, parsed, received_at, sender, is_confirmed
        )
        messages.append(_apply_taught(message, taught))
    return messages


def _digest(message: Message, start: int) -> str | None:
    """Return the digest of the layout; `start` is where the message begins."""
    in_message = move_to_message(message.parsed, start)
    return digest_text(message.text, message.sender, in_message)


def _apply_taught(message: Message, taught: TaughtReading) -> Message:
    message, layout = replace(message, parsed=taught.parsed), taught.layout
    if layout is None:
        return message
    message = replace(message, layout_id=layout.id)
    hint = taught.parsed.card_hint
    if layout.wallet_id is None or not can_be_same_card(layout.card_hint, hint):
        return message
    own = KnownWallet(layout.wallet_id, layout.wallet_kind)
    return replace(message, taught_wallet=own)


def parse_message(member: Member, message: Message) -> Outcome:
    """Return the wallet of a message and its likely outcome; write nothing."""
    parsed, booking, wallet = message.parsed, message.booking, None
    if booking is None:
        if parsed.kind:
            wallet = match_wallet(member, parsed, *message.wallets)
        return Outcome(
            Action.IGNORED,
            parsed,
            wallet,
            reason=None if parsed.recognized else find_reason(parsed),
            layout_id=message.layout_id,
            would_be=read_would_be(message),
        )
    found = load_account(member, booking)
    if found is None:
        return Outcome(Action.IGNORED, parsed, reason=parsed.reason)
    account, own_move, reason = found.wallet, found.own_move, None
    if own_move and (booking.currency is not None or own_move.other is None):
        reason = own_move.reason
    return Outcome(
        Action.IGNORED if reason else Action.CREATED,
        parsed,
        account,
        reason=reason,
        is_captured=True,
        balance_difference=compute_balance_difference(member, booking, account),
    )


def ignore_message(member: Member, message: Message, now: datetime) -> Outcome | None:
    """Count an unrecognized message; return None for all others."""
    is_ignored = not message.parsed.recognized and message.booking is None
    if not is_ignored or message.layout_id is not None:
        return None
    if read_would_be(message) is not None:
        return None
    increment_notification_count(now, recognized=False)
    # A declined payment names a card too.
    return parse_message(member, message)


# A phone may send its notification only once: an entry without amount is better than an
# error.
@ledger_write(attempt=ignore_message, can_wait_for_rates=False)
def process_message(ledger: LockedLedger, message: Message, now: datetime) -> Outcome:
    """Process a payment, or a booking on an account of the member; count it."""
    member, booking, difference = ledger.member, message.booking, None
    bill_cards: tuple[int, ...] = ()
    if not message.parsed.recognized and booking is None:
        count_use(ledger, message.layout_id)
        text_id = keep_text(ledger, message, now)
        increment_notification_count(now, recognized=False)
        return replace(parse_message(member, message), text_id=text_id)
    # Load and decide.
    if booking is None:
        wallet = match_wallet(member, message.parsed, *message.wallets)
        known = load_known(member, message.fingerprint)
        message = _with_cards(member, message, known)
        plan = decide_payment(known, message, wallet)
    elif found := load_account(member, booking):
        wallet, own_move, bill_cards = found
        difference = compute_balance_difference(member, booking, wallet)
        known = load_known(member, message.fingerprint)
        message = _with_cards(member, message, known)
        plan = decide_booking(known, message, wallet, own_move)
    else:
        increment_notification_count(now, recognized=False)
        reason = message.parsed.reason
        return Outcome(Action.IGNORED, message.parsed, reason=reason)
    plan, created_id = adopt_entry(ledger, plan, bill_cards, now)
    created_id = _execute(ledger, plan, created_id, now)
    count_use(ledger, message.layout_id)
    # The counter comes last: all members share these rows.
    increment_notification_count(now, recognized=True)
    return plan.answer(message, wallet, created_id, difference)


def _execute(ledger: LockedLedger, plan: Plan, created_id: int, now: datetime) -> int:
    """Write the steps of a plan; return the id of the entry that it created."""
    for step in plan.steps:
        match step:
            case CreateEntry():
                created_id = create_pending_entry(ledger, step, now)
            case DeleteEntry(entry_id):
                delete_entry.within(ledger, entry_id)
            case CompleteEntry():
                complete_pending_entry(ledger, step, now)
            case MergeEntries(entry_id):
                merge_entries.within(ledger, entry_id, created_id, now)
            case UnmergeEntry(entry_id):
                unmerge_bookings(ledger, entry_id, now)
            case StoreRow() | UpdateRows():
                write_rows(ledger, step, created_id)
    return created_id


def _with_cards(member: Member, message: Message, known: Known) -> Message:
    """Read the cards among which all announcements of a payment choose together."""
    key = message.fingerprint.key
    if not known.rows or any(row.fingerprint.key == key for row in known.rows):
        return message
    return replace(message, cards=tuple(load_wallets(member, CARD_KINDS)))


def increment_notification_count(now: datetime, *, recognized: bool) -> None:
    shard = random.randrange(NOTIFICATION_SHARDS)  # noqa: S311  # not a secret
    with prepared_cursor() as cursor:
        cursor.execute(_INCREMENT_COUNT, [timezone.localdate(now), recognized, shard])


def captures_bank_texts(member: Member) -> bool:
    rows = Ledger.objects.owned_by(member)
    # The row is missing if the member has just left.
    return bool(rows.values_list("captures_bank_texts", flat=True).first())


@ledger_write
def set_captures_bank_texts(ledger: LockedLedger, is_on: bool) -> None:
    Ledger.objects.owned_by(ledger.member).update(captures_bank_texts=is_on)
