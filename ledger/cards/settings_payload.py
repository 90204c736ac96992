"""The settings of a card as they are answered (spec 3.30)."""

from datetime import date
from typing import Any

from accounts.models import Member
from ledger.cards.bills import read_state
from ledger.cards.card_settings import get_card
from ledger.cards.schedule import Term
from ledger.models import Category, Tag


def describe_card(member: Member, wallet_id: int, today: date) -> dict[str, Any]:
    """Raise `NotFoundError` for a wallet without settings."""
    card = get_card(member, wallet_id)
    term = Term.from_json(card.terms[-1]) if card.terms else None
    state = read_state(member, card, today)
    return {
        "wallet_id": card.id,
        "closing_day": term and term.closing_day,
        "payment_day": term and term.payment_day,
        "payment_month": term and term.payment_month,
        "shift": term.shift.value if term else "NEXT",
        "pay_from_wallet": card.pay_from_wallet_id,
        "auto_pay": card.auto_pay,
        "credit_limit": card.credit_limit,
        "billed_with": card.billed_with_id,
        "targets": card.targets,
        "target_excludes": {
            "categories": _list_names(member, Category, card.excluded_category_ids),
            "tags": _list_names(member, Tag, card.excluded_tag_ids),
            "installments": card.excludes_installments,
        },
        "from_month": term and term.first_month,
        "credit": state.credit,
        "unbilled": state.unbilled,
        "version": card.version,
    }


def _list_names(member: Member, model: Any, ids: list[int]) -> list[str]:
    """Return the names of rows that are still there, in their order."""
    if not ids:
        return []
    rows = model.objects.owned_by(member).filter(pk__in=ids)
    return list(rows.values_list("name", flat=True))
