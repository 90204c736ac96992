"""Moderation in Django admin."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Max, Prefetch, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board.admin_actions import IMAGE_ACTIONS, NOTICE_ACTIONS, make_judging_actions
from board.admin_author import AuthorView, link_to_author
from board.admin_columns import (
    AUTHOR,
    AUTHOR_PREFIX,
    CATEGORIES,
    CATEGORY,
    CHANGED,
    COMMENTS,
    DOWN_VOTES,
    FILE_SIZE,
    FOR_MODERATORS,
    IMAGE_TYPES,
    PIXELS,
    POST_OF_COMMENT,
    SHOWN_BY,
    STATE,
    TEXT,
    THUMBNAIL,
    TITLE,
    UP_VOTES,
    UPLOADED,
    UPLOADER,
    WRITTEN,
    image_column,
)
from board.content import normalize_search_text, render_html
from board.models import (
    Comment,
    Image,
    ModerationCase,
    Post,
    PostImage,
    TargetType,
)
from board.moderation.admin import ModerationCaseAdmin
from core.admin.actions import ActionAdmin, RowLink, get_actor
from core.admin.base import DEFERRED_MEMBER_FIELDS, NewestInline
from core.admin.columns import (
    Column,
    link_column,
    shorten,
    text_column,
    time_column,
)
from core.admin.filters import YES_NO, badge_filter, choice_filter, date_filter

# Newest posts with an image.
MAX_LISTED_POSTS = 20
# The text of comments has no index.
MAX_SEARCHED_COMMENTS = 200_000
POST_ACTIONS = make_judging_actions(TargetType.POST)


class ModerationAdmin(ActionAdmin):
    """Base of members' content."""

    ordering = ["-id"]
    list_select_related = ["member"]
    # Django shows the field; `get_search_results` searches.
    search_fields = ["id"]

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return _choose_columns(request, self.list_display)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return _choose_columns(request, self.fields)

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

    def list_row_links(self, request: HttpRequest, row: Any) -> list[RowLink]:
        return [link_to_author(row.member_id)]

    @abstractmethod
    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        """Filter by an index, or among the newest rows only."""


@admin.register(Post)
class PostAdmin(ModerationAdmin):
    list_display = [
        *(TITLE, STATE, CATEGORY, AUTHOR),
        *(UP_VOTES, DOWN_VOTES, COMMENTS, WRITTEN),
    ]
    list_display_links = [TITLE]
    list_filter = [
        badge_filter("category", _("Category"), CATEGORIES),
        choice_filter("is_notice", _("Notice"), YES_NO),
        choice_filter("is_hidden", _("Hidden"), YES_NO),
        date_filter("created_at", _("Written")),
    ]
    search_help_text = _("@login ID of the author, or words of the title or text.")
    fields = [
        (TITLE, CATEGORY, STATE),
        (AUTHOR, WRITTEN, CHANGED),
        (UP_VOTES, DOWN_VOTES, "comments"),
        *("tags_shown", "shown"),
    ]
    readonly_fields = ["comments", "tags_shown", "shown"]
    export_columns = [text_column("id", _("Number")), *list_display]
    row_actions = {
        "hide": POST_ACTIONS["hide"],
        "show": POST_ACTIONS["show"],
        **NOTICE_ACTIONS,
        "delete": POST_ACTIONS["delete"],
    }

    @admin.display(description=_("Comments"))
    def comments(self, post: Post) -> SafeString:
        url = f"{reverse('admin:board_comment_changelist')}?post__exact={post.pk}"
        return format_html('<a href="{}">{}</a>', url, post.comment_count)

    @admin.display(description=_("Tags"))
    def tags_shown(self, post: Post) -> str:
        return ", ".join(post.tags) or "–"

    @admin.display(description=_("Content"))
    def shown(self, post: Post) -> SafeString:
        # Nothing runs in a sandboxed frame, whatever is stored.
        return format_html(
            '<iframe sandbox title="{}" class="content-frame" srcdoc="{}"></iframe>',
            *(gettext("Content"), render_html(post.content)),
        )

    def get_urls(self) -> list[URLPattern]:
        author = path(
            "author/<int:member_id>/",
            self.admin_site.admin_view(AuthorView.as_view(model_admin=self)),
            name="board_post_author",
        )
        return [author, *super().get_urls()]

    def get_object_name(self, row: Post) -> str:
        return gettext("Post {id}").format(id=row.pk)

    def describe_row(self, row: Post) -> str:
        return f"{row.member.login_id}: {shorten(row.title)}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("search_text", "content")

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        return rows.filter(search_text__contains=normalize_search_text(text))


@admin.register(Comment)
class CommentAdmin(ModerationAdmin):
    list_display = [
        *(TEXT, STATE, POST_OF_COMMENT, AUTHOR),
        *(UP_VOTES, DOWN_VOTES, WRITTEN),
    ]
    list_display_links = [TEXT]
    list_filter = [
        choice_filter("is_hidden", _("Hidden"), YES_NO),
        date_filter("created_at", _("Written")),
    ]
    fields = [
        (POST_OF_COMMENT, AUTHOR, STATE),
        (WRITTEN, CHANGED),
        (UP_VOTES, DOWN_VOTES),
        Column("content", _("Comment"), lambda row: row.content),
    ]
    export_columns = [
        text_column("id", _("Number")),
        Column("content", _("Comment"), lambda row: row.content),
        *list_display[1:],
    ]
    row_actions = make_judging_actions(TargetType.COMMENT)

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        return gettext(
            "@login ID of the author, or words of the newest {count} comments."
        ).format(count=f"{MAX_SEARCHED_COMMENTS:,}")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        # The page of a post links to this filter.
        is_post = lookup == "post__exact" and self.is_id(value)
        return is_post or super().lookup_allowed(lookup, value, request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # Of the others only their place is left.
        return super().get_queryset(request).filter(member__isnull=False)

    def get_object_name(self, row: Comment) -> str:
        return gettext("Comment {id}").format(id=row.pk)

    def describe_row(self, row: Comment) -> str:
        author = row.member.login_id if row.member else ""
        return f"{author}: {shorten(row.content)}"

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        newest = Comment.objects.aggregate(newest=Max("id"))["newest"] or 0
        rows = rows.filter(id__gt=newest - MAX_SEARCHED_COMMENTS)
        return rows.filter(content__icontains=text)


@admin.register(Image)
class ImageAdmin(ModerationAdmin):
    ordering = ["-created_at", "id"]
    list_display = [THUMBNAIL, UPLOADER, FILE_SIZE, PIXELS, SHOWN_BY, UPLOADED]
    list_filter = [date_filter("created_at", _("Uploaded"))]
    search_help_text = _("@login ID of the member, or the address of an image.")
    fields = [
        (UPLOADER, UPLOADED),
        (
            FILE_SIZE,
            PIXELS,
            Column(
                "type",
                _("Type"),
                lambda image: IMAGE_TYPES.get(image.content_type, image.content_type),
            ),
        ),
        (SHOWN_BY, time_column("unused_since", _("Without a post since"))),
        image_column("shown", "whole"),
    ]
    export_columns = [text_column("id", _("Number")), *list_display]
    row_actions = IMAGE_ACTIONS

    def is_id(self, text: str) -> bool:
        return _parse_uuid(text) is not None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        newest = PostImage.objects.order_by("-post_id")[:MAX_LISTED_POSTS]
        links = Prefetch("shown_in", newest, to_attr="newest_links")
        return super().get_queryset(request).defer("content").prefetch_related(links)

    def get_object_name(self, row: Image) -> str:
        return gettext("Image {id}").format(id=str(row.pk)[:8])

    def describe_row(self, row: Image) -> str:
        size = filesizeformat(row.size)
        return f"{row.member.login_id}: {row.width} × {row.height}, {size}"

    def filter_by_text(self, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
        image_id = _parse_uuid(text.rpartition("/")[2])
        return rows.filter(pk=image_id) if image_id else rows.none()


admin.site.register(ModerationCase, ModerationCaseAdmin)


class ContentInline(NewestInline):
    ordering = ["-id"]

    def get_all_query(self, obj: Member) -> str:
        return f"?q={AUTHOR_PREFIX}{obj.login_id}"


class PostInline(ContentInline):
    model = Post
    verbose_name_plural = _("newest posts")
    all_label = _("All posts of the member")
    columns = [
        link_column(
            "title", _("Title"), "board_post", lambda r: r.pk, lambda r: r.title
        ),
        *(STATE, CATEGORY, UP_VOTES, DOWN_VOTES, COMMENTS, WRITTEN),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("search_text", "content")


class CommentInline(ContentInline):
    model = Comment
    verbose_name_plural = _("newest comments")
    all_label = _("All comments of the member")
    columns = [
        link_column(
            "content",
            _("Comment"),
            "board_comment",
            lambda r: r.pk,
            lambda r: r.content,
        ),
        *(STATE, POST_OF_COMMENT, UP_VOTES, DOWN_VOTES, WRITTEN),
    ]


def _choose_columns(request: HttpRequest, columns: Iterable[Any]) -> list[Any]:
    """Return the columns, or lines of them, with links that the reader may follow."""
    if get_actor(request).is_administrator:
        return list(columns)
    return [
        tuple(_choose_columns(request, each))
        if isinstance(each, tuple)
        else FOR_MODERATORS.get(each, each)
        for each in columns
    ]


def _parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
