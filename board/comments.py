"""Comments as they are read: below a post, hot ones first, and one's own."""

from datetime import datetime
from typing import Any

from accounts.models import Member
from board.post_list import AUTHOR, Row, as_id, describe_author, hot_since, read_rows
from board.voting import CHOICES
from core.api.pagination import Page
from core.errors import NotFound

_PAGE = """
    WITH hot AS MATERIALIZED (
        SELECT c.id, row_number() OVER (ORDER BY c.up_count DESC, c.id DESC) AS rank
        FROM board_comment c
        WHERE c.post_id = %(post)s AND c.is_popular AND NOT c.is_hidden
          AND c.created_at >= %(hot_since)s
        ORDER BY rank LIMIT %(hot_shown)s
    ), ahead AS MATERIALIZED (
        SELECT count(*) AS comments,
               least(greatest(count(*) - %(offset)s, 0), %(size)s) AS shown
        FROM hot
    )
    SELECT id, part, rank FROM (
        (SELECT id, 0 AS part, rank FROM hot
         ORDER BY rank LIMIT %(size)s OFFSET %(offset)s)
        UNION ALL
        (SELECT c.id, 1, c.id FROM board_comment c
         WHERE c.post_id = %(post)s AND NOT c.is_hidden
           AND c.id <> ALL (ARRAY(SELECT id FROM hot))
         ORDER BY c.id
         LIMIT %(size)s - (SELECT shown FROM ahead)
         OFFSET greatest(%(offset)s - (SELECT comments FROM ahead), 0))
    ) both_parts LIMIT %(size)s
"""
_OWN = """
    SELECT c.id, 0 AS part, -c.id AS rank
    FROM board_comment c JOIN board_post p ON p.id = c.post_id
    WHERE c.member_id = %(member)s AND NOT c.is_hidden AND NOT p.is_hidden
    ORDER BY c.id DESC LIMIT %(size)s OFFSET %(offset)s
"""
_COUNT_OWN = """
    SELECT count(*) FROM board_comment c JOIN board_post p ON p.id = c.post_id
    WHERE c.member_id = %(member)s AND NOT c.is_hidden AND NOT p.is_hidden
"""
_ONE = "SELECT %(comment)s::bigint AS id, 0 AS part, 0 AS rank"
_COMMENTS = """
    SELECT c.id, c.content, c.up_count, c.down_count,
        (SELECT v.value FROM board_comment_vote v
         WHERE v.comment_id = c.id AND v.member_id = %(member)s),
        c.is_popular AND c.created_at >= %(hot_since)s, {author},
        to_json(c.created_at) #>> '{{}}', to_json(c.updated_at) #>> '{{}}',
        p.id, p.title, p.category
    FROM ({page}) page
    JOIN board_comment c ON c.id = page.id
    JOIN board_post p ON p.id = c.post_id
    JOIN member m ON m.id = c.member_id
    WHERE NOT c.is_hidden AND NOT p.is_hidden
    ORDER BY page.part, page.rank
"""
_COUNT = """
    SELECT p.comment_count FROM board_post p WHERE p.id = %(post)s AND NOT p.is_hidden
"""


def read_page_of_comments(
    reader: Member, post_id: int, page: Page, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The count and one page: hot comments, then the oldest first, or `NotFound`.

    As of posts, at most three hot ones stand at the top, most up votes first.
    """
    values = {"post": as_id(post_id), "size": page.size, "offset": page.offset}
    counted = read_rows(_COUNT, values)
    if not counted:
        raise NotFound
    rows = _select(reader, _PAGE, values, now)
    return counted[0][0], [_describe(row) for row in rows]


def read_own_comments(
    member: Member, page: Page, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The member's own comments, newest first, each with its post."""
    values = {"member": member.pk, "size": page.size, "offset": page.offset}
    count = int(read_rows(_COUNT_OWN, values)[0][0])
    rows = _select(member, _OWN, values, now)
    return count, [_describe(row) | {"post": _describe_post(row)} for row in rows]


def read_comment(reader: Member, comment_id: int, now: datetime) -> dict[str, Any]:
    """One comment, or `NotFound`."""
    rows = _select(reader, _ONE, {"comment": as_id(comment_id)}, now)
    if not rows:
        raise NotFound
    return _describe(rows[0])


def _select(
    reader: Member, page: str, values: dict[str, Any], now: datetime
) -> list[Row]:
    sql = _COMMENTS.format(page=page, author=AUTHOR)
    return read_rows(sql, values | hot_since(now) | {"member": reader.pk})


def _describe(row: Row) -> dict[str, Any]:
    return {
        "id": row[0],
        "content": row[1],
        "upCount": row[2],
        "downCount": row[3],
        "myVote": CHOICES[row[4]],
        "hot": row[5],
        "author": describe_author(row[6:10]),
        "createdAt": row[10],
        "updatedAt": row[11],
    }


def _describe_post(row: Row) -> dict[str, Any]:
    return {"id": row[12], "title": row[13], "category": row[14]}
