"""Every refusal of the ledger that is not shared with other apps."""

from config.errors import DomainError


class CategoryHierarchy(DomainError):
    code = "CATEGORY_HIERARCHY"
    detail = "Categories have two levels: a major one, and minor ones of its type."
