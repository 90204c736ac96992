"""Proof that counters, stored counts and points equal their rows, and their repair.

Triggers and locks keep them right; this is for operators who want to see it, or who
changed rows with the triggers off.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

_DRIFT = """
    SELECT count(DISTINCT {key}) FROM (
        (({held}) EXCEPT ({truth})) UNION ALL (({truth}) EXCEPT ({held}))
    ) different
"""
_HELD = "SELECT {columns} FROM {table}"
_UPDATE = """
    UPDATE {table} kept SET {assignments} FROM ({truth}) truth
    WHERE kept.{key} = truth.{key} AND ({kept}) IS DISTINCT FROM ({counted})
"""
_OF_POSTS = """
    SELECT p.id, coalesce(v.up, 0) AS up_count, coalesce(v.down, 0) AS down_count,
           coalesce(c.comments, 0) AS comment_count
    FROM board_post p LEFT JOIN (
        SELECT post_id, count(*) FILTER (WHERE value = 1) AS up,
               count(*) FILTER (WHERE value = -1) AS down
        FROM board_post_vote GROUP BY 1
    ) v ON v.post_id = p.id LEFT JOIN (
        SELECT post_id, count(*) AS comments
        FROM board_comment WHERE NOT is_hidden GROUP BY 1
    ) c ON c.post_id = p.id
"""
_OF_COMMENTS = """
    SELECT c.id, coalesce(v.up, 0) AS up_count, coalesce(v.down, 0) AS down_count
    FROM board_comment c LEFT JOIN (
        SELECT comment_id, count(*) FILTER (WHERE value = 1) AS up,
               count(*) FILTER (WHERE value = -1) AS down
        FROM board_comment_vote GROUP BY 1
    ) v ON v.comment_id = c.id
"""
_OF_MEMBERS = """
    SELECT m.id, coalesce(sum(h.points), 0)::int AS points
    FROM member m LEFT JOIN point_history h ON h.member_id = m.id GROUP BY 1
"""
_OF_CATEGORIES = """
    SELECT category, count(*)::int AS posts FROM board_post
    WHERE NOT is_hidden GROUP BY 1
"""
_HELD_OF_CATEGORIES = "SELECT category, posts FROM board_post_count WHERE posts <> 0"
_REFILL = (
    "DELETE FROM board_post_count",
    "INSERT INTO board_post_count (category, posts)" + _OF_CATEGORIES,
)
_KEEP_WRITERS_OFF = """
    LOCK TABLE member, board_post, board_comment, board_post_vote, board_comment_vote,
        board_post_count, point_history IN SHARE ROW EXCLUSIVE MODE
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """Columns of a table that are kept, and the same counted from the rows."""

    table: str
    columns: tuple[str, ...]
    truth: str

    @property
    def held(self) -> str:
        columns = ", ".join(("id", *self.columns))
        return _HELD.format(columns=columns, table=self.table)

    @property
    def update(self) -> str:
        """Rows that are right are left alone."""
        return _UPDATE.format(
            table=self.table,
            key="id",
            truth=self.truth,
            assignments=", ".join(f"{c} = truth.{c}" for c in self.columns),
            kept=", ".join(f"kept.{c}" for c in self.columns),
            counted=", ".join(f"truth.{c}" for c in self.columns),
        )


KEPT = (
    Kept("board_post", ("up_count", "down_count", "comment_count"), _OF_POSTS),
    Kept("board_comment", ("up_count", "down_count"), _OF_COMMENTS),
    Kept("member", ("points",), _OF_MEMBERS),
)


def count_drift() -> dict[str, int]:
    """By table: how many rows keep other numbers than there are; all 0 when right.

    All from one snapshot, so that what is written meanwhile does not show.
    """
    statements = {
        kept.table: _DRIFT.format(key="id", held=kept.held, truth=kept.truth)
        for kept in KEPT
    }
    statements["board_post_count"] = _DRIFT.format(
        key="category", held=_HELD_OF_CATEGORIES, truth=_OF_CATEGORIES
    )
    drift = {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0")
        for table, sql in statements.items():
            cursor.execute(sql)
            drift[table] = int(cursor.fetchone()[0])
    return drift


def recount(report: Callable[[str], Any] = str) -> None:
    """Count all of them anew from the rows; writers of the board wait meanwhile.

    `report` is told each table that is done.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_KEEP_WRITERS_OFF)
        for kept in KEPT:
            cursor.execute(kept.update)
            report(f"{kept.table}: counted anew")
        for sql in _REFILL:
            cursor.execute(sql)
        report("board_post_count: counted anew")
