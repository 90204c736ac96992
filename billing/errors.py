"""Errors of the billing app."""

from django.utils.translation import gettext_lazy

from core.errors import DomainError


class InvalidPurchaseError(DomainError):
    code = "PURCHASE_INVALID"
    detail = gettext_lazy("The store did not confirm this purchase.")


class PurchaseAlreadyUsedError(DomainError):
    status = 409
    code = "PURCHASE_ALREADY_USED"
    detail = gettext_lazy(
        "This purchase is already used by another account, or was redeemed or replaced."
    )
