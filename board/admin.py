"""Moderation in Django admin: find posts and comments, hide, mark or delete them."""

from abc import abstractmethod
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import Member
from board import moderation
from board.content import searchable, show
from board.models import Comment, Post
from core.admin import WITHHELD_OF_MEMBERS, ReadOnlyAdmin

MOST_AT_ONCE = 100
COMMENTS_SEARCHED = 200_000
"""The newest, as words of comments have no index."""
AUTHOR_SIGN = "@"
AUTHOR_HELP = f"{AUTHOR_SIGN} and the login id of an author, or words, together"

Change = Callable[[Member, Collection[int]], int]


class ModeratedAdmin(ReadOnlyAdmin):
    """Found by words or author; changed by actions only, at most 100 at once."""

    ordering = ["-id"]
    list_select_related = ["member"]
    search_fields = ["id"]  # shows the field; `get_search_results` does the search
    changes: dict[str, tuple[str, Change]]

    @admin.display(description="author")
    def author(self, row: Post | Comment) -> str:
        return row.member.login_id

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.defer(*WITHHELD_OF_MEMBERS)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if term.startswith(AUTHOR_SIGN):
            login_id = term.removeprefix(AUTHOR_SIGN)
            members = Member.objects.filter(login_id__iexact=login_id)
            return queryset.filter(member__in=list(members.only("id"))), False
        return (self.find_words(queryset, term) if term else queryset), False

    @abstractmethod
    def find_words(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        """The rows with these words, by an index or among the newest."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: (partial(_ask_or_apply, name), name, label)
            for name, (label, _) in self.changes.items()
        }


@admin.register(Post)
class PostAdmin(ModeratedAdmin):
    list_display = [
        *("id", "title", "category", "author", "is_notice", "is_hidden"),
        *("up_count", "down_count", "comment_count", "created_at"),
    ]
    list_display_links = ["id", "title"]
    list_filter = ["category", "is_notice", "is_hidden", "created_at"]
    search_help_text = f"{AUTHOR_HELP}, of title or text."
    fields = [
        ("title", "category"),
        ("author", "created_at", "updated_at"),
        ("is_notice", "is_hidden"),
        ("up_count", "down_count", "comment_count"),
        *("tags", "shown"),
    ]
    readonly_fields = ["author", "shown"]
    changes = {
        "hide": ("Hide", partial(moderation.hide_posts, hidden=True)),
        "show": ("Show again", partial(moderation.hide_posts, hidden=False)),
        "notice": ("Make a notice", partial(moderation.mark_notices, notice=True)),
        "unnotice": ("End the notice", partial(moderation.mark_notices, notice=False)),
        "delete": (
            "Delete, with all comments and votes",
            lambda actor, ids: moderation.delete_posts(actor, ids, timezone.now()),
        ),
    }

    @admin.display(description="content")
    def shown(self, post: Post) -> SafeString:
        """In a frame of its own that runs nothing, whatever is stored."""
        return format_html(
            '<iframe sandbox title="content" width="800" height="400" srcdoc="{}">'
            "</iframe>",
            show(post.content),
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("words", "content")

    def find_words(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        return rows.filter(words__contains=searchable(words))


@admin.register(Comment)
class CommentAdmin(ModeratedAdmin):
    list_display = [
        *("id", "content", "post_id", "author", "is_hidden"),
        *("up_count", "down_count", "created_at"),
    ]
    list_display_links = ["id", "content"]
    list_filter = ["is_hidden", "created_at"]
    search_help_text = f"{AUTHOR_HELP}, of the newest {COMMENTS_SEARCHED:,} comments."
    fields = [
        ("post_id", "author"),
        ("created_at", "updated_at", "is_hidden"),
        ("up_count", "down_count"),
        "content",
    ]
    readonly_fields = ["author", "post_id"]
    changes = {
        "hide": ("Hide", partial(moderation.hide_comments, hidden=True)),
        "show": ("Show again", partial(moderation.hide_comments, hidden=False)),
        "delete": ("Delete, with all votes", moderation.delete_comments),
    }

    def find_words(self, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        newest = Comment.objects.aggregate(newest=Max("id"))["newest"] or 0
        rows = rows.filter(id__gt=newest - COMMENTS_SEARCHED)
        return rows.filter(content__icontains=words)


def _ask_or_apply(
    name: str, of: ModeratedAdmin, request: HttpRequest, rows: QuerySet[Any]
) -> TemplateResponse | None:
    """Change the chosen rows; to delete them, first ask."""
    label, change = of.changes[name]
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[: MOST_AT_ONCE + 1])
    if len(ids) > MOST_AT_ONCE:
        messages.error(request, f"Choose at most {MOST_AT_ONCE} at once.")
    elif name == "delete" and "confirmed" not in request.POST:
        return _ask(of, request, label, ids)
    else:
        changed = change(cast("Member", request.user), ids)
        messages.success(request, f"{label}: {changed} changed.")
    return None


def _ask(
    of: ModeratedAdmin, request: HttpRequest, label: str, ids: list[int]
) -> TemplateResponse:
    context = {
        **of.admin_site.each_context(request),
        "title": label,
        "opts": of.opts,
        "chosen": of.get_queryset(request).filter(pk__in=ids),
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/board/confirm.html", context)
