"""Comments as they are read: below a post, hot ones first, and one's own."""

from datetime import datetime
from typing import Any

from accounts.models import Member
from board.post_list import (
    AUTHOR_COLUMNS,
    Row,
    author_payload,
    fetch_rows,
    hot_parameters,
    require_valid_id,
)
from board.voting import VOTE_CHOICE_BY_VALUE
from core.api.pagination import PageRequest
from core.errors import NotFoundError

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


def list_comments_page(
    reader: Member, post_id: int, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The count and one page: hot comments, then the oldest first, or `NotFoundError`.

    As of posts, at most three hot ones stand at the top, most up votes first.
    """
    values = {
        "post": require_valid_id(post_id),
        "size": page.size,
        "offset": page.offset,
    }
    counted = fetch_rows(_COUNT, values)
    if not counted:
        raise NotFoundError
    rows = _fetch_comment_rows(reader, _PAGE, values, now)
    return counted[0][0], [_comment_payload(row) for row in rows]


def list_own_comments(
    member: Member, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The member's own comments, newest first, each with its post."""
    values = {"member": member.pk, "size": page.size, "offset": page.offset}
    count = int(fetch_rows(_COUNT_OWN, values)[0][0])
    rows = _fetch_comment_rows(member, _OWN, values, now)
    return count, [
        _comment_payload(row) | {"post": _comment_post_payload(row)} for row in rows
    ]


def get_comment_payload(
    reader: Member, comment_id: int, now: datetime
) -> dict[str, Any]:
    """One comment, or `NotFoundError`."""
    rows = _fetch_comment_rows(
        reader, _ONE, {"comment": require_valid_id(comment_id)}, now
    )
    if not rows:
        raise NotFoundError
    return _comment_payload(rows[0])


def _fetch_comment_rows(
    reader: Member, page: str, values: dict[str, Any], now: datetime
) -> list[Row]:
    sql = _COMMENTS.format(page=page, author=AUTHOR_COLUMNS)
    return fetch_rows(sql, values | hot_parameters(now) | {"member": reader.pk})


def _comment_payload(row: Row) -> dict[str, Any]:
    return {
        "id": row[0],
        "content": row[1],
        "upCount": row[2],
        "downCount": row[3],
        "myVote": VOTE_CHOICE_BY_VALUE[row[4]],
        "hot": row[5],
        "author": author_payload(row[6:10]),
        "createdAt": row[10],
        "updatedAt": row[11],
    }


def _comment_post_payload(row: Row) -> dict[str, Any]:
    return {"id": row[12], "title": row[13], "category": row[14]}
