"""One change of many members by an administrator (spec 7.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from accounts.models import Member
from administration.members import (
    end_member_sessions,
    end_member_silence,
    set_member_status,
    silence_member,
)
from core.api.permissions import AdminRequiredError
from core.errors import DomainError

MAX_MEMBERS = 100


class BulkAction(StrEnum):
    """Changes that need no fresh authentication."""

    SUSPEND = "SUSPEND"
    ACTIVATE = "ACTIVATE"
    END_SESSIONS = "END_SESSIONS"
    SILENCE = "SILENCE"
    END_SILENCE = "END_SILENCE"


@dataclass(frozen=True, slots=True)
class BulkChange:
    action: BulkAction
    reason: str
    until: datetime | None = None

    def apply(self, actor: Member, member_id: int, now: datetime) -> None:
        """Change a member; raise the errors of the single change."""
        reason, until = self.reason, self.until
        match self.action:
            case BulkAction.SUSPEND:
                status = Member.Status.SUSPENDED
                set_member_status(actor, member_id, status, until, reason, note=reason)
            case BulkAction.ACTIVATE:
                status = Member.Status.ACTIVE
                set_member_status(actor, member_id, status, note=reason)
            case BulkAction.END_SESSIONS:
                end_member_sessions(actor, member_id, reason)
            case BulkAction.SILENCE:
                assert until is not None  # noqa: S101  # checked with the body
                silence_member(actor, member_id, until, reason, now)
            case BulkAction.END_SILENCE:
                end_member_silence(actor, member_id, now, reason)


@dataclass(frozen=True, slots=True)
class Result:
    """The error is None for a member who was changed."""

    member_id: int
    error: DomainError | None = None

    @property
    def code(self) -> str | None:
        return None if self.error is None else self.error.code

    @property
    def detail(self) -> str | None:
        return None if self.error is None else str(self.error.detail)


def change_members(
    actor: Member, member_ids: Sequence[int], change: BulkChange, now: datetime
) -> list[Result]:
    """Change each member in a transaction of its own.

    A refused member does not stop the others. An actor who loses the role meanwhile
    changes nobody after it.
    """
    results: list[Result] = []
    lost: AdminRequiredError | None = None
    for member_id in member_ids:
        error: DomainError | None = lost
        if lost is None:
            try:
                change.apply(actor, member_id, now)
            except AdminRequiredError as refusal:
                error = lost = refusal
            except DomainError as refusal:
                error = refusal
        results.append(Result(member_id, error))
    return results
