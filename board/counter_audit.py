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
_STORED = "SELECT {columns} FROM {table}"
_UPDATE = """
    UPDATE {table} kept SET {assignments} FROM ({truth}) truth
    WHERE kept.{key} = truth.{key} AND ({kept}) IS DISTINCT FROM ({counted})
"""
_POST_COUNTS = """
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
_COMMENT_COUNTS = """
    SELECT c.id, coalesce(v.up, 0) AS up_count, coalesce(v.down, 0) AS down_count
    FROM board_comment c LEFT JOIN (
        SELECT comment_id, count(*) FILTER (WHERE value = 1) AS up,
               count(*) FILTER (WHERE value = -1) AS down
        FROM board_comment_vote GROUP BY 1
    ) v ON v.comment_id = c.id
"""
_MEMBER_POINTS = """
    SELECT m.id, coalesce(sum(h.points), 0)::int AS points
    FROM member m LEFT JOIN point_history h ON h.member_id = m.id GROUP BY 1
"""
_CATEGORY_COUNTS = """
    SELECT category, count(*)::int AS posts FROM board_post
    WHERE NOT is_hidden GROUP BY 1
"""
_STORED_CATEGORY_COUNTS = (
    "SELECT category, posts FROM board_post_count WHERE posts <> 0"
)
_REBUILD_CATEGORY_COUNTS = (
    "DELETE FROM board_post_count",
    "INSERT INTO board_post_count (category, posts)" + _CATEGORY_COUNTS,
)
_LOCK_TABLES = """
    LOCK TABLE member, board_post, board_comment, board_post_vote, board_comment_vote,
        board_post_count, point_history IN SHARE ROW EXCLUSIVE MODE
"""


@dataclass(frozen=True, slots=True)
class DenormalizedCounter:
    """Columns of a table that are kept, and the same counted from the rows."""

    table: str
    columns: tuple[str, ...]
    truth: str

    @property
    def held(self) -> str:
        columns = ", ".join(("id", *self.columns))
        return _STORED.format(columns=columns, table=self.table)

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


COUNTERS = (
    DenormalizedCounter(
        "board_post", ("up_count", "down_count", "comment_count"), _POST_COUNTS
    ),
    DenormalizedCounter("board_comment", ("up_count", "down_count"), _COMMENT_COUNTS),
    DenormalizedCounter("member", ("points",), _MEMBER_POINTS),
)


def count_drift() -> dict[str, int]:
    """By table: how many rows keep other numbers than there are; all 0 when right.

    All from one snapshot, so that what is written meanwhile does not show.
    """
    statements = {
        kept.table: _DRIFT.format(key="id", held=kept.held, truth=kept.truth)
        for kept in COUNTERS
    }
    statements["board_post_count"] = _DRIFT.format(
        key="category", held=_STORED_CATEGORY_COUNTS, truth=_CATEGORY_COUNTS
    )
    drift = {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0")
        for table, sql in statements.items():
            cursor.execute(sql)
            drift[table] = int(cursor.fetchone()[0])
    return drift


def rebuild_counters(report: Callable[[str], Any] = str) -> None:
    """Count all of them anew from the rows; writers of the board wait meanwhile.

    `report` is told each table that is done.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_LOCK_TABLES)
        for kept in COUNTERS:
            cursor.execute(kept.update)
            report(f"{kept.table}: counted anew")
        for sql in _REBUILD_CATEGORY_COUNTS:
            cursor.execute(sql)
        report("board_post_count: counted anew")
