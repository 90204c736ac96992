"""Silence: a member who writes nothing on the board for a time (spec 5.12)."""

from datetime import datetime

from accounts.models import Member


def silence_author(author_id: int, until: datetime, reason: str) -> None:
    """Silence a member, whom the caller has locked; a longer silence stays."""
    author = Member.objects.get(pk=author_id)
    if author.silenced_until is None or author.silenced_until < until:
        author.silenced_until, author.silence_reason = until, reason
        author.save_fields("silenced_until", "silence_reason")


def end_silence_of(author_id: int) -> None:
    Member.objects.filter(pk=author_id).update(silenced_until=None, silence_reason="")
