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
    UNKNOWN_AUTHOR,
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

# Hot comments come before others, which stand in threads: a comment, then its replies.
# A comment that cannot be seen keeps its place while a reply can. The last limit
# changes nothing: the planner learns from it how few rows there are to join.
_HAS_VISIBLE_REPLY = """
    EXISTS (SELECT FROM board_comment r WHERE r.parent_id = c.id AND NOT r.is_hidden)
"""
_IS_PLACE = f"c.is_hidden AND c.parent_id IS NULL AND {_HAS_VISIBLE_REPLY}"
_PAGE = f"""
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
        (SELECT c.id, 1, row_number() OVER (
             ORDER BY coalesce(c.parent_id, c.id), c.id
         ) FROM board_comment c
         WHERE c.post_id = %(post)s AND (NOT c.is_hidden OR ({_IS_PLACE}))
           AND c.id <> ALL (ARRAY(SELECT id FROM hot))
         ORDER BY coalesce(c.parent_id, c.id), c.id
         LIMIT %(size)s - (SELECT shown FROM ahead)
         OFFSET greatest(%(offset)s - (SELECT comments FROM ahead), 0))
    ) both_parts LIMIT %(size)s
"""  # noqa: S608
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
_ONE = """
    SELECT id, 0 AS part, 0 AS rank FROM board_comment
    WHERE id = %(comment)s AND NOT is_hidden
"""
_COMMENTS = """
    SELECT {author}, c.id, c.up_count, c.down_count,
        CASE WHEN {is_blocked} OR c.is_hidden THEN '' ELSE c.content END AS content,
        {is_blocked} AS blocked, c.is_hidden AS deleted, c.parent_id,
        answered.id AS answered_id,
        CASE WHEN NOT answered.is_hidden THEN json_build_object(
            'author_id', o.id, 'display_name', o.display_name,
            'avatar_version', o.avatar_version, 'idp_picture', o.idp_picture,
            'role', o.role, 'blocked', o.id = ANY (blocks.ids)
        ) END AS answered_author,
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
    LEFT JOIN member m ON m.id = c.member_id
    LEFT JOIN board_comment answered ON answered.id = c.reply_to_id
    LEFT JOIN member o ON o.id = answered.member_id
    {blocks}
    WHERE NOT p.is_hidden
    ORDER BY page.part, page.rank
"""
# Hidden comments are few, and have an index.
_COUNT = f"""
    SELECT p.comment_count + (
        SELECT count(*) FROM board_comment c
        WHERE c.post_id = %(post)s AND {_IS_PLACE}
    ) AS comment_count
    FROM board_post p WHERE p.id = %(post)s AND NOT p.is_hidden
"""  # noqa: S608


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
    deleted: bool
    parent_id: int | None
    answered_id: int | None
    # Columns of an author with `blocked`; None if the answered comment cannot be seen.
    answered_author: dict[str, Any] | None


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
        "parentId": row.parent_id,
        "replyTo": _reply_to_payload(row),
        "content": row.content,
        "upCount": row.up_count,
        "downCount": row.down_count,
        "myVote": VOTE_CHOICE_BY_VALUE[row.my_vote],
        "hot": row.is_hot,
        "author": _author_payload(row, is_blocked=row.blocked, is_gone=row.deleted),
        "blocked": row.blocked and not row.deleted,
        "deleted": row.deleted,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def _reply_to_payload(row: CommentRow) -> dict[str, Any] | None:
    if row.answered_id is None:
        return None
    if row.answered_author is None:
        return {"id": row.answered_id, "author": UNKNOWN_AUTHOR}
    columns = dict(row.answered_author)
    is_blocked = columns.pop("blocked")
    author = _author_payload(AuthorRow(**columns), is_blocked=is_blocked)
    return {"id": row.answered_id, "author": author}


def _author_payload(
    row: AuthorRow, *, is_blocked: bool, is_gone: bool = False
) -> dict[str, Any]:
    if is_gone:
        return UNKNOWN_AUTHOR
    return blanked_author(row) if is_blocked else author_payload(row)
