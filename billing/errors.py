"""Every refusal of the billing app."""

from core.errors import DomainError


class InvalidPurchaseError(DomainError):
    code = "PURCHASE_INVALID"
    detail = "The store does not confirm this purchase."


class PurchaseAlreadyUsedError(DomainError):
    status = 409
    code = "PURCHASE_ALREADY_USED"
    detail = "This purchase belongs to another account, or was used up or replaced."
