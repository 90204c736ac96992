"""Who may call a view; every view names exactly one of these."""

from typing import Any

from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request

from core.errors import DomainError

__all__ = ["AllowAny", "IsAdministrator", "IsMember", "IsPremium"]


class PremiumRequiredError(DomainError):
    status = 403
    code = "PREMIUM_REQUIRED"
    detail = "This needs the PREMIUM plan."


class AdminRequiredError(DomainError):
    status = 403
    code = "ADMIN_REQUIRED"
    detail = "This is for administrators."


class IsMember(BasePermission):
    """Any member who is logged in; the default of all views."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.user is not None


class IsPremium(IsMember):
    """A member with a running PREMIUM plan, or an administrator."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        member: Any = request.user
        if not member.has_premium:
            raise PremiumRequiredError
        return True


class IsAdministrator(IsMember):
    """A member with the role ADMIN."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        member: Any = request.user
        if not member.is_administrator:
            raise AdminRequiredError
        return True
