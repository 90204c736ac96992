"""Operations that a personal token may use (spec 2.15).

A view without a declaration refuses tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy

from core.errors import DomainError

SAFE_METHODS = frozenset({"GET", "HEAD"})


class TokenScope(StrEnum):
    LEDGER_READ = "ledger:read"
    LEDGER_WRITE = "ledger:write"
    NOTIFICATIONS_WRITE = "notifications:write"
    BOARD_READ = "board:read"
    BOARD_WRITE = "board:write"
    PROFILE_READ = "profile:read"


@dataclass(frozen=True, slots=True)
class ScopePair:
    """None refuses every token."""

    read: TokenScope | None = None
    write: TokenScope | None = None
    # Exceptions by action.
    by_action: Mapping[str, TokenScope] = field(default_factory=dict)

    def get_scope(self, method: str, action: str | None) -> TokenScope | None:
        if action is not None and action in self.by_action:
            return self.by_action[action]
        return self.read if method in SAFE_METHODS else self.write


NO_TOKENS = ScopePair()
LEDGER = ScopePair(TokenScope.LEDGER_READ, TokenScope.LEDGER_WRITE)
BOARD = ScopePair(TokenScope.BOARD_READ, TokenScope.BOARD_WRITE)
PROFILE = ScopePair(read=TokenScope.PROFILE_READ)


class ScopeRequiredError(DomainError):
    status = 403
    code = "SCOPE_REQUIRED"
    detail = gettext_lazy("The token does not have the scope for this.")

    def __init__(self, scope: TokenScope | None = None) -> None:
        super().__init__(members={"scope": scope})


def get_required_scope(view: Any, method: str) -> TokenScope | None:
    """Return the required scope; None: no scope is enough.

    Declarations of base classes do not count.
    """
    pair: ScopePair = vars(type(view)).get("token_scopes", NO_TOKENS)
    return pair.get_scope(method, getattr(view, "action", None))
