"""Lists of comments.

A page is cut from ids alone, before authors, posts and the reader's votes are joined.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from accounts.models import Member
from board.post_list import (
    AUTHOR_COLUMNS,
    BLOCKS,
    IS_BLOCKED,
    AuthorRow,
    author_payload,
    blanked_author,
    fetch_count,
    hot_parameters,
    require_valid_id,
)
from board.voting import VOTE_CHOICE_BY_VALUE
from core.api.pagination import PageRequest
from core.db.rows import fetch_all, fetch_one
from core.errors import NotFoundError

# Hot comments come before others. The last limit changes nothing: the planner learns
# from it how few rows there are to join.
_PAGE = """
    WITH hot AS MATERIALIZED (
        SELECT c.id, row_number() OVER (ORDER BY c.up_count DESC, c.id DESC) AS rank
        FROM board_comment c
        WHERE c.post_id = %(post)s AND c.is_popular AND NOT c.is_hidden
          AND c.created_at >= %(hot_since)s
        ORDER BY rank LIMIT %(hot_limit)s
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
    SELECT {author}, c.id, c.up_count, c.down_count,
        CASE WHEN {is_blocked} THEN '' ELSE c.content END AS content,
        {is_blocked} AS blocked,
        (SELECT v.value FROM board_comment_vote v
         WHERE v.comment_id = c.id AND v.member_id = %(member)s) AS my_vote,
        c.is_popular AND c.created_at >= %(hot_since)s AS is_hot,
        to_json(c.created_at) #>> '{{}}' AS created_at,
        to_json(c.updated_at) #>> '{{}}' AS updated_at,
        p.id AS post_id, p.category AS post_category,
        CASE WHEN p.member_id = ANY (blocks.ids) THEN '' ELSE p.title END AS post_title
    FROM ({page}) page
    JOIN board_comment c ON c.id = page.id
    JOIN board_post p ON p.id = c.post_id
    JOIN member m ON m.id = c.member_id
    {blocks}
    WHERE NOT c.is_hidden AND NOT p.is_hidden
    ORDER BY page.part, page.rank
"""
_COUNT = """
    SELECT p.comment_count FROM board_post p WHERE p.id = %(post)s AND NOT p.is_hidden
"""


@dataclass(slots=True)
class CommentRow(AuthorRow):
    """Times are in PostgreSQL's JSON format."""

    id: int
    content: str
    up_count: int
    down_count: int
    my_vote: int | None
    is_hot: bool
    created_at: str
    updated_at: str
    post_id: int
    post_title: str
    post_category: str
    blocked: bool


class CommentCount(NamedTuple):
    comment_count: int


def list_comments_page(
    reader: Member, post_id: int, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """Return the count and a page: at most three hot comments, then oldest first."""
    params = {
        "post": require_valid_id(post_id),
        "size": page.size,
        "offset": page.offset,
    }
    total = fetch_one(_COUNT, params, CommentCount)
    if total is None:
        raise NotFoundError
    rows = _fetch_comments(reader, _PAGE, params, now)
    return total.comment_count, [_comment_payload(row) for row in rows]


def list_own_comments(
    member: Member, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    params = {"member": member.pk, "size": page.size, "offset": page.offset}
    total = fetch_count(_COUNT_OWN, params)
    rows = _fetch_comments(member, _OWN, params, now)
    return total, [
        _comment_payload(row)
        | {
            "post": {
                "id": row.post_id,
                "title": row.post_title,
                "category": row.post_category,
            }
        }
        for row in rows
    ]


def get_comment_payload(
    reader: Member, comment_id: int, now: datetime
) -> dict[str, Any]:
    params = {"comment": require_valid_id(comment_id)}
    rows = _fetch_comments(reader, _ONE, params, now)
    if not rows:
        raise NotFoundError
    return _comment_payload(rows[0])


def _fetch_comments(
    reader: Member, page_sql: str, params: dict[str, Any], now: datetime
) -> list[CommentRow]:
    sql = _COMMENTS.format(
        page=page_sql, author=AUTHOR_COLUMNS, blocks=BLOCKS, is_blocked=IS_BLOCKED
    )
    params = params | hot_parameters(now) | {"member": reader.pk}
    return fetch_all(sql, params, CommentRow)


def _comment_payload(row: CommentRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "content": row.content,
        "upCount": row.up_count,
        "downCount": row.down_count,
        "myVote": VOTE_CHOICE_BY_VALUE[row.my_vote],
        "hot": row.is_hot,
        "author": blanked_author(row) if row.blocked else author_payload(row),
        "blocked": row.blocked,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
