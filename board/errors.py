"""Errors of the board."""

from typing import Any

from django.utils.translation import gettext_lazy

from accounts.models import Member
from core.errors import DomainError


class NotAuthorError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("Only the author can do this.")


class SelfVoteError(DomainError):
    code = "SELF_VOTE"
    detail = gettext_lazy("You cannot vote on your own posts or comments.")


class SelfReportError(DomainError):
    code = "SELF_REPORT"
    detail = gettext_lazy("You cannot report yourself or what you wrote.")


class BoardSuspendedError(DomainError):
    status = 403
    code = "BOARD_SUSPENDED"
    detail = gettext_lazy("You cannot write on the board for a time.")

    @classmethod
    def of(cls, member: Member) -> "BoardSuspendedError":
        return cls(
            members={"until": member.silenced_until, "reason": member.silence_reason}
        )


class NotYourCaseError(DomainError):
    """An appeal against one's own decision, and the classes below."""

    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("Another moderator has to decide this.")


class OwnCaseError(NotYourCaseError):
    detail = gettext_lazy("You cannot decide about yourself or what you wrote.")


class StaffCaseError(NotYourCaseError):
    detail = gettext_lazy("Only an administrator can decide about staff.")


class AlreadyResolvedError(DomainError):
    status = 409
    code = "ALREADY_RESOLVED"
    detail = gettext_lazy("This case has been decided.")

    def __init__(self, decision: dict[str, Any] | None = None) -> None:
        super().__init__(members={} if decision is None else {"decision": decision})


class AppealClosedError(DomainError):
    status = 409
    code = "ALREADY_RESOLVED"
    detail = gettext_lazy("Nothing can be said against this any more.")
