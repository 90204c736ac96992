"""Columns of lists and fields of pages.

Labels stand here because the models' verbose names also name fields of the API.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Text = str | Promise
# Value -> text and tone: "good", "bad", "warn", "info" or "" (quiet).
Badges = Mapping[Any, tuple[Text, str]]

NOTHING = "–"
MAX_TEXT_CHARACTERS = 120


class Column:
    """A column of a list, or a field of a page.

    `name` is the CSS class, `order` an indexed field.
    """

    do_not_call_in_templates = True

    def __init__(
        self,
        name: str,
        label: Text,
        get_text: Callable[[Any], object],
        *,
        get_html: Callable[[Any], str | SafeString] | None = None,
        order: str | None = None,
    ) -> None:
        self.__name__ = name
        self.short_description = label
        self.admin_order_field = order
        self.get_text = get_text
        self.get_html = get_html

    def __call__(self, row: Any) -> str | SafeString:
        html = self.get_html or self.get_text
        shown = html(row)
        if shown is None or shown == "":
            return NOTHING
        return shown if isinstance(shown, SafeString) else str(shown)


def read_path(row: Any, path: str) -> Any:
    """Follow a path such as `member.login_id`."""
    for name in path.split("."):
        row = getattr(row, name)
    return row


def text_column(
    name: str, label: Text, *, path: str = "", order: str | None = None
) -> Column:
    path = path or name
    return Column(name, label, lambda row: read_path(row, path), order=order)


def number_column(name: str, label: Text, *, order: str | None = None) -> Column:
    def show(row: Any) -> str:
        value = read_path(row, name)
        return "" if value is None else f"{value:,}"

    return Column(
        name,
        label,
        lambda row: read_path(row, name),
        get_html=show,
        order=order,
    )


def time_column(
    name: str, label: Text, *, path: str = "", order: str | None = None
) -> Column:
    path = path or name
    return Column(
        name,
        label,
        lambda row: format_time(read_path(row, path)),
        get_html=lambda row: time_html(read_path(row, path)),
        order=order,
    )


def badge_column(name: str, label: Text, badges: Badges, *, path: str = "") -> Column:
    path = path or name

    def get_badge(row: Any) -> tuple[Text, str]:
        value = read_path(row, path)
        return badges.get(value, (str(value or ""), ""))

    return Column(
        name,
        label,
        lambda row: str(get_badge(row)[0]),
        get_html=lambda row: badge_html(*get_badge(row)),
    )


def state_column(
    name: str, label: Text, get_badges: Callable[[Any], list[tuple[Text, str]]]
) -> Column:
    return Column(
        name,
        label,
        lambda row: ", ".join(str(text) for text, _ in get_badges(row)),
        get_html=lambda row: format_html_join(
            " ", "{}", ((badge_html(text, tone),) for text, tone in get_badges(row))
        ),
    )


def link_column(
    name: str,
    label: Text,
    view: str,
    get_id: Callable[[Any], object],
    get_text: Callable[[Any], object],
) -> Column:
    return Column(
        name,
        label,
        get_text,
        get_html=lambda row: link_html(view, get_id(row), get_text(row)),
    )


def member_column(name: str, label: Text, *, path: str = "member") -> Column:
    return link_column(
        name,
        label,
        "accounts_member",
        lambda row: read_path(row, path).pk,
        lambda row: read_path(row, path).login_id,
    )


def link_html(view: str, row_id: object, text: object) -> SafeString | str:
    if row_id in (None, ""):
        return ""
    url = reverse(f"admin:{view}_change", args=[row_id])
    return format_html('<a href="{}">{}</a>', url, shorten(text))


def badge_html(text: Text, tone: str) -> SafeString | str:
    if not str(text):
        return ""
    return format_html('<span class="badge {}">{}</span>', tone, text)


def format_time(moment: datetime | None) -> str:
    return "" if moment is None else f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"


def time_html(moment: datetime | None) -> SafeString | str:
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}">{}</time>', moment.isoformat(), format_time(moment)
    )


def shorten(text: object) -> str:
    line = " ".join(str(text).split())
    if len(line) <= MAX_TEXT_CHARACTERS:
        return line
    return f"{line[: MAX_TEXT_CHARACTERS - 1]}…"
