"""Find the card or account of a message, and its own moves (spec 4.7, 4.12)."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.conf import settings

from accounts.models import Member
from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    ParseResult,
    Reason,
    find_issuer,
    normalize_card_name,
)
from core.db.rows import prepared_cursor
from ledger.base.encryption import (
    DecryptionError,
    account_number_associated_data,
    decrypt,
)
from ledger.models import Wallet
from ledger.wallets.wallets import select_wallets

MIN_CARD_DIGITS = 2
MIN_ACCOUNT_DIGITS = 3
MIN_NAME_LENGTH = 2
# Institutions that the parser does not know, such as brokers.
MIN_INSTITUTION_LENGTH = 3
CARD_KINDS = frozenset({Wallet.Kind.CARD, Wallet.Kind.CHECK_CARD})
# Accounts in the member's name.
NAMED_KINDS = frozenset({Wallet.Kind.BANK, Wallet.Kind.INVESTMENT})
_NUMBERED_KINDS = CARD_KINDS | {Wallet.Kind.BANK}

_WALLETS = """
    SELECT id, kind, name, institution, memo, account_number, member_id FROM account
    WHERE member_id = %s AND kind = ANY(%s) AND NOT archived
    ORDER BY sort_order, id
"""
_MASKED = re.compile(r"\*+")
_BRACKETS = re.compile(r"\([^()]*\)")
_SEPARATORS = re.compile(r"[\s\-_·.,/]+")
_HONORIFIC = re.compile(r"님$")
# Top-ups of a pay service: 네이버페이충전.
_TOP_UP = re.compile(r"충전$")
_CARD = re.compile(r"카드|card", re.IGNORECASE)


@dataclass(frozen=True)
class KnownWallet:
    """A wallet of the member; the stored number may be encrypted."""

    id: int
    kind: str = ""
    name: str = ""
    institution: str = ""
    memo: str = ""
    stored_number: str = ""
    member_id: int = 0

    @cached_property
    def number_digits(self) -> str:
        """Return the digits, "" if no key decrypts the number."""
        if self.kind not in _NUMBERED_KINDS:
            return ""
        context = account_number_associated_data(self.member_id)
        try:
            number = decrypt(self.stored_number, settings.ACCOUNT_NUMBER_KEYS, context)
        except DecryptionError:
            return ""
        return keep_digits(number)

    @property
    def card_digits(self) -> tuple[str, str, str]:
        return keep_digits(self.name), keep_digits(self.memo), self.number_digits

    @property
    def normalized_names(self) -> tuple[str, str]:
        return normalize_name(self.institution), normalize_name(self.name)


@dataclass(frozen=True, slots=True)
class OwnMove:
    """A move between own wallets, read from one of its bookings.

    `other` is set if only one of `candidates` is likely; if not, `reason` says why it
    is ignored.
    """

    reason: Reason
    candidates: tuple[int, ...] = ()
    other: int | None = None

    @property
    def is_card_bill(self) -> bool:
        return self.reason is Reason.CARD_BILL


@dataclass(frozen=True, slots=True)
class NamedCard:
    """The card of a payment, as all its announcements print it."""

    card_company: str | None = None
    card_hint: str | None = None
    is_check_card: bool | None = None


def load_wallets(member: Member, kinds: Collection[str]) -> list[KnownWallet]:
    with prepared_cursor() as cursor:
        cursor.execute(_WALLETS, [member.pk, list(kinds)])
        return [KnownWallet(*row) for row in cursor.fetchall()]


def match_wallet(
    member: Member,
    parsed: ParseResult,
    given: KnownWallet | None = None,
    taught: KnownWallet | None = None,
) -> KnownWallet | None:
    """Return the given wallet unless it is cash, else the taught one or the card."""
    if taught is not None or (given is not None and given.kind != Wallet.Kind.CASH):
        return choose_card(parsed, (), given, taught)
    return choose_card(parsed, load_wallets(member, CARD_KINDS), given)


def choose_card(
    parsed: ParseResult,
    cards: Sequence[KnownWallet],
    given: KnownWallet | None = None,
    taught: KnownWallet | None = None,
) -> KnownWallet | None:
    """Do as `match_wallet` among the member's cards."""
    if given is not None and given.kind != Wallet.Kind.CASH:
        return given
    return taught or find_card(parsed, cards) or given


def find_card(
    parsed: NamedCard | ParseResult, cards: Sequence[KnownWallet]
) -> KnownWallet | None:
    """Return the member's only card, or the card that the text names."""
    return cards[0] if len(cards) == 1 else find_named_card(parsed, cards)


def find_named_card(
    parsed: NamedCard | ParseResult, cards: Sequence[KnownWallet]
) -> KnownWallet | None:
    """Return the only card that fits the printed names and digits.

    The digits decide among the cards of the company, then the longest overlap of names,
    then credit or check card.
    """
    overlaps = [_name_overlap(card, parsed) for card in cards]
    longest = max(overlaps, default=0)
    if not longest and parsed.card_company is not None:
        return None
    token = get_card_digits(parsed.card_hint)
    of_company = [
        card
        for card, overlap in zip(cards, overlaps, strict=True)
        if overlap or not longest
    ]
    numbered = [card for card in of_company if _has_digits(card, token)]
    if len(numbered) == 1:
        return numbered[0]
    alike = [
        card
        for card, overlap in zip(cards, overlaps, strict=True)
        if overlap == longest
    ]
    if longest and len(alike) == 1:
        return alike[0]
    if not longest or parsed.is_check_card is None:
        return None
    kind = Wallet.Kind.CHECK_CARD if parsed.is_check_card else Wallet.Kind.CARD
    with_digits = [card for card in alike if card in numbered]
    of_kind = [card for card in with_digits or alike if card.kind == kind]
    return of_kind[0] if len(of_kind) == 1 else None


def _has_digits(card: KnownWallet, token: str) -> bool:
    return any(
        len(digits) >= len(token) > 0 and _have_same_end(digits, token)
        for digits in card.card_digits
    )


def _name_overlap(card: KnownWallet, parsed: NamedCard | ParseResult) -> int:
    company = parsed.card_company
    issuer = find_issuer(company) if company is not None else None
    longest = 0
    for own_name in (card.name, card.institution):
        mentioned = [name for name in (parsed.card_hint, company) if name]
        # The wallet may have another name of the same company.
        if issuer is not None and find_issuer(own_name) is issuer:
            mentioned += issuer.aliases
        for name in mentioned:
            pair = normalize_card_name(own_name), normalize_card_name(name)
            shorter, longer = sorted(pair, key=len)
            if len(shorter) >= MIN_NAME_LENGTH and shorter in longer:
                longest = max(longest, len(shorter))
    return longest


def can_be_same_card(one: str | None, other: str | None) -> bool:
    """Return True unless the last digits differ; a star matches any digit."""
    first, second = get_card_digits(one), get_card_digits(other)
    if not first or not second:
        return True
    return _have_same_end(first, second)


def _have_same_end(one: str, other: str) -> bool:
    length = min(len(one), len(other))
    return all(
        a == b or "*" in (a, b)
        for a, b in zip(one[-length:], other[-length:], strict=True)
    )


def get_card_digits(hint: str | None) -> str:
    """Return digits and stars of a card hint, or "" for the name of a product."""
    token = hint or ""
    is_token = all(letter.isdigit() or letter == "*" for letter in token)
    digits = sum(letter.isdigit() for letter in token)
    return token if is_token and digits >= MIN_CARD_DIGITS else ""


def compute_balance_difference(
    member: Member, booking: BankBooking, account: KnownWallet
) -> int | None:
    """Return the printed balance less the account's, in whole home-currency units."""
    if booking.balance is None or booking.balance_currency is not None:
        return None
    balances = select_wallets(member.pk).filter(pk=account.id)
    return int(booking.balance) - int(balances.values_list("balance", flat=True).get())


def find_account(
    booking: BankBooking, wallets: Sequence[KnownWallet]
) -> KnownWallet | None:
    """Return the only bank account that fits a booking.

    The digits decide, else the bank's name among accounts without other digits.
    """
    accounts = [each for each in wallets if each.kind == Wallet.Kind.BANK]
    of_bank = [each for each in accounts if is_of_issuer(each, booking.bank)]
    hint = keep_digits(booking.account_hint or "")
    if len(hint) - hint.count("*") >= MIN_ACCOUNT_DIGITS:
        numbered = [each for each in accounts if each.number_digits.strip("*")]
        matching = [each for each in numbered if _has_account_digits(each, hint)]
        both = [each for each in matching if each in of_bank]
        if matching:
            candidates = both or matching
            return candidates[0] if len(candidates) == 1 else None
        of_bank = [each for each in of_bank if each not in numbered]
    return of_bank[0] if len(of_bank) == 1 else None


def find_own_move(
    booking: BankBooking,
    account: KnownWallet,
    wallets: Sequence[KnownWallet],
    member_name: str,
) -> OwnMove | None:
    """Return the own move of a booking: a card's bill, cash, or another account."""
    others = [each for each in wallets if each.id != account.id]
    company, counterparty = find_card_company(booking), booking.counterparty or ""
    cards = [
        each
        for each in others
        if each.kind in CARD_KINDS and is_of_issuer(each, company)
    ]
    if cards and booking.direction is BookingDirection.WITHDRAWAL:
        # Credit cards first.
        cards.sort(key=lambda card: card.kind != Wallet.Kind.CARD)
        return _make_move(Reason.CARD_BILL, cards)
    if booking.purpose is BookingPurpose.CARD_BILL:
        return None
    if booking.purpose is BookingPurpose.CASH:
        cash = [each for each in others if each.kind == Wallet.Kind.CASH]
        return _make_move(Reason.OWN_TRANSFER, cash) if len(cash) == 1 else None
    if _is_own_name(normalize_name(counterparty), normalize_name(member_name)):
        in_name = [each for each in others if each.kind in NAMED_KINDS]
        return _make_move(Reason.OWN_TRANSFER, in_name)
    payee = _TOP_UP.sub("", counterparty.strip())
    key = normalize_name(payee)
    named = [
        each
        for each in others
        if each.kind not in CARD_KINDS and _is_named(each, payee, key)
    ]
    # A loan or deposit of the same bank has its own name in such texts.
    of_bank = [each for each in named if each.kind == Wallet.Kind.BANK]
    return _make_move(Reason.OWN_TRANSFER, of_bank or named) if named else None


def find_card_company(booking: BankBooking) -> str | None:
    """Return the issuer that a bill is paid to; None if the text names none."""
    counterparty = booking.counterparty or ""
    if booking.card_company is not None or not _CARD.search(counterparty):
        return booking.card_company
    issuer = find_issuer(counterparty)
    return issuer.name if issuer else None


def _make_move(reason: Reason, candidates: Sequence[KnownWallet]) -> OwnMove:
    ids = tuple(each.id for each in candidates)
    return OwnMove(reason, ids, ids[0] if len(ids) == 1 else None)


def _is_own_name(one: str, other: str) -> bool:
    """Compare a counterparty with the member; stars stand for any letters."""
    if len(other) < MIN_NAME_LENGTH or not any(letter.isalpha() for letter in one):
        return False
    return len(one) == len(other) and all(
        a == b or a == "*" for a, b in zip(one, other, strict=True)
    )


def is_of_issuer(wallet: KnownWallet, issuer_name: str | None) -> bool:
    return issuer_name is not None and issuer_name in list_issuers(wallet)


def list_issuers(wallet: KnownWallet) -> set[str]:
    """Return the issuers that institution and name of a wallet tell."""
    names = (wallet.institution, wallet.name)
    issuers = (find_issuer(name) for name in names if name)
    return {issuer.name for issuer in issuers if issuer is not None}


def _is_named(wallet: KnownWallet, payee: str, key: str) -> bool:
    if len(key) < MIN_NAME_LENGTH:
        return False
    issuer = find_issuer(payee)
    names = (wallet.institution, wallet.name)
    for name, own in zip(names, wallet.normalized_names, strict=True):
        own_issuer = find_issuer(name) if name else None
        if own == key or (issuer is not None and own_issuer is issuer):
            return True
        is_institution = name == wallet.institution and own_issuer is None
        if is_institution and len(own) >= MIN_INSTITUTION_LENGTH and own in key:
            return True
    return False


def normalize_name(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    without = _SEPARATORS.sub("", _BRACKETS.sub("", folded))
    return _HONORIFIC.sub("", without)


def keep_digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit() or letter == "*")


def _has_account_digits(wallet: KnownWallet, hint: str) -> bool:
    """Compare a number with a hint such as 481902**317, *301234 or 3418.

    Stars stand for any number of digits. Digits before stars begin the number, all
    others end it.
    """
    parts = _MASKED.split(hint)
    begins = "" if len(parts) > 1 and parts[0] else r"[\d*]*"
    pattern = begins + r"[\d*]*".join(map(re.escape, parts))
    return re.fullmatch(pattern, wallet.number_digits) is not None
