"""Transfers to cards that may be the payment of a bill already (spec 3.30)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.base.ledger_write import LockedLedger
from ledger.models import Card

_FIND = """
    SELECT EXISTS (
        SELECT FROM account_entry e
        WHERE e.member_id = %(member)s AND e.to_wallet_id = ANY(%(cards)s::bigint[])
            AND e.date >= %(since)s AND e.amount = %(amount)s {condition}
    ) OR EXISTS (
        SELECT FROM account_entry_line l
        JOIN account_entry e ON e.member_id = l.member_id AND e.id = l.entry_id
        WHERE l.member_id = %(member)s AND l.wallet_id = ANY(%(cards)s::bigint[])
            AND e.type = 'transfer' AND e.date >= %(since)s {condition}
        GROUP BY e.id HAVING sum(l.amount) = %(amount)s
    )
"""


@dataclass(frozen=True, slots=True)
class BillsOfCards:
    """On whose bill a card stands, and which wallet pays a bill, by ids of cards."""

    mains: Mapping[int, int] = field(default_factory=dict)
    payers: Mapping[int, int] = field(default_factory=dict)

    def main_of(self, card_id: int) -> int:
        """Return the card whose bill it is: itself, without settings too."""
        return self.mains.get(card_id, card_id)

    def list_cards(self, main_id: int) -> list[int]:
        """Return the cards on the bill of a card, that card first."""
        others = (card for card, main in self.mains.items() if main == main_id)
        return [main_id, *others]


def read_bills_of_cards(member: Member) -> BillsOfCards:
    rows = Card.objects.owned_by(member).order_by("id")
    cards = list(rows.values_list("id", "billed_with_id", "pay_from_wallet_id"))
    return BillsOfCards(
        {card_id: main_id for card_id, main_id, _ in cards if main_id is not None},
        {card_id: payer for card_id, _, payer in cards if payer is not None},
    )


def has_payment(
    ledger: LockedLedger, wallet_ids: Collection[int], amount: int, since: date
) -> bool:
    """Return True if a transfer of this amount lies on a day or later, pending or not.

    It goes to one of the wallets, or has lines for them that add up to the amount.
    """
    return _exists(ledger, wallet_ids, amount, since, "")


def has_pending_payment(
    ledger: LockedLedger, wallet_ids: Collection[int], amount: int, since: date
) -> bool:
    """Return True if such a transfer waits to be confirmed."""
    return _exists(ledger, wallet_ids, amount, since, "AND e.pending")


def _exists(
    ledger: LockedLedger,
    wallet_ids: Collection[int],
    amount: int,
    since: date,
    condition: str,
) -> bool:
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "cards": list(wallet_ids),
        "amount": amount,
        "since": since,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FIND.format(condition=condition), params)
        (found,) = cursor.fetchone()
    return bool(found)
