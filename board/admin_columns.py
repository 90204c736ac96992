"""Columns of the board in Django admin."""

from typing import Any

from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from board.content import IMAGE_PATH_PREFIX
from board.models import PostCategory
from core.admin.columns import (
    Badges,
    Column,
    Text,
    badge_column,
    link_column,
    link_html,
    member_column,
    number_column,
    shorten,
    state_column,
    text_column,
    time_column,
)

CATEGORIES: Badges = {
    PostCategory.COMMUNITY: (_("Community"), ""),
    PostCategory.SAVING: (_("Saving"), ""),
    PostCategory.TIPS: (_("Tips"), ""),
}
# Before the login ID of an author, in searches.
AUTHOR_PREFIX = "@"
IMAGE_TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF"}


def author_url(member_id: int) -> str:
    """Return the page of all that a member wrote."""
    return reverse("admin:board_post_author", args=[member_id])


def author_column(name: str, label: Text) -> Column:
    return Column(
        name,
        label,
        lambda row: row.member.login_id,
        get_html=lambda row: format_html(
            '<a href="{}">{}</a>', author_url(row.member_id), row.member.login_id
        ),
    )


AUTHOR = member_column("author", _("Author"))
WRITTEN = time_column("created_at", _("Written"), order="id")
CHANGED = time_column("updated_at", _("Changed"))
UP_VOTES = number_column("up_count", _("Up votes"))
DOWN_VOTES = number_column("down_count", _("Down votes"))
COMMENTS = number_column("comment_count", _("Comments"))
TITLE = text_column("title", _("Title"))
CATEGORY = badge_column("category", _("Category"), CATEGORIES)
TEXT = Column("content", _("Comment"), lambda row: shorten(row.content))


def list_states(row: Any) -> list[tuple[Text, str]]:
    states: list[tuple[Text, str]] = []
    if getattr(row, "is_notice", False):
        states.append((_("Notice"), "info"))
    if row.is_hidden:
        states.append((_("Hidden"), "warn"))
    return states


STATE = state_column("state", _("State"), list_states)
POST_OF_COMMENT = link_column(
    "post",
    _("Post"),
    "board_post",
    lambda row: row.post_id,
    lambda row: gettext("Post {id}").format(id=row.post_id),
)


def image_column(name: str, css_class: str) -> Column:
    return Column(
        name,
        _("Image"),
        lambda image: f"{IMAGE_PATH_PREFIX}{image.pk}",
        get_html=lambda image: format_html(
            '<img src="{}{}" class="{}" loading="lazy" alt="{}">',
            *(IMAGE_PATH_PREFIX, image.pk, css_class),
            gettext("Image {id}").format(id=str(image.pk)[:8]),
        ),
    )


FILE_SIZE = Column(
    "size",
    _("Size"),
    lambda image: image.size,
    get_html=lambda image: filesizeformat(image.size),
)
PIXELS = Column("pixels", _("Pixels"), lambda image: f"{image.width} × {image.height}")
UPLOADED = time_column("created_at", _("Uploaded"), order="created_at")
UPLOADER = member_column("author", _("Member"))
# Moderators may not open the pages of members.
FOR_MODERATORS = {
    AUTHOR: author_column("author", _("Author")),
    UPLOADER: author_column("author", _("Member")),
}
THUMBNAIL = image_column("thumbnail", "thumbnail")
SHOWN_BY = Column(
    "posts",
    _("Shown by posts"),
    lambda image: " ".join(str(link.post_id) for link in image.newest_links),
    get_html=lambda image: format_html_join(
        ", ",
        "{}",
        ((link_html("board_post", x.post_id, x.post_id),) for x in image.newest_links),
    ),
)
