"""Errors of the billing app."""

from core.errors import DomainError


class InvalidPurchaseError(DomainError):
    code = "PURCHASE_INVALID"
    detail = "The store did not confirm this purchase."


class PurchaseAlreadyUsedError(DomainError):
    status = 409
    code = "PURCHASE_ALREADY_USED"
    detail = (
        "This purchase is already used by another account, or was redeemed or replaced."
    )
