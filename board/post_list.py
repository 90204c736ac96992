"""Lists of posts.

A page is cut from ids alone, before authors and the reader's votes are joined.
PostgreSQL writes the JSON of a post, which is faster than Python.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import orjson
from django.db import connection

from accounts.members.avatar_urls import AVATAR_URL_SQL, avatar_url
from accounts.models import Member
from accounts.models.members import MODERATORS
from board.content import normalize_search_text, render_html
from board.locking import MAX_ID
from core.api.pagination import PageRequest
from core.db.like import escape_like
from core.db.rows import fetch_all, fetch_one
from core.errors import NotFoundError

# Limits of hot content (spec 5.2).
MAX_HOT_AGE = timedelta(days=1)
MAX_HOT_ITEMS = 3

_HOT = """
    hot AS MATERIALIZED (
        SELECT p.id, row_number() OVER (ORDER BY p.up_count DESC, p.id DESC) AS rank
        FROM board_post p
        WHERE p.is_popular AND NOT p.is_hidden AND p.created_at >= %(hot_since)s
        {filter}
        ORDER BY rank LIMIT %(hot_limit)s
    )
"""
_REGULAR = """
    SELECT p.id, 2 AS part, -p.id AS rank FROM board_post p
    WHERE NOT p.is_notice AND NOT p.is_hidden
      AND p.id <> ALL (ARRAY(SELECT id FROM hot)) {filter}
"""
# Hot posts, notices, then the rest. The last limit changes nothing: the planner learns
# from it how few rows there are to join. It is part of the text: for an unknown number
# PostgreSQL keeps no plan, and planning takes four times as long as running.
_OFFSET_PAGE = """
    WITH {hot}, front AS MATERIALIZED (
        SELECT id, 0 AS part, rank FROM hot
        UNION ALL
        SELECT p.id, 1, -p.id FROM board_post p
        WHERE p.is_notice AND NOT p.is_hidden
          AND p.id <> ALL (ARRAY(SELECT id FROM hot)) {filter}
    ), ahead AS MATERIALIZED (
        SELECT count(*) AS posts,
               least(greatest(count(*) - %(offset)s, 0), {size}) AS shown
        FROM front
    )
    SELECT id, part, rank FROM (
        (SELECT id, part, rank FROM front
         ORDER BY part, rank LIMIT {size} OFFSET %(offset)s)
        UNION ALL
        ({regular} ORDER BY p.id DESC
         LIMIT {size} - (SELECT shown FROM ahead)
         OFFSET greatest(%(offset)s - (SELECT posts FROM ahead), 0))
    ) both_parts LIMIT {size}
"""
_KEYSET_PAGE = """
    WITH {hot} {regular} AND p.id < %(before)s ORDER BY p.id DESC LIMIT {size} + 1
"""
# What waits for staff is shown to its author.
_IS_OWN_HELD = "p.hidden_reason = 'HELD' AND p.member_id = %(member)s"
_OWN = f"""
    SELECT p.id, 2 AS part, -p.id AS rank FROM board_post p
    WHERE p.member_id = %(member)s AND (NOT p.is_hidden OR {_IS_OWN_HELD})
    ORDER BY p.id DESC LIMIT {{size}} OFFSET %(offset)s
"""  # noqa: S608
AUTHOR_COLUMNS = (
    "m.id AS author_id, m.display_name, m.avatar_version, m.idp_picture, m.role"
)
# The members whom the reader has blocked, read once for a page (spec 5.9), and whether
# the author is one, looked up once for a row: the offset keeps it from being repeated
# wherever it is named.
BLOCKS = """
    CROSS JOIN (
        SELECT ARRAY(
            SELECT b.blocked_id FROM member_block b WHERE b.member_id = %(member)s
        ) AS ids
    ) blocks
    CROSS JOIN LATERAL (
        SELECT coalesce(m.id = ANY (blocks.ids), false) AS is_blocked OFFSET 0
    ) author_of_row
"""
IS_BLOCKED = "author_of_row.is_blocked"
# JSON of `PostSummarySerializer` (spec 5.1).
_SUMMARY = f"""
    (SELECT row_to_json(summary)::text FROM (
        SELECT p.id, CASE WHEN {IS_BLOCKED} THEN '' ELSE p.title END AS title,
            p.category,
            CASE WHEN {IS_BLOCKED} THEN ARRAY[]::varchar[] ELSE p.tags END AS tags,
            p.is_notice AS notice,
            p.is_popular AND p.created_at >= %(hot_since)s AS hot,
            p.up_count AS "upCount", p.down_count AS "downCount",
            p.comment_count AS "commentCount",
            (SELECT CASE v.value WHEN 1 THEN 'up' ELSE 'down' END
             FROM board_post_vote v
             WHERE v.post_id = p.id AND v.member_id = %(member)s) AS "myVote",
            (SELECT row_to_json(author) FROM (
                SELECT m.id,
                    CASE WHEN {IS_BLOCKED} THEN '' ELSE m.display_name
                    END AS "displayName",
                    CASE WHEN NOT {IS_BLOCKED} THEN {AVATAR_URL_SQL} END AS avatar,
                    m.role <> 'MEMBER' AND NOT {IS_BLOCKED} AS staff
            ) author) AS author,
            {IS_BLOCKED} AS blocked,
            coalesce(p.hidden_reason, 'SHOWN') AS state, p.created_at AS "createdAt"
    ) summary) AS summary
"""  # noqa: S608
_POSTS = """
    SELECT ({count}) AS total, p.id, {summary}
    FROM ({page}) page
    JOIN board_post p ON p.id = page.id JOIN member m ON m.id = p.member_id
    {blocks}
    ORDER BY page.part, page.rank
"""
_DETAIL = f"""
    SELECT {_SUMMARY},
        CASE WHEN {IS_BLOCKED} THEN '' ELSE p.content END AS content,
        to_json(p.updated_at) #>> '{{}}' AS updated_at
    FROM board_post p JOIN member m ON m.id = p.member_id
    {BLOCKS}
    WHERE p.id = %(post)s AND (NOT p.is_hidden OR ({_IS_OWN_HELD}))
"""  # noqa: S608

_COUNT_ALL = "SELECT coalesce(sum(n.posts), 0)::bigint FROM board_post_count n"
_COUNT_CATEGORY = _COUNT_ALL + " WHERE n.category = %(category)s"
_COUNT_FOUND = "SELECT count(*) FROM board_post p WHERE NOT p.is_hidden {filter}"
_COUNT_OWN = f"""
    SELECT count(*) FROM board_post p
    WHERE p.member_id = %(member)s AND (NOT p.is_hidden OR {_IS_OWN_HELD})
"""  # noqa: S608
_FILTERS = {
    "category": " AND p.category = %(category)s",
    "tag": " AND p.tags @> ARRAY[%(tag)s]::varchar[]",
    "keyword": " AND p.search_text LIKE %(keyword)s",
}
_RECOMMENDERS = """
    SELECT {author} FROM board_post_vote v JOIN member m ON m.id = v.member_id
    WHERE v.post_id = %(post)s AND v.value = 1 AND m.id <> ALL (ARRAY(
        SELECT b.blocked_id FROM member_block b WHERE b.member_id = %(member)s
    ))
    ORDER BY v.id
"""


# Of a comment that is gone, but has replies.
UNKNOWN_AUTHOR = {"id": 0, "displayName": "", "avatar": None, "staff": False}


@dataclass(slots=True)
class AuthorRow:
    author_id: int
    display_name: str
    avatar_version: str | None
    idp_picture: str
    role: str


class PostRow(NamedTuple):
    total: int
    id: int
    summary: str


class PostDetailRow(NamedTuple):
    summary: str
    content: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class PostFilter:
    """Filters of the post list; None does not filter."""

    category: str | None = None
    keyword: str | None = None
    tag: str | None = None

    @property
    def params(self) -> dict[str, str]:
        keyword = None
        if self.keyword:
            # Keywords have the normal form of `search_text`.
            keyword = f"%{escape_like(normalize_search_text(self.keyword))}%"
        params = {"category": self.category, "tag": self.tag, "keyword": keyword}
        return {name: value for name, value in params.items() if value is not None}

    @property
    def sql(self) -> str:
        return "".join(_FILTERS[name] for name in self.params)

    @property
    def count_sql(self) -> str:
        # Only counts of categories are stored.
        if self.params.keys() - {"category"}:
            return _COUNT_FOUND.format(filter=self.sql)
        return _COUNT_ALL if self.category is None else _COUNT_CATEGORY

    def format_page(self, page_sql: str, size: int) -> str:
        hot = _HOT.format(filter=self.sql)
        regular = _REGULAR.format(filter=self.sql)
        return page_sql.format(hot=hot, regular=regular, filter=self.sql, size=size)


def list_posts_page(
    reader: Member, post_filter: PostFilter, page: PageRequest, now: datetime
) -> tuple[int, orjson.Fragment]:
    """Return the count and a page: hot posts, notices, then the rest, newest first."""
    page_sql = post_filter.format_page(_OFFSET_PAGE, page.size)
    params = post_filter.params | {"offset": page.offset}
    total, rows = _fetch_page(reader, page_sql, post_filter.count_sql, params, now)
    return total, _join_summaries(rows)


def list_posts_before(
    reader: Member, post_filter: PostFilter, before: int, size: int, now: datetime
) -> tuple[int, orjson.Fragment, int | None]:
    """Return the count, regular posts with ids below `before`, and the next `before`.

    Posts at the top of the list are left out, so that a reader sees no post twice.
    """
    page_sql = post_filter.format_page(_KEYSET_PAGE, size)
    params = post_filter.params | {"before": min(before, MAX_ID)}
    total, rows = _fetch_page(reader, page_sql, post_filter.count_sql, params, now)
    # One extra row shows that the list goes on.
    next_before = rows[size - 1].id if len(rows) > size else None
    return total, _join_summaries(rows[:size]), next_before


def list_own_posts(
    member: Member, page: PageRequest, now: datetime
) -> tuple[int, orjson.Fragment]:
    page_sql, params = _OWN.format(size=page.size), {"offset": page.offset}
    total, rows = _fetch_page(member, page_sql, _COUNT_OWN, params, now)
    return total, _join_summaries(rows)


def get_post_payload(reader: Member, post_id: int, now: datetime) -> dict[str, Any]:
    params = {
        "post": require_valid_id(post_id),
        "member": reader.pk,
        "hot_since": now - MAX_HOT_AGE,
    }
    post = fetch_one(_DETAIL, params, PostDetailRow)
    if post is None:
        raise NotFoundError
    summary: dict[str, Any] = orjson.loads(post.summary)
    return summary | {
        "content": render_html(post.content),
        "updatedAt": post.updated_at,
        "recommenders": list_recommenders(reader, post_id),
    }


def list_recommenders(reader: Member, post_id: int) -> list[dict[str, Any]]:
    """Leave out those whom the reader has blocked."""
    sql = _RECOMMENDERS.format(author=AUTHOR_COLUMNS)
    rows = fetch_all(sql, {"post": post_id, "member": reader.pk}, AuthorRow)
    return [author_payload(row) for row in rows]


def hot_parameters(now: datetime) -> dict[str, Any]:
    return {"hot_since": now - MAX_HOT_AGE, "hot_limit": MAX_HOT_ITEMS}


def require_valid_id(number: int) -> int:
    if number > MAX_ID:
        raise NotFoundError
    return number


def author_payload(row: AuthorRow) -> dict[str, Any]:
    return {
        "id": row.author_id,
        "displayName": row.display_name,
        "avatar": avatar_url(row.author_id, row.avatar_version, row.idp_picture),
        "staff": row.role in MODERATORS,
    }


def blanked_author(row: AuthorRow) -> dict[str, Any]:
    return UNKNOWN_AUTHOR | {"id": row.author_id}


def fetch_count(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])


def _fetch_page(
    reader: Member, page_sql: str, count_sql: str, params: dict[str, Any], now: datetime
) -> tuple[int, list[PostRow]]:
    sql = _POSTS.format(page=page_sql, count=count_sql, summary=_SUMMARY, blocks=BLOCKS)
    params = params | hot_parameters(now) | {"member": reader.pk}
    rows = fetch_all(sql, params, PostRow)
    # A page behind the end has no row with the count.
    total = rows[0].total if rows else fetch_count(count_sql, params)
    return total, rows


def _join_summaries(rows: list[PostRow]) -> orjson.Fragment:
    return orjson.Fragment(f"[{','.join(row.summary for row in rows)}]")
