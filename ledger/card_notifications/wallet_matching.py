"""The wallet that a notification is of (spec 4.7)."""

from collections.abc import Iterable

from accounts.models import Member
from card_alerts.issuers import find_issuer, normalize_card_name
from card_alerts.result import ParseResult
from ledger.card_notifications.deduplication import can_be_same_card, card_token
from ledger.encryption import DecryptionError
from ledger.models import Wallet
from ledger.wallets import decrypt_account_number

CARD_KINDS = (Wallet.Kind.CARD, Wallet.Kind.CHECK_CARD)
MIN_NAME_LENGTH = 2
"""Letters of a name that may be found inside another."""


def match_wallet(
    member: Member, parsed: ParseResult, given: Wallet | None = None
) -> Wallet | None:
    """The given wallet, unless it is cash and the text tells the card; else the card.

    The member's only card is used whatever the text says; of several, the one whose
    name or institution has most in common with the text, its digits deciding.
    """
    if given is not None and given.kind != Wallet.Kind.CASH:
        return given
    rows = Wallet.objects.owned_by(member)
    cards = list(rows.filter(kind__in=CARD_KINDS, archived=False))
    found = cards[0] if len(cards) == 1 else choose_card(cards, parsed)
    return found or given


def choose_card(cards: Iterable[Wallet], parsed: ParseResult) -> Wallet | None:
    """The card that the text names; None where it names none or more than one."""
    scored = [(_name_overlap(card, parsed), card) for card in cards]
    best = max((score for score, _ in scored), default=0)
    if not best and parsed.card_company is not None:
        return None
    alike = [card for score, card in scored if score == best]
    if best and len(alike) == 1:
        return alike[0]
    by_digits = [card for card in alike if _has_matching_digits(card, parsed)]
    if len(by_digits) == 1:
        return by_digits[0]
    if not best:
        return None
    by_kind = [card for card in by_digits or alike if _is_matching_kind(card, parsed)]
    return by_kind[0] if len(by_kind) == 1 else None


def _name_overlap(card: Wallet, parsed: ParseResult) -> int:
    """The length of what a name of the card and one of the text have in common."""
    return max(
        (
            _overlap_length(normalize_card_name(own), normalize_card_name(told))
            for own in (card.name, card.institution)
            for told in _mentioned_names(own, parsed)
        ),
        default=0,
    )


def _mentioned_names(own: str, parsed: ParseResult) -> list[str]:
    """Company and card name of the text, the company as the wallet writes it."""
    names = [name for name in (parsed.card_hint, parsed.card_company) if name]
    if parsed.card_company is None:
        return names
    company, issuer = find_issuer(parsed.card_company), find_issuer(own)
    if company is not None and company is issuer:
        names += company.aliases
    return names


def _overlap_length(one: str, other: str) -> int:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) if len(shorter) >= MIN_NAME_LENGTH and shorter in longer else 0


def _has_matching_digits(card: Wallet, parsed: ParseResult) -> bool:
    """Whether the card's number or name ends in the digits that the text prints."""
    token = card_token(parsed.card_hint)
    numbers = [_digits(card.name), _digits(card.memo), _digits(_account_number(card))]
    return bool(token) and any(
        len(number) >= len(token) and can_be_same_card(number, token)
        for number in numbers
    )


def _account_number(card: Wallet) -> str:
    try:
        return decrypt_account_number(card) or ""
    except DecryptionError:
        return ""


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit() or letter == "*")


def _is_matching_kind(card: Wallet, parsed: ParseResult) -> bool:
    if parsed.is_check_card is None:
        return False
    return parsed.is_check_card == (card.kind == Wallet.Kind.CHECK_CARD)
