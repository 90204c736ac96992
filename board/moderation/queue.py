"""Who decides what next (spec 5.10)."""

from typing import Any

from django.db import connection

from accounts.models import Member
from board.models import ModerationCase
from core.db.rows import prepared_cursor

# More are "99+".
MAX_SHOWN_CASES = 99

# Open cases that the actor may decide; `require_judge` and `require_another_judge` ask
# again under locks. The status is a literal, because PostgreSQL uses the partial index
# only for a known value.
_MINE = """
    SELECT c.id FROM board_case c LEFT JOIN member m ON m.id = c.author_id
    WHERE c.status = 'OPEN' AND {condition}
      AND c.author_id IS DISTINCT FROM %(actor)s
      AND (%(is_administrator)s OR coalesce(m.role, 'MEMBER') = 'MEMBER')
      AND NOT EXISTS (
          SELECT FROM board_decision d
          WHERE d.case_id = c.id AND d.actor_id = %(actor)s AND d.appeal IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM board_decision later
                WHERE later.case_id = c.id AND later.id > d.id)
            AND EXISTS (
                SELECT FROM member other
                WHERE other.role IN ('ADMIN', 'MODERATOR') AND other.status = 'ACTIVE'
                  AND other.id NOT IN (%(actor)s, coalesce(c.author_id, 0))
                  AND (other.role = 'ADMIN' OR coalesce(m.role, 'MEMBER') = 'MEMBER'))
      )
    ORDER BY c.id LIMIT 1
"""
_THIS = _MINE.format(condition="c.id = %(case)s")
_AFTER = _MINE.format(condition="c.id > %(case)s")
_BEFORE = _MINE.format(condition="c.id < %(case)s")


def find_next_case(actor: Member, after: int = 0) -> int | None:
    """Return the oldest case behind this one that the actor may decide.

    The cases before it follow the last one; None if there is no other case.
    """
    found = _find(_AFTER, actor, after)
    return _find(_BEFORE, actor, after) if found is None else found


def is_for(actor: Member, case_id: int) -> bool:
    """Return whether the actor may decide this case, which is open."""
    return _find(_THIS, actor, case_id) is not None


def has_open_cases() -> bool:
    return ModerationCase.objects.filter(status=ModerationCase.Status.OPEN).exists()


def count_open_cases() -> int:
    """Return the number of open cases, at most one more than `MAX_SHOWN_CASES`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM ("
            " SELECT FROM board_case WHERE status = 'OPEN' LIMIT %s) waiting",
            [MAX_SHOWN_CASES + 1],
        )
        (count,) = cursor.fetchone()
    return int(count)


def _find(sql: str, actor: Member, case_id: int) -> int | None:
    params: dict[str, Any] = {
        "actor": actor.pk,
        "is_administrator": actor.is_administrator,
        "case": case_id,
    }
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return None if row is None else int(row[0])
