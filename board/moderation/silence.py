"""Silence: a member who writes nothing on the board for a time (spec 5.12)."""

from datetime import datetime

from accounts.models import Member
from board.models import Decision


def silence_author(author_id: int, until: datetime, reason: str) -> None:
    """Silence a member, whom the caller has locked; a longer silence stays."""
    author = Member.objects.get(pk=author_id)
    if author.silenced_until is None or author.silenced_until < until:
        author.silenced_until, author.silence_reason = until, reason
        author.save_fields("silenced_until", "silence_reason")


def end_silence_of(author_id: int, decision: Decision | None = None) -> None:
    """End a silence; that of a decision only if no later one silenced the member."""
    if decision is not None:
        later = Decision.objects.filter(case__author=author_id, pk__gt=decision.pk)
        if later.filter(silence_days__isnull=False).exists():
            return
    Member.objects.filter(pk=author_id).update(silenced_until=None, silence_reason="")
