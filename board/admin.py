"""Moderation in the Django admin.

Find posts, comments and images; hide, pin or delete them.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Max, Prefetch, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat, truncatechars
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.models import Member
from board import moderation
from board.content import IMAGE_PATH_PREFIX, normalize_search_text, render_html
from board.models import Comment, Image, Post, PostImage
from core.admin import DEFERRED_MEMBER_FIELDS, ReadOnlyAdmin

MAX_BATCH_SIZE = 100
# Of the posts that show an image, the newest ones.
MAX_LISTED_POSTS = 20
# The newest ones: the text of comments has no index.
MAX_SEARCHED_COMMENTS = 200_000
AUTHOR_PREFIX = "@"
AUTHOR_SEARCH_HELP = f"{AUTHOR_PREFIX}login_id of the author, or a phrase"

BulkAction = Callable[[Member, Collection[Any]], int]


class ModerationAdmin(ReadOnlyAdmin):
    """Base of the content of members: search by author or text, change by actions."""

    ordering = ["-id"]
    list_select_related = ["member"]
    # Makes the search field appear; `get_search_results` does the search.
    search_fields = ["id"]
    # The label and the function of each action, by its name.
    bulk_actions: dict[str, tuple[str, BulkAction]]

    @admin.display(description="author")
    def author(self, row: Post | Comment | Image) -> str:
        return row.member.login_id

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.defer(*DEFERRED_MEMBER_FIELDS)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if term.startswith(AUTHOR_PREFIX):
            login_id = term.removeprefix(AUTHOR_PREFIX)
            members = Member.objects.with_login_id(login_id)
            return queryset.filter(member__in=list(members.only("id"))), False
        return (self.filter_by_text(queryset, term) if term else queryset), False

    @abstractmethod
    def summarize(self, row: Any) -> str:
        """Return the words by which a row is recognized."""

    @abstractmethod
    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        """Filter by text, using an index or among the newest rows only."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: (partial(_confirm_or_apply, name), name, label)
            for name, (label, _) in self.bulk_actions.items()
        }


@admin.register(Post)
class PostAdmin(ModerationAdmin):
    list_display = [
        *("id", "title", "category", "author", "is_notice", "is_hidden"),
        *("up_count", "down_count", "comment_count", "created_at"),
    ]
    list_display_links = ["id", "title"]
    list_filter = ["category", "is_notice", "is_hidden", "created_at"]
    search_help_text = f"{AUTHOR_SEARCH_HELP} in title or text."
    fields = [
        ("title", "category"),
        ("author", "created_at", "updated_at"),
        ("is_notice", "is_hidden"),
        ("up_count", "down_count", "comment_count"),
        *("tags", "shown"),
    ]
    readonly_fields = ["author", "shown"]
    bulk_actions = {
        "hide": ("Hide", partial(moderation.hide_posts, hidden=True)),
        "show": ("Show again", partial(moderation.hide_posts, hidden=False)),
        "notice": ("Mark as notice", partial(moderation.mark_notices, notice=True)),
        "unnotice": (
            "Unmark as notice",
            partial(moderation.mark_notices, notice=False),
        ),
        "delete": (
            "Delete, with all comments and votes",
            lambda actor, ids: moderation.delete_posts(actor, ids, timezone.now()),
        ),
    }

    @admin.display(description="content")
    def shown(self, post: Post) -> SafeString:
        # In a sandboxed frame, so that nothing runs, whatever is stored.
        return format_html(
            '<iframe sandbox title="content" width="800" height="400" srcdoc="{}">'
            "</iframe>",
            render_html(post.content),
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("search_text", "content")

    def summarize(self, row: Post) -> str:
        return row.title

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        return rows.filter(search_text__contains=normalize_search_text(text))


@admin.register(Comment)
class CommentAdmin(ModerationAdmin):
    list_display = [
        *("id", "content", "post_id", "author", "is_hidden"),
        *("up_count", "down_count", "created_at"),
    ]
    list_display_links = ["id", "content"]
    list_filter = ["is_hidden", "created_at"]
    search_help_text = (
        f"{AUTHOR_SEARCH_HELP} in the newest {MAX_SEARCHED_COMMENTS:,} comments."
    )
    fields = [
        ("post_id", "author"),
        ("created_at", "updated_at", "is_hidden"),
        ("up_count", "down_count"),
        "content",
    ]
    readonly_fields = ["author", "post_id"]
    bulk_actions = {
        "hide": ("Hide", partial(moderation.hide_comments, hidden=True)),
        "show": ("Show again", partial(moderation.hide_comments, hidden=False)),
        "delete": ("Delete, with all votes", moderation.delete_comments),
    }

    def summarize(self, row: Comment) -> str:
        return row.content

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        newest = Comment.objects.aggregate(newest=Max("id"))["newest"] or 0
        rows = rows.filter(id__gt=newest - MAX_SEARCHED_COMMENTS)
        return rows.filter(content__icontains=text)


@admin.register(Image)
class ImageAdmin(ModerationAdmin):
    ordering = ["-created_at", "id"]
    list_display = ["id", "thumbnail", "author", "file_size", "posts", "created_at"]
    list_display_links = ["id"]
    list_filter = ["created_at"]
    search_help_text = f"{AUTHOR_PREFIX}login_id of the member, or an image's address."
    fields = [
        ("id", "author", "created_at"),
        ("file_size", "content_type", "width", "height"),
        *("posts", "unused_since", "shown"),
    ]
    readonly_fields = ["id", "author", "created_at", "file_size", "posts", "shown"]
    bulk_actions = {
        "delete": (
            "Delete, also from the posts that show it",
            moderation.delete_shown_images,
        ),
    }

    @admin.display(description="member")
    def author(self, row: Post | Comment | Image) -> str:
        return row.member.login_id

    @admin.display(description="image")
    def thumbnail(self, image: Image) -> SafeString:
        return format_html(
            '<img src="{}{}" height="60" loading="lazy" alt="">',
            *(IMAGE_PATH_PREFIX, image.pk),
        )

    @admin.display(description="image")
    def shown(self, image: Image) -> SafeString:
        return format_html(
            '<img src="{}{}" width="400" alt="">', IMAGE_PATH_PREFIX, image.pk
        )

    @admin.display(description="size")
    def file_size(self, image: Image) -> str:
        return filesizeformat(image.size)

    @admin.display(description="shown by posts")
    def posts(self, image: Any) -> SafeString:
        return format_html_join(
            ", ",
            '<a href="{}">{}</a>',
            [
                (reverse("admin:board_post_change", args=[link.post_id]), link.post_id)
                for link in image.newest_links
            ],
        )

    def is_id(self, text: str) -> bool:
        return _parse_uuid(text) is not None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        newest = PostImage.objects.order_by("-post_id")[:MAX_LISTED_POSTS]
        links = Prefetch("shown_in", newest, to_attr="newest_links")
        return super().get_queryset(request).defer("content").prefetch_related(links)

    def summarize(self, row: Image) -> str:
        return f"{row.width} × {row.height}, {filesizeformat(row.size)}"

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        image_id = _parse_uuid(text.rpartition("/")[2])
        return rows.filter(pk=image_id) if image_id else rows.none()


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _confirm_or_apply(
    name: str, model_admin: ModerationAdmin, request: HttpRequest, rows: QuerySet[Any]
) -> TemplateResponse | None:
    """Apply an action to the selected rows; ask for confirmation before deleting."""
    label, change = model_admin.bulk_actions[name]
    rows = rows.prefetch_related(None).order_by("pk")
    ids = list(rows.values_list("pk", flat=True)[: MAX_BATCH_SIZE + 1])
    if len(ids) > MAX_BATCH_SIZE:
        messages.error(request, f"Select at most {MAX_BATCH_SIZE} rows.")
    elif name == "delete" and "confirmed" not in request.POST:
        context = {
            **model_admin.admin_site.each_context(request),
            "title": label,
            "opts": model_admin.opts,
            "selected": [
                (row, truncatechars(model_admin.summarize(row), 100))
                for row in model_admin.get_queryset(request).filter(pk__in=ids)
            ],
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/board/confirm.html", context)
    else:
        changed = change(cast("Member", request.user), ids)
        messages.success(request, f"{label}: {changed} changed.")
    return None
