"""Find the account of a booking, and moves between wallets of the member (spec 4.12).

Pure functions.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Reason,
    find_issuer,
)
from ledger.models import Wallet

# Fewer digits are not compared with an account number.
MIN_ACCOUNT_DIGITS = 3
MIN_NAME_LENGTH = 2
# Of an institution that is no issuer known to the parser, such as a broker.
MIN_INSTITUTION_LENGTH = 3
CARD_KINDS = frozenset({Wallet.Kind.CARD, Wallet.Kind.CHECK_CARD})
# Of accounts that are in the member's name.
NAMED_KINDS = frozenset({Wallet.Kind.BANK, Wallet.Kind.INVESTMENT})

_MASKED = re.compile(r"\*+")
_BRACKETS = re.compile(r"\([^()]*\)")
_SEPARATORS = re.compile(r"[\s\-_·.,/]+")
_HONORIFIC = re.compile(r"님$")
# Money that a pay service is topped up with: 네이버페이충전.
_TOP_UP = re.compile(r"충전$")
_CARD = re.compile(r"카드|card", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberedWallet:
    """A wallet that is not archived; the number is None if there is none to read."""

    wallet: Wallet
    account_number: str | None = None


@dataclass(frozen=True, slots=True)
class OwnMove:
    """A move between own wallets, as the text of one of its bookings tells it.

    `candidates` are the wallets that the other side may be, likely ones first. The
    reason is that of a move whose other side is not known.
    """

    reason: Reason
    candidates: tuple[Wallet, ...] = ()

    @property
    def is_card_bill(self) -> bool:
        return self.reason is Reason.CARD_BILL


def find_account(
    booking: BankBooking, wallets: Sequence[NumberedWallet]
) -> Wallet | None:
    """Return the bank account of a booking, or None if none, or several, fit.

    By the printed digits; else by the bank's name, among the accounts whose number does
    not contradict the digits.
    """
    accounts = [each for each in wallets if each.wallet.kind == Wallet.Kind.BANK]
    of_bank = [each for each in accounts if _is_of_issuer(each.wallet, booking.bank)]
    hint = _digits(booking.account_hint or "")
    if _count_digits(hint) >= MIN_ACCOUNT_DIGITS:
        numbered = [each for each in accounts if _count_digits(_number(each))]
        matching = [each for each in numbered if _has_digits(_number(each), hint)]
        both = [each for each in matching if each in of_bank]
        if matching:
            candidates = both or matching
            return candidates[0].wallet if len(candidates) == 1 else None
        of_bank = [each for each in of_bank if each not in numbered]
    return of_bank[0].wallet if len(of_bank) == 1 else None


def find_own_move(
    booking: BankBooking,
    account: Wallet,
    wallets: Sequence[NumberedWallet],
    member_name: str,
) -> OwnMove | None:
    """Return the move that the text of a booking tells, or None if it tells none.

    A card's bill is paid, cash is drawn or paid in, or money is moved to or from
    another account of the member.
    """
    others = [each.wallet for each in wallets if each.wallet.pk != account.pk]
    cards = _list_billed_cards(booking, others)
    if cards:
        return OwnMove(Reason.CARD_BILL, tuple(cards))
    if booking.purpose is BookingPurpose.CARD_BILL:
        return None
    if booking.purpose is BookingPurpose.CASH:
        cash = [each for each in others if each.kind == Wallet.Kind.CASH]
        return OwnMove(Reason.OWN_TRANSFER, tuple(cash)) if len(cash) == 1 else None
    counterparty = booking.counterparty or ""
    if is_own_name(counterparty, member_name):
        in_name = [each for each in others if each.kind in NAMED_KINDS]
        return OwnMove(Reason.OWN_TRANSFER, tuple(in_name))
    named = [
        each
        for each in others
        if each.kind not in CARD_KINDS and _is_named(each, counterparty)
    ]
    # A loan or deposit of the same bank has a name of its own in such texts.
    of_bank = [each for each in named if each.kind == Wallet.Kind.BANK]
    return OwnMove(Reason.OWN_TRANSFER, tuple(of_bank or named)) if named else None


def is_own_name(counterparty: str, member_name: str) -> bool:
    """Return True if a counterparty is the member; stars stand for any letters."""
    one, other = _normalize_name(counterparty), _normalize_name(member_name)
    if len(other) < MIN_NAME_LENGTH or not any(letter.isalpha() for letter in one):
        return False
    return len(one) == len(other) and all(
        a == b or a == "*" for a, b in zip(one, other, strict=True)
    )


def _list_billed_cards(booking: BankBooking, others: Sequence[Wallet]) -> list[Wallet]:
    """Return the cards of the issuer whose bill is paid, credit cards first."""
    if booking.direction is not BookingDirection.WITHDRAWAL:
        return []
    company = booking.card_company
    counterparty = booking.counterparty or ""
    if company is None and _CARD.search(counterparty):
        issuer = find_issuer(counterparty)
        company = issuer.name if issuer else None
    cards = [
        each
        for each in others
        if each.kind in CARD_KINDS and _is_of_issuer(each, company)
    ]
    return sorted(cards, key=lambda card: card.kind != Wallet.Kind.CARD)


def _is_of_issuer(wallet: Wallet, issuer_name: str | None) -> bool:
    if issuer_name is None:
        return False
    names = (wallet.institution, wallet.name)
    issuers = (find_issuer(name) for name in names if name)
    return any(issuer is not None and issuer.name == issuer_name for issuer in issuers)


def _is_named(wallet: Wallet, counterparty: str) -> bool:
    """Return True if a counterparty is the institution or the name of a wallet."""
    counterparty = _TOP_UP.sub("", counterparty.strip())
    named = _normalize_name(counterparty)
    if len(named) < MIN_NAME_LENGTH:
        return False
    issuer = find_issuer(counterparty)
    for name in (wallet.institution, wallet.name):
        own = _normalize_name(name)
        own_issuer = find_issuer(name) if name else None
        if own == named or (issuer is not None and own_issuer is issuer):
            return True
        is_institution = name == wallet.institution and own_issuer is None
        if is_institution and len(own) >= MIN_INSTITUTION_LENGTH and own in named:
            return True
    return False


def _normalize_name(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    without = _SEPARATORS.sub("", _BRACKETS.sub("", folded))
    return _HONORIFIC.sub("", without)


def _number(wallet: NumberedWallet) -> str:
    return _digits(wallet.account_number or "")


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit() or letter == "*")


def _count_digits(text: str) -> int:
    return sum(letter.isdigit() for letter in text)


def _has_digits(number: str, hint: str) -> bool:
    """Return True if a number can be the printed one.

    A run of stars stands for any number of digits. Digits before stars begin the
    number, all others end it: 481902**317, *301234 and 3418.
    """
    parts = _MASKED.split(hint)
    begins = "" if len(parts) > 1 and parts[0] else r"[\d*]*"
    pattern = begins + r"[\d*]*".join(map(re.escape, parts))
    return re.fullmatch(pattern, number) is not None
