"""Teaching of a text by its marked parts (spec 4.11)."""

import re
from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

from card_alerts import (
    Kind,
    ParseResult,
    Span,
    learn_layout,
    learn_whole_layout,
    parse,
    read_taught_payment,
)
from core.errors import DomainError, FieldError, InvalidFieldError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import LayoutKind, TaughtLayout, Wallet
from ledger.taught_layouts.storing import (
    normalize_sender,
    store_layout,
    take_out_layouts,
)

_NUMBER = re.compile(r"\d{1,20}+(?:[,.]\d{1,20}+){0,6}")
CARD_HINT = "cardHint"


@ledger_write
def teach_layout(
    ledger: LockedLedger,
    text: str,
    sender: str,
    kind: str,
    slots: Mapping[str, Span],
    now: datetime,
    wallet: Wallet | None = None,
) -> TaughtLayout:
    """Store the layout of a text; `slots` are code points of it.

    Earlier layouts of such texts are replaced. Raises `InvalidFieldError` for
    parts that do not fit, and for a text with too little that would be repeated.
    """
    is_payment = kind != LayoutKind.NONE
    slots = check_slots(text, slots) if is_payment else {}
    layout = learn_layout(text, slots) if is_payment else learn_whole_layout(text)
    if layout is None:
        raise InvalidFieldError(
            "text",
            gettext("Other texts could not be told from it: mark less, or use more."),
            "invalid",
        )
    received_at = timezone.localtime(now)
    parsed = parse(text, received_at, sender, settings.HOME_CURRENCY)
    if is_payment and not _is_readable(parsed, text, kind, slots, received_at):
        raise InvalidFieldError(
            "slots.amount", gettext("Its currency is not known."), "invalid"
        )
    hint = slots.get(CARD_HINT)
    # Two cards of an issuer have one layout.
    card_hint = text[hint[0] : hint[1]] if hint else _find_card_hint(parsed)
    key = normalize_sender(sender)
    take_out_layouts(ledger, text, key)
    return store_layout(
        ledger,
        layout,
        key,
        now,
        kind=kind,
        is_complete=True,
        wallet_id=wallet.pk if wallet and is_payment else None,
        card_hint=card_hint if wallet else None,
    )


def _is_readable(
    parsed: ParseResult,
    text: str,
    kind: str,
    slots: Mapping[str, Span],
    received_at: datetime,
) -> bool:
    """Return False for an amount in a currency that is not read: none is guessed."""
    home = settings.HOME_CURRENCY
    payment = read_taught_payment(
        parsed, text, Kind(kind), slots, received_at, home_currency=home
    )
    return payment is not None


def _find_card_hint(parsed: ParseResult) -> str | None:
    found = parsed if parsed.recognized else parsed.would_be or parsed
    return found.card_hint


def check_slots(text: str, slots: Mapping[str, Span]) -> dict[str, Span]:
    """Return the slots; the slot of the amount is its number alone.

    Raises `InvalidFieldError` for each that does not fit.
    """
    errors = []
    if "amount" not in slots:
        errors.append(_error("amount", gettext("This field is required."), "required"))
    inside = {
        name: (start, end)
        for name, (start, end) in slots.items()
        if 0 <= start < end <= len(text)
    }
    errors += [
        _error(name, gettext("Must be a part of the text."), "invalid")
        for name in slots
        if name not in inside
    ]
    for name, (start, end) in inside.items():
        others = (span for each, span in inside.items() if each != name)
        if any(start < last and first < end for first, last in others):
            errors.append(_error(name, gettext("Lies across another part."), "invalid"))
    if "amount" in inside:
        number = _find_number(text, inside["amount"])
        if number is None:
            detail = gettext("Must be one number above 0.")
            errors.append(_error("amount", detail, "invalid"))
        else:
            inside["amount"] = number
    if errors:
        raise DomainError(errors=tuple(errors))
    return inside


def _find_number(text: str, span: Span) -> Span | None:
    """Return the only number in a part of the text, unless it is cut or 0."""
    start, end = span
    numbers = [
        match.span()
        for match in _NUMBER.finditer(text)
        if match.start() < end and start < match.end()
    ]
    if len(numbers) != 1:
        return None
    first, last = numbers[0]
    has_value = any(letter in "123456789" for letter in text[first:last])
    return numbers[0] if has_value and start <= first and last <= end else None


def _error(name: str, detail: str, code: str) -> FieldError:
    field = f"slots.{name}"
    return FieldError(field, detail, code)
