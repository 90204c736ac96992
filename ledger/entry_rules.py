"""Rules of the type of an entry: currencies and installments (spec 3.4, 3.19)."""

from django.utils.translation import gettext

from core.errors import InvalidFieldError
from ledger.entry_data import EntryData
from ledger.models import Wallet
from ledger.models.base import EntryType
from ledger.wallets import make_missing_wallet_error


def validate_currency(data: EntryData) -> None:
    """Raise `InvalidFieldError` for a transfer in a foreign currency."""
    if data.type == EntryType.TRANSFER and data.currency is not None:
        raise InvalidFieldError(
            "currency", gettext("A transfer is in the home currency.")
        )


def validate_installments(data: EntryData) -> None:
    """Raise `InvalidFieldError` for installments of anything but a card expense.

    See spec 3.4.
    """
    if data.installment_months is None:
        return
    kind = None
    if data.wallet is not None:
        rows = Wallet.objects.filter(member_id=data.wallet.member_id)
        kind = rows.filter(pk=data.wallet.pk).values_list("kind", flat=True).first()
        if kind is None:
            raise make_missing_wallet_error()
    if data.type != EntryType.EXPENSE or kind != Wallet.Kind.CARD:
        raise InvalidFieldError(
            "installmentMonths",
            gettext("Installments are only allowed for card expenses."),
        )
