"""The account of a booking, and the card whose bill it pays (spec 4.12)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from accounts.models import Member
from card_alerts import BankBooking, BookingDirection, BookingPurpose, Reason
from ledger.cards.existing_payments import BillsOfCards, read_bills_of_cards
from ledger.models import Entry, Wallet
from ledger.models.base import EntryType
from ledger.notifications.wallets import (
    CARD_KINDS,
    KnownWallet,
    OwnMove,
    find_account,
    find_card_company,
    find_own_move,
    list_issuers,
    load_wallets,
)


class BookedAccount(NamedTuple):
    """The account of a booking, and its own move if it is one.

    `bill_cards` are the cards whose bill it may pay; none for other bookings.
    """

    wallet: KnownWallet
    own_move: OwnMove | None = None
    bill_cards: tuple[int, ...] = ()


def load_account(member: Member, booking: BankBooking) -> BookedAccount | None:
    """Return the only account that fits a booking, with its own move."""
    wallets = load_wallets(member, Wallet.Kind.values)
    account = find_account(booking, wallets)
    if account is None:
        return None
    own_move = find_own_move(booking, account, wallets, member.display_name)
    cards = list_paid_cards(booking, own_move, wallets)
    if not cards:
        return BookedAccount(account, own_move)
    bills = read_bills_of_cards(member)
    mains = dict.fromkeys(bills.main_of(card.id) for card in cards)
    on_bills = [card for main in mains for card in bills.list_cards(main)]
    other = choose_main_card(booking, account, cards, bills)
    if own_move is not None:
        if other is None:
            paid = _find_last_paid(member, account, on_bills)
            other = bills.main_of(paid or own_move.candidates[0])
        own_move = replace(own_move, other=other)
    elif other is not None:
        own_move = OwnMove(Reason.CARD_BILL, (other,), other)
    return BookedAccount(account, own_move, tuple(on_bills))


def list_paid_cards(
    booking: BankBooking, own_move: OwnMove | None, wallets: Sequence[KnownWallet]
) -> list[KnownWallet]:
    """Return the cards whose bill a booking may pay, CARD before CHECK_CARD.

    Those of the issuer; where none is known to be of it, those of an unknown one, and
    all of them where the text names no issuer.
    """
    if own_move is not None and own_move.is_card_bill:
        by_id = {each.id: each for each in wallets}
        return [by_id[card] for card in own_move.candidates]
    is_bill = booking.purpose is BookingPurpose.CARD_BILL
    is_out = booking.direction is BookingDirection.WITHDRAWAL
    if own_move is not None or not is_bill or not is_out:
        return []
    is_named = find_card_company(booking) is not None
    cards = [each for each in wallets if each.kind in CARD_KINDS]
    return [card for card in cards if not (is_named and list_issuers(card))]


def choose_main_card(
    booking: BankBooking,
    account: KnownWallet,
    cards: Sequence[KnownWallet],
    bills: BillsOfCards,
) -> int | None:
    """Return the card whose bill is paid, if the cards and their settings tell one.

    All credit cards of the issuer stand on its bill, or the account pays no other bill.
    """
    is_named = find_card_company(booking) is not None
    if is_named and not any(list_issuers(card) for card in cards):
        # The bill of a card that may be no wallet is an expense.
        return None
    credit = [card for card in cards if card.kind == Wallet.Kind.CARD] or cards
    mains = {bills.main_of(card.id) for card in credit}
    if is_named and len(mains) == 1:
        return mains.pop()
    paid = [main for main in mains if bills.payers.get(main) == account.id]
    return paid[0] if len(paid) == 1 else None


def _find_last_paid(
    member: Member, account: KnownWallet, cards: Sequence[int]
) -> int | None:
    """Return the card whose last bill was paid from the account."""
    earlier = Entry.objects.owned_by(member).filter(
        type=EntryType.TRANSFER,
        wallet=account.id,
        to_wallet__in=cards,
        pending=False,
    )
    paid = earlier.order_by("-date", "-id").values_list("to_wallet", flat=True)
    return paid.first()
