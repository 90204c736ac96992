"""What the page of a case shows beside the case itself (spec 5.10)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from accounts.models import Member
from board.content import replace_images, sanitize_html
from board.errors import NotYourCaseError
from board.models import ModerationCase, Post, TargetType
from board.moderation.decisions import find_refusal
from board.moderation.listing import get_case_payload
from board.moderation.queue import is_for
from core.db.rows import fetch_all

# Comments before and after the reported one.
MAX_NEIGHBORS = 3
# In the order of the list of comments (spec 5.3). For a post the id is 0, so that the
# query returns its first three comments. A comment that is gone has no thread. Its
# place is a subquery, which the index can begin at; a join would read all before.
_NEIGHBORS = """
    WITH place AS (
        SELECT coalesce(
            (SELECT coalesce(c.parent_id, c.id) FROM board_comment c
             WHERE c.id = %(comment)s),
            %(comment)s
        ) AS thread
    ), around AS (
        (SELECT c.*, coalesce(c.parent_id, c.id) AS thread FROM board_comment c
         WHERE c.post_id = %(post)s AND c.member_id IS NOT NULL
           AND (coalesce(c.parent_id, c.id), c.id)
             < ((SELECT thread FROM place), %(comment)s)
         ORDER BY coalesce(c.parent_id, c.id) DESC, c.id DESC LIMIT %(limit)s)
        UNION ALL
        (SELECT c.*, coalesce(c.parent_id, c.id) AS thread FROM board_comment c
         WHERE c.post_id = %(post)s AND c.member_id IS NOT NULL
           AND (coalesce(c.parent_id, c.id), c.id)
             > ((SELECT thread FROM place), %(comment)s)
         ORDER BY coalesce(c.parent_id, c.id), c.id LIMIT %(limit)s)
    )
    SELECT a.id, a.content, a.is_hidden, a.created_at,
        a.parent_id IS NOT NULL AS is_reply, m.display_name AS author_name,
        m.id = %(author)s AS is_of_author,
        (a.thread, a.id) < ((SELECT thread FROM place), %(comment)s) AS is_before
    FROM around a JOIN member m ON m.id = a.member_id
    ORDER BY a.thread, a.id
"""


class Neighbor(NamedTuple):
    id: int
    content: str
    is_hidden: bool
    created_at: datetime
    is_reply: bool
    author_name: str
    is_of_author: bool
    is_before: bool


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of a member as staff see it; images are loaded on demand."""

    title: str
    text: str
    # Only of a post.
    html: SafeString | None = None
    image_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CasePage:
    case: dict[str, Any]
    reported: ShownText
    # None if it is gone, or as it was reported.
    changed: ShownText | None
    author: Member | None
    # Who decided, by id.
    judges: dict[int, Member]
    # The post that the comment stands under.
    post: Post | None
    neighbors: list[Neighbor]
    is_open: bool
    is_for_reader: bool
    # Why the reader does not decide the open case.
    refusal: str


def get_case_page(reader: Member, case_id: int) -> CasePage:
    """Return all that the page shows; raise `NotFoundError`."""
    case = get_case_payload(reader, case_id)
    target_type, target = case["targetType"], case["target"]
    is_open = case["status"] == ModerationCase.Status.OPEN
    reported = show_text(target_type, case["title"], case["content"])
    now = target and show_text(target_type, target["title"], target["content"])
    author_id = case["author"] and case["author"]["id"]
    judge_ids = {each["decidedById"] for each in case["decisions"]} - {None}
    people = Member.objects.defer("profile_image", "password").in_bulk(
        judge_ids | {author_id or 0}
    )
    posts = Post.objects.only("title", "is_hidden").filter(pk=case["postId"] or 0)
    author = people.get(author_id)
    # It is an appeal against an own decision if the author is not the reason.
    refusal = (author and find_refusal(reader, author)) or NotYourCaseError.detail
    return CasePage(
        case=case,
        reported=reported,
        changed=None if now == reported else now,
        author=author,
        judges=people,
        post=posts.first() if target_type == TargetType.COMMENT else None,
        neighbors=_list_neighbors(case, author_id),
        is_open=is_open,
        is_for_reader=is_open and is_for(reader, case_id),
        refusal=str(refusal),
    )


def show_text(target_type: str, title: str, content: str) -> ShownText:
    """Return a text for the page: clean HTML of a post, without its images."""
    if target_type != TargetType.POST:
        return ShownText(title, content)
    name = gettext("[Image {number}]")
    named, image_ids = replace_images(
        content, lambda number: name.format(number=number)
    )
    # It was sanitized when it was written; here a mistake of then would reach staff.
    html = mark_safe(sanitize_html(named))  # noqa: S308
    return ShownText(title, "", html, image_ids)


def _list_neighbors(case: dict[str, Any], author_id: int | None) -> list[Neighbor]:
    if case["postId"] is None:
        return []
    is_comment = case["targetType"] == TargetType.COMMENT
    params = {
        "post": case["postId"],
        "comment": case["targetId"] if is_comment else 0,
        "author": author_id or 0,
        "limit": MAX_NEIGHBORS,
    }
    return fetch_all(_NEIGHBORS, params, Neighbor)
