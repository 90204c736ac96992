"""Typed-in parts of a purchase (spec 3.30)."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InvalidFieldError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.cards.parts import list_parts
from ledger.models import Entry


def read_parts(member: Member, entry_id: int) -> dict[str, Any]:
    """Return the parts of an entry; one where it has no installments."""
    entry: Entry = get_owned_or_404(Entry.objects.all(), member, entry_id)
    parts = list_parts(entry.amount, entry.installment_months, entry.installment_parts)
    return {
        "amounts": parts,
        "typed": entry.installment_parts is not None,
        "version": entry.version,
    }


@ledger_write
def set_parts(
    ledger: LockedLedger, entry_id: int, amounts: list[int] | None, now: datetime
) -> None:
    """Store the amounts of the parts; None: equal parts.

    Raises `NotFoundError`, and `InvalidFieldError` for an entry without installments
    and for parts of another number or sum.
    """
    entry: Entry = get_owned_or_404(Entry.objects.all(), ledger.member, entry_id)
    if amounts == [entry.amount] and entry.installment_months is None:
        # The answer of an entry that is paid at once.
        amounts = None
    if amounts is not None:
        months = entry.installment_months
        if months is None:
            detail = gettext("The entry has no installments.")
            raise InvalidFieldError("amounts", detail)
        if len(amounts) != months:
            detail = gettext("Must have {count} parts.").format(count=months)
            raise InvalidFieldError("amounts", detail)
        if sum(amounts) != entry.amount:
            detail = gettext("The parts do not add up to the amount.")
            raise InvalidFieldError("amounts", detail, "mismatch")
    entry.installment_parts = amounts
    entry.updated_at = now
    entry.save(update_fields=["installment_parts", "updated_at"])
