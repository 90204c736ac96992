"""All that one author wrote: hidden or deleted in one deed, and shown again (spec 7.9).

A deed is found by the actor, the moment and the action of its decisions.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet

from accounts.models import Member
from board.models import Comment, Decision, ModerationCase, Post, TargetType
from board.moderation.bulk import (
    MAX_SECONDS,
    Outcome,
    Targets,
    judge_all,
    start_deed,
)
from board.moderation.cases import STANDS
from board.moderation.decisions import Judgement
from board.moderation.notes import HIDDEN_AGAIN, HIDDEN_BEFORE
from core.db.rows import fetch_all
from core.errors import NotFoundError

Action = Decision.Action
MAX_ROWS = 10_000
MAX_LISTED_DEEDS = 20
# One alone is shown again on its own page.
MIN_ROWS = 2
_DECISIONS = f"""
    FROM board_case c
    JOIN board_decision d ON d.case_id = c.id
    WHERE c.author_id = %(author)s AND c.target_type IN ('POST', 'COMMENT')
      AND d.decided_at >= %(since)s AND d.action IN ('HIDE', 'DELETE')
      AND NOT d.is_automatic AND NOT d.is_final AND d.note <> '{HIDDEN_AGAIN}'
"""
# The row is hidden by it still, and nobody has decided about it since.
_STANDS = f"""
    {STANDS}
    AND CASE c.target_type
        WHEN 'POST' THEN EXISTS (
            SELECT FROM board_post p WHERE p.id = c.target_id AND p.is_hidden
        )
        ELSE EXISTS (
            SELECT FROM board_comment t
            WHERE t.id = c.target_id AND t.is_hidden AND t.member_id IS NOT NULL
        )
    END
"""  # noqa: S608 - of constants only
_LIST = f"""
    SELECT deed.actor_id, m.login_id AS actor_name, deed.decided_at, deed.action,
        deed.reason, deed.count, deed.standing
    FROM (
        SELECT d.actor_id, d.decided_at, d.action, d.reason, count(*) AS count,
            count(*) FILTER (WHERE {_STANDS}) AS standing
        {_DECISIONS}
        GROUP BY d.actor_id, d.decided_at, d.action, d.reason
        HAVING count(*) >= {MIN_ROWS}
        ORDER BY d.decided_at DESC LIMIT {MAX_LISTED_DEEDS}
    ) deed
    LEFT JOIN member m ON m.id = deed.actor_id
    ORDER BY deed.decided_at DESC
"""  # noqa: S608 - of constants only
_OF_DEED = """
    AND d.decided_at = %(decided_at)s AND d.action = %(action)s
    AND d.actor_id IS NOT DISTINCT FROM %(actor)s
"""
# With the reason for which a row was hidden before it was deleted.
_LIST_TARGETS = f"""
    SELECT c.target_type, c.target_id, starts_with(d.note, %(note)s) AS was_hidden,
        coalesce((
            SELECT CASE b.action WHEN 'DISMISS' THEN '' ELSE b.reason END
            FROM board_case bc JOIN board_decision b ON b.case_id = bc.id
            WHERE bc.target_type = c.target_type AND bc.target_id = c.target_id
              AND b.id < d.id AND b.action <> 'SILENCE'
            ORDER BY b.id DESC LIMIT 1
        ), '') AS reason_before
    {_DECISIONS} {_OF_DEED}
    ORDER BY c.target_id
"""  # noqa: S608 - of constants only
_NEWEST = f"""
    SELECT c.target_id FROM board_case c JOIN board_decision d ON d.case_id = c.id
    WHERE c.target_type = %(target_type)s AND c.target_id = ANY(%(ids)s)
      {_OF_DEED} AND {STANDS}
"""  # noqa: S608 - of constants only


@dataclass(frozen=True, slots=True)
class DeedKey:
    actor_id: int | None
    decided_at: datetime
    action: str

    def __str__(self) -> str:
        return f"{self.actor_id or ''}/{self.decided_at.isoformat()}/{self.action}"

    @classmethod
    def parse(cls, text: str) -> "DeedKey":
        """Read what `str` has written; raise `NotFoundError`."""
        try:
            actor, moment, action = text.split("/")
            decided_at = datetime.fromisoformat(moment)
            actor_id = int(actor) if actor else None
        except ValueError:
            raise NotFoundError from None
        is_known = action in {Action.HIDE, Action.DELETE}
        if decided_at.tzinfo is None or not is_known or (actor_id or 0) >= 2**63:
            raise NotFoundError
        return cls(actor_id, decided_at, action)


@dataclass(slots=True)
class PastDeed:
    actor_id: int | None
    actor_name: str | None
    decided_at: datetime
    action: str
    reason: str
    # Decisions, and those of them that can be undone.
    count: int
    standing: int

    @property
    def key(self) -> DeedKey:
        return DeedKey(self.actor_id, self.decided_at, self.action)


class _TargetOfDeed(NamedTuple):
    target_type: str
    target_id: int
    was_hidden: bool
    reason_before: str


def has_written(member_id: int) -> bool:
    """Return whether moderators have something to decide about, or had."""
    return (
        Post.objects.filter(member=member_id).exists()
        or Comment.objects.filter(member=member_id).exists()
        or ModerationCase.objects.filter(author=member_id).exists()
    )


def list_targets_of(author_id: int, action: str) -> Targets:
    """Return what there is to hide or to delete, the newest `MAX_ROWS`."""
    # What is deleted already waits for its removal.
    due = Q(is_hidden=False) if action == Action.HIDE else Q(remove_after=None)
    targets: dict[TargetType, list[int]] = {}
    room = MAX_ROWS
    for target_type, rows in (
        (TargetType.POST, Post.objects.filter(due, member=author_id)),
        (TargetType.COMMENT, Comment.objects.filter(due, member=author_id)),
    ):
        targets[target_type] = _newest_ids(rows, room)
        room -= len(targets[target_type])
    return targets


def _newest_ids(rows: QuerySet[Any], limit: int) -> list[int]:
    return list(rows.order_by("-id").values_list("id", flat=True)[:limit])


def judge_author(
    actor: Member, targets: Targets, action: str, reason: str, now: datetime
) -> Outcome:
    """Hide or delete what `list_targets_of` has found, as one deed."""
    return judge_all(
        start_deed(actor, Judgement(action, reason), now, targets), targets
    )


def list_deeds(author_id: int, now: datetime) -> list[PastDeed]:
    """Return the newest deeds on several rows of an author within `BOARD_KEPT_DAYS`."""
    return fetch_all(_LIST, {"author": author_id, "since": _since(now)}, PastDeed)


def undo_deed(actor: Member, author_id: int, key: DeedKey, now: datetime) -> Outcome:
    """Show again what a deed hid or deleted of an author, and nothing else.

    What it deleted and was hidden before is hidden for the reason of then, of which the
    author is not told. What somebody decided about since stays. Raises `NotFoundError`
    for a deed that is unknown or too old.
    """
    values: dict[str, Any] = {
        "author": author_id,
        "since": _since(now),
        "decided_at": key.decided_at,
        "action": key.action,
        "actor": key.actor_id,
    }
    rows = fetch_all(_LIST_TARGETS, values | {"note": HIDDEN_BEFORE}, _TargetOfDeed)
    if len(rows) < MIN_ROWS:
        raise NotFoundError

    def select(target_type: TargetType, ids: Collection[int]) -> set[int]:
        with connection.cursor() as cursor:
            more = {"target_type": target_type, "ids": list(ids)}
            cursor.execute(_NEWEST, values | more)
            return {target_id for (target_id,) in cursor.fetchall()}

    shown = [row for row in rows if not row.was_hidden]
    parts = [(Judgement(Action.DISMISS), shown)]
    hidden = [row for row in rows if row.was_hidden]
    for reason in sorted({row.reason_before for row in hidden}):
        again = Judgement(Action.HIDE, reason, HIDDEN_AGAIN, tells_author=False)
        parts.append((again, [row for row in hidden if row.reason_before == reason]))
    outcome, end = Outcome(), time.monotonic() + MAX_SECONDS
    for judgement, of_part in parts:
        targets = {
            each: [row.target_id for row in of_part if row.target_type == each]
            for each in (TargetType.POST, TargetType.COMMENT)
        }
        deed = start_deed(actor, judgement, now, targets, select=select)
        part = judge_all(deed, targets, max_seconds=end - time.monotonic())
        if judgement.note == HIDDEN_AGAIN:
            part.hidden_again, part.changed = part.changed, 0
        outcome.add(part)
        outcome.error = outcome.error or part.error
    return outcome


def _since(now: datetime) -> datetime:
    return now - timedelta(days=settings.BOARD_KEPT_DAYS)
