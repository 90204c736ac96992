"""Cards that refer to a wallet or category that is moved (spec 3.30)."""

from django.utils.translation import gettext

from core.errors import InvalidFieldError
from ledger.base.ledger_write import LockedLedger
from ledger.models import Card


def move_cards(ledger: LockedLedger, source_id: int, target_id: int) -> None:
    """Let another wallet pay, and another card have the bill, in place of one.

    Raises `InvalidFieldError` for a target that has no bill of its own.
    """
    cards = Card.objects.owned_by(ledger.member)
    # No card pays itself.
    cards.filter(pay_from_wallet=source_id, pk=target_id).update(
        pay_from_wallet=None, auto_pay=False, next_payment_on=None
    )
    cards.filter(pay_from_wallet=source_id).update(pay_from_wallet=target_id)
    second_cards = cards.filter(billed_with=source_id)
    if not second_cards.exists():
        return
    target = cards.filter(pk=target_id).first()
    if target is None or not target.terms:
        detail = gettext(
            "Must be a card with a bill of its own: other cards are on the bill."
        )
        raise InvalidFieldError("moveTo", detail)
    second_cards.update(billed_with=target_id)


def move_excluded_category(
    ledger: LockedLedger, source_id: int, target_id: int
) -> None:
    """Let another category count for no target in place of one."""
    cards = Card.objects.owned_by(ledger.member)
    for card in cards.filter(excluded_category_ids__contains=[source_id]):
        ids = {*card.excluded_category_ids, target_id} - {source_id}
        cards.filter(pk=card.pk).update(excluded_category_ids=sorted(ids))
