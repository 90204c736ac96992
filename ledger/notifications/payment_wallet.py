"""Find the wallet of a payment from all its announcements (spec 4.7). Pure.

The digits of a card come first, then its name, then its company. A named card comes
before the account of a bank, and the member's only card last. No order of the
announcements gives another wallet.
"""

from collections.abc import Sequence

from card_alerts import PAY_SERVICES
from ledger.notifications.known import KnownRow
from ledger.notifications.message import BookingKind, Fingerprint
from ledger.notifications.wallets import (
    KnownWallet,
    NamedCard,
    find_card,
    find_named_card,
    get_card_digits,
)


def choose_wallet(
    reports: Sequence[Fingerprint],
    account: KnownWallet | None,
    cards: Sequence[KnownWallet],
) -> KnownWallet | None:
    """Return the wallet of a payment.

    `account` belongs to the bank's booking; None if there is none.
    """
    named = combine(reports)
    if named is not None and (card := find_named_card(named, cards)):
        return card
    return account or (find_card(named, cards) if named is not None else None)


def combine(reports: Sequence[Fingerprint]) -> NamedCard | None:
    """Return what all reports of cards print, whatever their order."""
    of_cards = [each for each in reports if each.kind not in set(BookingKind)]
    if not of_cards:
        return None
    companies = {each.card_company for each in of_cards if each.card_company}
    # A pay service pays with the card that another report names.
    issuers = {name for name in companies if name not in PAY_SERVICES} or companies
    hints = {each.card_hint for each in of_cards if each.card_hint}
    digits = {hint for hint in hints if get_card_digits(hint)} or hints
    return NamedCard(
        max(issuers, key=_most_precise, default=None),
        max(digits, key=_most_precise, default=None),
    )


def find_account(rows: Sequence[KnownRow]) -> KnownWallet | None:
    """Return the account of the first booking of a payment."""
    ids = [row.wallet_id for row in rows if row.wallet_id is not None]
    return KnownWallet(ids[0]) if ids else None


def _most_precise(text: str) -> tuple[int, str]:
    """Prefer digits to stars, and longer names."""
    return sum(letter != "*" for letter in text), text
