"""The HTML of posts. Pure."""

import html as entities
import re
import unicodedata
from collections.abc import Callable
from uuid import UUID

import nh3
from django.conf import settings
from django.utils.html import escape
from django.utils.translation import gettext

from core.api.fields import DISALLOWED_CHARACTERS
from core.errors import InvalidFieldError

# Characters, as sent and as stored (spec 10.1).
MAX_CONTENT_LENGTH = 100_000
# Parsing time grows with tags, and the square of their depth.
MAX_HTML_TAGS = 10_000
# Clients render nested elements by recursion.
MAX_DEPTH = 100
MAX_PASSES = 10

IMAGE_PATH_PREFIX = "/api/images/"
# fmt: off
ALLOWED_TAGS = frozenset({
    "p", "div", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre",
    "code", "span", "strong", "b", "em", "i", "u", "s", "del", "a", "img",
    "ul", "ol", "li",
    "table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td",
})
# These are removed with their content.
CLEAN_CONTENT_TAGS = frozenset({
    "script", "style", "svg", "math", "iframe", "object", "template", "title", "select",
    "noscript", "noembed", "noframes", "textarea", "xmp",
})
# Words end at these elements, but not at b.
BLOCK_TAGS = frozenset({
    "p", "div", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre",
    "ul", "ol", "li", "table", "caption", "tr", "th", "td",
})
# fmt: on
ALLOWED_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "th": {"colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
}
VOID_TAGS = frozenset({"br", "hr", "img", "col"})

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LOCAL_IMAGE_PATH_RE = re.compile(rf"{IMAGE_PATH_PREFIX}({_UUID})", re.IGNORECASE)
_LINK_RE = re.compile(r"(?:https?://|mailto:)[^\x00-\x1f\x7f]+", re.IGNORECASE)
# Many clients make links of such texts.
_LINK_TEXT_RE = re.compile(r"(?:https?://|\bwww\.)\S+", re.IGNORECASE)
_ADDRESS_RE = re.compile(r' (?:href|src)="([^"]*)"')
_SIZE_RE = re.compile(r"[1-9][0-9]{0,3}")
_ANY_TAG_RE = re.compile(r"</?[A-Za-z]")
# A parser reopens these in each paragraph if they are left open.
_FORMATTING_TAG_RE = re.compile(
    r"<(b|big|code|em|font|i|s|small|strike|strong|tt|u)[\s/][^>]*", re.IGNORECASE
)
# The sanitizer writes lower case, and values in quotes.
_TAG_RE = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"]*")*)>')
_LOCAL_IMAGE_SRC_RE = re.compile(rf' src="{IMAGE_PATH_PREFIX}({_UUID})"')
# Below PUBLIC_URL, too.
_IMAGE_SRC_RE = re.compile(rf' src="[^"]*{IMAGE_PATH_PREFIX}({_UUID})"')
_DISALLOWED_RE = re.compile(DISALLOWED_CHARACTERS)
_INVISIBLE_RE = re.compile(r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")


def sanitize_html(html: str, *, required: bool = False) -> str:
    """Return the safe part of a member's HTML, in one normal form. Idempotent.

    Links lead to http, https and mailto; images are paths of this service. Raises
    `InvalidFieldError` for long content or many tags, and with `required` for content
    that shows nothing.
    """
    if len(_ANY_TAG_RE.findall(html)) > MAX_HTML_TAGS:
        detail = gettext("The content has too many HTML tags.")
        raise InvalidFieldError("content", detail, "max_length")
    # A parser may read the rest differently without the dropped tags.
    for _ in range(MAX_PASSES):
        # The parser repeats open formatting elements in each paragraph, without limit
        # if their attributes differ. No attribute of them is allowed.
        cleaned = nh3.clean(
            _FORMATTING_TAG_RE.sub(r"<\1", html),
            tags=set(ALLOWED_TAGS),
            clean_content_tags=set(CLEAN_CONTENT_TAGS),
            attributes=ALLOWED_ATTRIBUTES,
            attribute_filter=_filter_attribute,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener nofollow ugc",
        )
        cleaned = _prune_tags(_DISALLOWED_RE.sub("", cleaned))
        # A parser skips the first newline of a pre: no pass would be the last.
        cleaned = re.sub(r"<pre>\n+", "<pre>", cleaned)
        if len(cleaned) > MAX_CONTENT_LENGTH:
            detail = gettext("The content has more than {limit} characters.")
            detail = detail.format(limit=MAX_CONTENT_LENGTH)
            raise InvalidFieldError("content", detail, "max_length")
        if cleaned == html:
            break
        html = cleaned
    else:
        # Such content was made to confuse parsers: keep its text only.
        html = nh3.clean(html, tags=set())
    if required and is_empty(html):
        detail = gettext("The content must contain text or an image.")
        raise InvalidFieldError("content", detail, "blank")
    return html


def render_html(content: str) -> str:
    src = f' src="{IMAGE_PATH_PREFIX}'
    absolute_src = f' src="{settings.PUBLIC_URL.rstrip("/")}{IMAGE_PATH_PREFIX}'

    def absolutize_image(tag: re.Match[str]) -> str:
        is_image = tag.group(2) == "img"
        return tag.group().replace(src, absolute_src) if is_image else tag.group()

    return _TAG_RE.sub(absolutize_image, content)


def replace_images(
    content: str, describe: Callable[[int], str]
) -> tuple[str, list[str]]:
    """Return the content with texts for its images, and their ids.

    `describe` gets the number of the image, from 1, and returns plain text.
    """
    image_ids: list[str] = []

    def replace_image(tag: re.Match[str]) -> str:
        source = _IMAGE_SRC_RE.search(tag.group()) if tag.group(2) == "img" else None
        if source is None:
            return tag.group()
        image_ids.append(source.group(1))
        return escape(describe(len(image_ids)))

    return _TAG_RE.sub(replace_image, content), image_ids


def build_search_text(title: str, html: str) -> str:
    return normalize_search_text(f"{title}\n{_extract_text(html)}")


def normalize_search_text(text: str) -> str:
    """Return the text composed (NFC), in lower case, with single spaces."""
    composed = unicodedata.normalize("NFC", text).replace("\0", "")
    return " ".join(composed.lower().split())


def extract_image_ids(html: str) -> set[UUID]:
    return {
        UUID(source.group(1))
        for tag in _TAG_RE.finditer(html)
        if tag.group(2) == "img"
        and (source := _LOCAL_IMAGE_SRC_RE.search(tag.group(3)))
    }


def list_links(html: str) -> set[str]:
    """Return where sanitized HTML leads to: links, texts like links, and images."""
    links = {
        address
        for tag in _TAG_RE.finditer(html)
        for address in _ADDRESS_RE.findall(tag.group(3))
    }
    return links | set(_LINK_TEXT_RE.findall(_extract_text(html)))


def is_empty(html: str) -> bool:
    if extract_image_ids(html):
        return False
    return not _INVISIBLE_RE.sub("", _extract_text(html))


def _extract_text(html: str) -> str:
    def replace_tag(tag: re.Match[str]) -> str:
        return " " if tag.group(2) in BLOCK_TAGS else ""

    return entities.unescape(_TAG_RE.sub(replace_tag, html))


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    match tag, name:
        case "img", "src":
            # A path of this service, also below PUBLIC_URL.
            path = value.strip().removeprefix(settings.PUBLIC_URL.rstrip("/"))
            local = _LOCAL_IMAGE_PATH_RE.fullmatch(path)
            return f"{IMAGE_PATH_PREFIX}{local.group(1).lower()}" if local else None
        case "a", "href":
            return value.strip() if _LINK_RE.fullmatch(value.strip()) else None
        case ("img", "alt") | ("a", "rel"):
            return value
        case _:
            return value if _SIZE_RE.fullmatch(value) else None


def _prune_tags(html: str) -> str:
    """Drop images without a source, and tags that are nested too deeply."""
    depth = 0

    def prune(tag: re.Match[str]) -> str:
        nonlocal depth
        closing, name, attributes = tag.groups()
        if name in VOID_TAGS:
            is_kept = name != "img" or _LOCAL_IMAGE_SRC_RE.search(attributes)
            return tag.group() if is_kept else ""
        depth += -1 if closing else 1
        return tag.group() if depth + bool(closing) <= MAX_DEPTH else ""

    return _TAG_RE.sub(prune, html)
