"""Every refusal of the billing app."""

from core.errors import DomainError


class PurchaseInvalid(DomainError):
    code = "PURCHASE_INVALID"
    detail = "The store does not confirm this purchase."


class PurchaseAlreadyUsed(DomainError):
    status = 409
    code = "PURCHASE_ALREADY_USED"
    detail = "This purchase belongs to another account, or was used up or replaced."
