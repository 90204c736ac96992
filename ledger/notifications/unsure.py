"""Texts that are likely no payment: kept, listed and booked (spec 4.13)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.utils import timezone

from accounts.models import Member
from card_alerts import Doubt, Kind, ParseResult, Reason
from core.api.pagination import PageRequest
from core.errors import DuplicateError, NotFoundError
from core.sealing import UnsealingError, seal, unseal
from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EntryShape
from ledger.models import UnsureText, Wallet
from ledger.models.base import EntryType
from ledger.notifications.message import Message
from ledger.notifications.wallets import KnownWallet, choose_card
from ledger.notifications.would_be import (
    dump_payment,
    has_value,
    load_payment,
    move_to_message,
)
from ledger.taught_layouts.doubts import without_doubt

logger = logging.getLogger(__name__)

MAX_UNSURE_TEXTS = 200
LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class KeptText:
    """A kept text and its payment; `message` is None if no key opens it."""

    id: int
    created_at: datetime
    message: Message | None
    reason: str = ""


def read_would_be(message: Message) -> Message | None:
    """Return the payment that an ignored message would be; None if it is surely none.

    Its parts are of the message, not of a text of several.
    """
    would_be = message.parsed.would_be
    is_ignored = not message.parsed.recognized and message.booking is None
    if would_be is None or not is_ignored or not has_value(would_be):
        return None
    start = message.parsed.text_span[0] if message.parsed.text_span else 0
    return replace(message, parsed=move_to_message(would_be, start))


def find_reason(parsed: ParseResult) -> Reason:
    return parsed.reason or Reason.UNSURE


def keep_text(ledger: LockedLedger, message: Message, now: datetime) -> int | None:
    """Store a text that would be a payment, once; return its id, None for any other.

    The oldest text makes room.
    """
    payment = read_would_be(message)
    if payment is None:
        return None
    rows = UnsureText.objects.owned_by(ledger.member)
    rows.filter(created_at__lt=now - LIFETIME).delete()
    key = payment.fingerprint.key
    known: int | None = rows.filter(notif_key=key).values_list("pk", flat=True).first()
    if known is not None:
        return known
    waiting = rows.filter(is_booked=False)
    newest = waiting.order_by("-id").values_list("pk", flat=True)
    rows.filter(pk__in=list(newest[MAX_UNSURE_TEXTS - 1 :])).delete()
    row = UnsureText(member=ledger.member, notif_key=key, created_at=now)
    given = message.given_wallet
    plain = {
        "text": payment.text,
        "sender": payment.sender,
        "receivedAt": payment.received_at,
        "reason": find_reason(message.parsed),
        "walletId": given.id if given else None,
        "payment": dump_payment(payment.parsed),
    }
    row.sealed = seal(orjson.dumps(plain), row.sealing_context)
    row.save(force_insert=True)
    return int(row.pk)


def list_texts(
    member: Member, page: PageRequest, now: datetime
) -> tuple[int, Sequence[KeptText]]:
    """Return the number of texts that wait for an answer, and a page, newest first."""
    rows = UnsureText.objects.owned_by(member).order_by("-id")
    rows = rows.filter(created_at__gte=now - LIFETIME, is_booked=False)
    return rows.count(), [_open(row) for row in page.slice_rows(rows)]


def take_text(ledger: LockedLedger, text_id: int, now: datetime) -> Message:
    """Return the payment of a text, and mark it as booked.

    Raises `NotFoundError`, and `DuplicateError` the second time.
    """
    rows = UnsureText.objects.owned_by(ledger.member).filter(pk=text_id)
    row = rows.filter(created_at__gte=now - LIFETIME).first()
    if row is None:
        raise NotFoundError
    if row.is_booked:
        raise DuplicateError
    message = _open(row).message
    if message is None:
        raise NotFoundError
    rows.update(is_booked=True, sealed=None)
    given = message.given_wallet
    if given is not None:
        wallet = Wallet.objects.owned_by(ledger.member).filter(pk=given.id).first()
        given = KnownWallet(wallet.pk, wallet.kind, wallet.name) if wallet else None
    # The member has said that it is a payment.
    parsed = without_doubt(message.parsed, Doubt.KIND)
    return replace(message, parsed=parsed, given_wallet=given, is_asserted=True)


def _open(row: UnsureText) -> KeptText:
    try:
        plain = orjson.loads(unseal(row.sealed or b"", row.sealing_context))
    except UnsealingError:
        logger.error("unsure text %s cannot be decrypted", row.pk)
        return KeptText(row.pk, row.created_at, None)
    given = plain["walletId"]
    message = Message(
        load_payment(plain["payment"]),
        timezone.localtime(datetime.fromisoformat(plain["receivedAt"])),
        plain["text"],
        plain["sender"],
        KnownWallet(given) if given is not None else None,
    )
    return KeptText(row.pk, row.created_at, message, plain["reason"])


def would_be_payload(payment: Message, cards: Sequence[KnownWallet]) -> dict[str, Any]:
    """Return the entry that a text would have been; `cards` are the member's."""
    wallet = choose_card(payment.parsed, cards, *payment.wallets)
    is_approval = payment.parsed.kind is Kind.APPROVAL
    type_ = EntryType.EXPENSE if is_approval else EntryType.INCOME
    shape: EntryShape = payment.make_entry(type_, wallet.id if wallet else None)
    return {
        "type": shape.type,
        "date": shape.date,
        "time": shape.time.strftime("%H:%M") if shape.time else None,
        "amount": shape.amount,
        "currency": shape.currency,
        "originalAmount": shape.original_amount,
        "memo": shape.memo,
        "walletId": shape.wallet,
    }
