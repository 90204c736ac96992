"""Who may write on the board (spec 5.12)."""

from datetime import datetime

from accounts.models import Member
from board.errors import BoardSuspendedError

# Of the member's row, for the questions here.
STANDING_FIELDS = ("id", "created_at", "role", "silenced_until", "silence_reason")


def require_voice(member: Member, now: datetime) -> None:
    """Raise `BoardSuspendedError` for a silenced member.

    A view asks before it looks at a request. Who writes asks again under the lock of
    the member's row (`board.locking.lock_writer`).
    """
    require_voice_of(Member.objects.only(*STANDING_FIELDS).get(pk=member.pk), now)


def require_voice_of(member: Member, now: datetime) -> None:
    if member.is_silenced(now):
        raise BoardSuspendedError.of(member)
