"""Labels of cells and checkboxes in admin lists."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from django import template
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext

register = template.Library()
CHECKBOX = re.compile(r'<input type="checkbox"(?![^>]*aria-label)')
LABEL = re.compile(r' aria-label="[^"]*"')
CELL = re.compile(r"^<t[dh]")


@register.filter
def is_checkbox(header: object) -> bool:
    return "<input" in str(header)


@register.filter
def label_checkbox(html: object) -> SafeString:
    return name_checkbox(str(html), gettext("Select all rows of this page"))


@register.filter
def label_cells(
    cells: Sequence[Any], headers: Sequence[dict[str, Any]]
) -> list[SafeString]:
    labeled = []
    for cell, header in zip(cells, headers, strict=False):
        html = str(cell)
        if "action-checkbox" in html:
            # Django names the row in English.
            row = strip_tags(str(cells[1])) or gettext("this row")
            name = gettext("Select {row}").format(row=unescape(row))
            labeled.append(name_checkbox(LABEL.sub("", html), name))
            continue
        label = capfirst(strip_tags(str(header["text"])))
        labeled.append(
            add_attribute(CELL, "data-label", label, name_checkbox(html, label))
        )
    return labeled


def name_checkbox(html: str, name: str) -> SafeString:
    return add_attribute(CHECKBOX, "aria-label", name, html)


def add_attribute(
    tag: re.Pattern[str], attribute: str, value: str, html: str
) -> SafeString:
    """Add an attribute to the first such tag."""
    added = format_html(' {}="{}"', attribute, value)
    return mark_safe(tag.sub(lambda found: found[0] + added, html, count=1))  # noqa: S308
