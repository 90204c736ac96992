"""Permission classes; every view has exactly one."""

from typing import Any, ClassVar

from django.conf import settings
from django.utils.translation import gettext_lazy
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request

from core.api.exception_handler import AuthenticationRequiredError
from core.errors import DomainError

__all__ = ["AllowAny", "IsAdministrator", "IsMember", "IsModerator", "IsPremium"]


class PremiumRequiredError(DomainError):
    status = 403
    code = "PREMIUM_REQUIRED"
    detail = gettext_lazy("The PREMIUM plan is required.")


class AdminRequiredError(DomainError):
    status = 403
    code = "ADMIN_REQUIRED"
    detail = gettext_lazy("Only administrators can do this.")


class ModeratorRequiredError(DomainError):
    status = 403
    code = "MODERATOR_REQUIRED"
    detail = gettext_lazy("Only moderators can do this.")


class SecondFactorSetupRequiredError(DomainError):
    status = 403
    code = "SECOND_FACTOR_SETUP_REQUIRED"
    detail = gettext_lazy("Set up a second factor to administer this service.")


class IsMember(BasePermission):
    raises: ClassVar[list[type[DomainError]]] = [AuthenticationRequiredError]

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.user is not None


class IsPremium(IsMember):
    """Administrators are premium too."""

    raises = [AuthenticationRequiredError, PremiumRequiredError]

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        member: Any = request.user
        if not member.has_premium:
            raise PremiumRequiredError
        return True


class IsAdministrator(IsMember):
    raises = [
        AuthenticationRequiredError,
        AdminRequiredError,
        SecondFactorSetupRequiredError,
    ]

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        member: Any = request.user
        if not member.is_administrator:
            raise AdminRequiredError
        require_second_factor_of_staff(member)
        return True


class IsModerator(IsMember):
    """Administrators are moderators too."""

    raises = [
        AuthenticationRequiredError,
        ModeratorRequiredError,
        SecondFactorSetupRequiredError,
    ]

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        member: Any = request.user
        if not member.is_moderator:
            raise ModeratorRequiredError
        require_second_factor_of_staff(member)
        return True


def require_second_factor_of_staff(member: Any) -> None:
    if settings.ADMIN_SECOND_FACTOR and not member.has_second_factor:
        raise SecondFactorSetupRequiredError
