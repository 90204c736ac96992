"""Rollups of the board and of points."""

from core.db.rollup_audit import Rollup

_POST_COUNTERS = """
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
_COMMENT_COUNTERS = """
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

ROLLUPS = (
    Rollup(
        "board_post",
        ("id",),
        ("up_count", "down_count", "comment_count"),
        _POST_COUNTERS,
        is_whole_table=False,
    ),
    Rollup(
        "board_comment",
        ("id",),
        ("up_count", "down_count"),
        _COMMENT_COUNTERS,
        is_whole_table=False,
    ),
    Rollup("member", ("id",), ("points",), _MEMBER_POINTS, is_whole_table=False),
    Rollup("board_post_count", ("category",), ("posts",), _CATEGORY_COUNTS),
)
# All tables that are read or rebuilt.
LOCKED_TABLES = (
    *("member", "board_post", "board_comment", "board_post_vote"),
    *("board_comment_vote", "board_post_count", "point_history"),
)
