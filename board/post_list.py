"""The board as it is read: the list with hot posts and notices, one post, one's own.

A page is one statement: it cuts the page from ids alone, then joins authors and the
reader's own votes to its rows, and reads the stored count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.avatars import avatar_url
from accounts.models import Member
from board.content import normalize_search_text, render_html
from board.locking import MAX_ID
from board.voting import VOTE_CHOICE_BY_VALUE
from core.api.pagination import PageRequest
from core.errors import NotFoundError

MAX_HOT_AGE = timedelta(days=1)
"""How old a hot post or comment may be (spec 5.2)."""
MAX_HOT_ITEMS = 3
"""How many of them stand at the top."""

_HOT = """
    hot AS MATERIALIZED (
        SELECT p.id, row_number() OVER (ORDER BY p.up_count DESC, p.id DESC) AS rank
        FROM board_post p
        WHERE p.is_popular AND NOT p.is_hidden AND p.created_at >= %(hot_since)s
        {filter}
        ORDER BY rank LIMIT %(hot_shown)s
    )
"""
_REGULAR = """
    SELECT p.id, 2 AS part, -p.id AS rank FROM board_post p
    WHERE NOT p.is_notice AND NOT p.is_hidden
      AND p.id <> ALL (ARRAY(SELECT id FROM hot)) {filter}
"""
_OFFSET_PAGE = """
    WITH {hot}, front AS MATERIALIZED (
        SELECT id, 0 AS part, rank FROM hot
        UNION ALL
        SELECT p.id, 1, -p.id FROM board_post p
        WHERE p.is_notice AND NOT p.is_hidden
          AND p.id <> ALL (ARRAY(SELECT id FROM hot)) {filter}
    ), ahead AS MATERIALIZED (
        SELECT count(*) AS posts,
               least(greatest(count(*) - %(offset)s, 0), %(size)s) AS shown
        FROM front
    )
    SELECT id, part, rank FROM (
        (SELECT id, part, rank FROM front
         ORDER BY part, rank LIMIT %(size)s OFFSET %(offset)s)
        UNION ALL
        ({plain} ORDER BY p.id DESC
         LIMIT %(size)s - (SELECT shown FROM ahead)
         OFFSET greatest(%(offset)s - (SELECT posts FROM ahead), 0))
    ) both_parts LIMIT %(size)s
"""
"""Hot posts, notices, then the rest by id: one sequence that the pages cut. The last
limit changes nothing; it tells the planner how few rows there are to join."""
_KEYSET_PAGE = """
    WITH {hot} {plain} AND p.id < %(before)s ORDER BY p.id DESC LIMIT %(size)s + 1
"""
_OWN = """
    SELECT p.id, 2 AS part, -p.id AS rank FROM board_post p
    WHERE p.member_id = %(member)s AND NOT p.is_hidden
    ORDER BY p.id DESC LIMIT %(size)s OFFSET %(offset)s
"""
AUTHOR_COLUMNS = "m.id, m.display_name, m.avatar_version, m.idp_picture"
_POSTS = """
    SELECT ({count}), p.id, p.title, p.category, p.tags, p.is_notice,
        p.is_popular AND p.created_at >= %(hot_since)s,
        p.up_count, p.down_count, p.comment_count,
        (SELECT v.value FROM board_post_vote v
         WHERE v.post_id = p.id AND v.member_id = %(member)s),
        {author}, to_json(p.created_at) #>> '{{}}' {more}
    FROM ({page}) page
    JOIN board_post p ON p.id = page.id JOIN member m ON m.id = p.member_id
    ORDER BY page.part, page.rank
"""
_ONE = "SELECT %(post)s::bigint AS id, 0 AS part, 0 AS rank"
_DETAIL_COLUMNS = ", p.content, to_json(p.updated_at) #>> '{}', p.is_hidden"

_COUNT_ALL = "SELECT coalesce(sum(n.posts), 0)::bigint FROM board_post_count n"
_COUNT_CATEGORY = _COUNT_ALL + " WHERE n.category = %(category)s"
_COUNT_FOUND = "SELECT count(*) FROM board_post p WHERE NOT p.is_hidden {filter}"
_COUNT_OWN = """
    SELECT count(*) FROM board_post p WHERE p.member_id = %(member)s AND NOT p.is_hidden
"""
_FILTERS = {
    "category": " AND p.category = %(category)s",
    "tag": " AND p.tags @> ARRAY[%(tag)s]::varchar[]",
    "keyword": " AND p.words LIKE %(keyword)s",
}
_RECOMMENDERS = """
    SELECT {author} FROM board_post_vote v JOIN member m ON m.id = v.member_id
    WHERE v.post_id = %(post)s AND v.value = 1 ORDER BY v.id
"""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PostFilter:
    """Which posts are asked for; None asks for all."""

    category: str | None = None
    keyword: str | None = None
    tag: str | None = None

    @property
    def values(self) -> dict[str, str]:
        keyword = _like_pattern(self.keyword) if self.keyword else None
        given = {"category": self.category, "tag": self.tag, "keyword": keyword}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def sql(self) -> str:
        return "".join(_FILTERS[name] for name in self.values)

    @property
    def count(self) -> str:
        """Stored counts know categories; only rows know words and tags."""
        if self.values.keys() - {"category"}:
            return _COUNT_FOUND.format(filter=self.sql)
        return _COUNT_ALL if self.category is None else _COUNT_CATEGORY


def list_posts_page(
    reader: Member, wanted: PostFilter, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The count and one page: hot posts, notices, then the rest, newest first.

    At most three hot posts stand at the top of the whole list, most up votes first,
    and nowhere else (spec 5.2).
    """
    values = wanted.values | {"size": page.size, "offset": page.offset}
    sql = _format_sql(_OFFSET_PAGE, wanted)
    return _fetch_page(reader, sql, wanted.count, values, now)


def list_posts_before(
    reader: Member, wanted: PostFilter, before: int, size: int, now: datetime
) -> tuple[int, list[dict[str, Any]], int | None]:
    """The count, plain posts with smaller ids, and the next `before` if there are more.

    Those that stand at the top of the list are left out here too, so that a reader who
    goes on from a page sees none twice.
    """
    values = wanted.values | {"size": size, "before": min(before, MAX_ID)}
    sql = _format_sql(_KEYSET_PAGE, wanted)
    count, posts = _fetch_page(reader, sql, wanted.count, values, now)
    following = posts[size - 1]["id"] if len(posts) > size else None
    return count, posts[:size], following


def list_own_posts(
    member: Member, page: PageRequest, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """The member's own posts, newest first."""
    values = {"size": page.size, "offset": page.offset}
    return _fetch_page(member, _OWN, _COUNT_OWN, values, now)


def get_post_payload(reader: Member, post_id: int, now: datetime) -> dict[str, Any]:
    """One post with its content and who voted it up, or `NotFoundError`."""
    rows = _fetch_post_rows(
        reader, _ONE, "0", {"post": require_valid_id(post_id)}, now, _DETAIL_COLUMNS
    )
    if not rows or rows[0][-1]:
        raise NotFoundError
    content, updated_at, _ = rows[0][-3:]
    return _post_payload(rows[0]) | {
        "content": render_html(content),
        "updatedAt": updated_at,
        "recommenders": list_recommenders(post_id),
    }


def list_recommenders(post_id: int) -> list[dict[str, Any]]:
    """The members who voted a post up, in the order of their votes."""
    rows = fetch_rows(_RECOMMENDERS.format(author=AUTHOR_COLUMNS), {"post": post_id})
    return [author_payload(row) for row in rows]


def hot_parameters(now: datetime) -> dict[str, Any]:
    """The values that every statement about hot ones needs."""
    return {"hot_since": now - MAX_HOT_AGE, "hot_shown": MAX_HOT_ITEMS}


def require_valid_id(number: int) -> int:
    """An id that a row can have, or `NotFoundError`."""
    if number > MAX_ID:
        raise NotFoundError
    return number


def author_payload(columns: Sequence[Any]) -> dict[str, Any]:
    """The columns of `AUTHOR_COLUMNS` as an author (spec 5.7)."""
    member_id, name, version, picture = columns
    return {
        "id": member_id,
        "displayName": name,
        "avatar": avatar_url(member_id, version, picture),
    }


def fetch_rows(sql: str, values: dict[str, Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[Row] = cursor.fetchall()
    return rows


def _format_sql(page: str, wanted: PostFilter) -> str:
    hot, plain = (part.format(filter=wanted.sql) for part in (_HOT, _REGULAR))
    return page.format(hot=hot, plain=plain, filter=wanted.sql)


def _fetch_page(
    reader: Member, page: str, count: str, values: dict[str, Any], now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    rows = _fetch_post_rows(reader, page, count, values, now)
    if rows:
        return rows[0][0], [_post_payload(row) for row in rows]
    return int(fetch_rows(count, values | {"member": reader.pk})[0][0]), []


def _fetch_post_rows(
    reader: Member,
    page: str,
    count: str,
    values: dict[str, Any],
    now: datetime,
    more: str = "",
) -> list[Row]:
    sql = _POSTS.format(page=page, count=count, author=AUTHOR_COLUMNS, more=more)
    return fetch_rows(sql, values | hot_parameters(now) | {"member": reader.pk})


def _post_payload(row: Row) -> dict[str, Any]:
    """A row of `_POSTS` as a summary (spec 5.1), by hand: lists are long."""
    return {
        "id": row[1],
        "title": row[2],
        "category": row[3],
        "tags": row[4],
        "notice": row[5],
        "hot": row[6],
        "upCount": row[7],
        "downCount": row[8],
        "commentCount": row[9],
        "myVote": VOTE_CHOICE_BY_VALUE[row[10]],
        "author": author_payload(row[11:15]),
        "createdAt": row[15],
    }


def _like_pattern(keyword: str) -> str:
    """A pattern for the words of posts, which are kept in one searchable form."""
    text = normalize_search_text(keyword)
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
