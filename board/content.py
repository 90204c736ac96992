"""What a post may hold: HTML made safe, and what can be read out of it; pure text."""

import html as entities
import re
import unicodedata
from uuid import UUID

import nh3
from django.conf import settings

from core.api.fields import DISALLOWED_CHARACTERS
from core.errors import InvalidFieldError

MAX_CONTENT_LENGTH = 100_000
"""Characters of a post, as it is sent and as it is stored (spec 10.1)."""
MAX_HTML_TAGS = 10_000
"""What takes a parser long is tags, by the square of their depth, not text."""
MAX_DEPTH = 100
"""Elements within one another; clients draw them by recursion."""
MAX_PASSES = 10

IMAGE_PATH_PREFIX = "/api/images/"
# fmt: off
ALLOWED_TAGS = frozenset({
    "p", "div", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre",
    "code", "span", "strong", "b", "em", "i", "u", "s", "del", "a", "img",
    "ul", "ol", "li",
    "table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td",
})
CLEAN_CONTENT_TAGS = frozenset({
    "script", "style", "svg", "math", "iframe", "object", "template", "title", "select",
    "noscript", "noembed", "noframes", "textarea", "xmp",
})
BLOCK_TAGS = frozenset({
    "p", "div", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre",
    "ul", "ol", "li", "table", "caption", "tr", "th", "td",
})
"""Between these elements words end; within others, such as b, they go on."""
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
_LINK = re.compile(r"(?:https?://|mailto:)[^\x00-\x1f\x7f]+", re.IGNORECASE)
_SIZE = re.compile(r"[1-9][0-9]{0,3}")
_ANY_TAG = re.compile(r"</?[A-Za-z]")
_FORMATTING = re.compile(
    r"<(b|big|code|em|font|i|s|small|strike|strong|tt|u)[\s/][^>]*", re.IGNORECASE
)
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"]*")*)>')
"""Any tag as the sanitiser writes it: lower case, every value in quotes."""
_LOCAL_IMAGE_SRC_RE = re.compile(rf' src="{IMAGE_PATH_PREFIX}({_UUID})"')
_DISALLOWED_RE = re.compile(DISALLOWED_CHARACTERS)
_INVISIBLE = re.compile(r"[\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")


def sanitize_html(html: str) -> str:
    """The safe part of what a member wrote, in one normal form.

    Links lead to http, https and mail only; pictures are this service's own, by their
    path. What is allowed nowhere disappears, with its text where that is a program.
    Sanitising twice changes nothing. Raises `InvalidFieldError` for what is too long or
    has too many tags.
    """
    if len(_ANY_TAG.findall(html)) > MAX_HTML_TAGS:
        raise InvalidFieldError("content", "This has too many tags.", "max_length")
    for _ in range(MAX_PASSES):
        cleaned = _clean_once(html)
        if len(cleaned) > MAX_CONTENT_LENGTH:
            detail = f"This has more than {MAX_CONTENT_LENGTH} characters."
            raise InvalidFieldError("content", detail, "max_length")
        if cleaned == html:
            return cleaned
        html = cleaned
    return nh3.clean(html, tags=set())


def render_html(content: str) -> str:
    """Sanitised content as clients get it: pictures by their whole address."""
    return _TAG.sub(_absolutize_src, content)


def build_search_text(title: str, html: str) -> str:
    """Title and text of sanitised content, in the form that is searched."""
    return normalize_search_text(f"{title}\n{_extract_text(html)}")


def normalize_search_text(text: str) -> str:
    """Composed, in lower case, with single blanks: for words and for keywords."""
    composed = unicodedata.normalize("NFC", text).replace("\0", "")
    return " ".join(composed.lower().split())


def extract_image_ids(html: str) -> set[UUID]:
    """The pictures that sanitised content shows."""
    return {
        UUID(own.group(1))
        for tag in _TAG.finditer(html)
        if tag.group(2) == "img" and (own := _LOCAL_IMAGE_SRC_RE.search(tag.group(3)))
    }


def is_empty(html: str) -> bool:
    """Whether sanitised content has neither text nor a picture."""
    return not extract_image_ids(html) and not _INVISIBLE.sub("", _extract_text(html))


def _extract_text(html: str) -> str:
    def part(tag: re.Match[str]) -> str:
        return " " if tag.group(2) in BLOCK_TAGS else ""

    return entities.unescape(_TAG.sub(part, html))


def _clean_once(html: str) -> str:
    """One pass; dropping tags can make the rest be read differently, hence several.

    Formatting elements that are left open are repeated by the parser in each
    paragraph, those with different attributes without bound: attributes, of which
    they keep none, go before.
    """
    cleaned = nh3.clean(
        _FORMATTING.sub(r"<\1", html),
        tags=set(ALLOWED_TAGS),
        clean_content_tags=set(CLEAN_CONTENT_TAGS),
        attributes=ALLOWED_ATTRIBUTES,
        attribute_filter=_filter_attribute,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow ugc",
    )
    cleaned = _prune_tags(_DISALLOWED_RE.sub("", cleaned))
    return re.sub(r"<pre>\n+", "<pre>", cleaned)  # a parser skips the first one


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    match tag, name:
        case "img", "src":
            return _local_image_path(value)
        case "a", "href":
            return value.strip() if _LINK.fullmatch(value.strip()) else None
        case ("img", "alt") | ("a", "rel"):
            return value
        case _:
            return value if _SIZE.fullmatch(value) else None


def _local_image_path(address: str) -> str | None:
    """The path of one of our pictures, given as such or below PUBLIC_URL."""
    path = address.strip().removeprefix(settings.PUBLIC_URL.rstrip("/"))
    own = _LOCAL_IMAGE_PATH_RE.fullmatch(path)
    return f"{IMAGE_PATH_PREFIX}{own.group(1).lower()}" if own else None


def _prune_tags(html: str) -> str:
    """Leave out pictures without a source, and tags beyond the deepest level."""
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        closing, name, attributes = tag.groups()
        if name in VOID_TAGS:
            shown = name != "img" or _LOCAL_IMAGE_SRC_RE.search(attributes)
            return tag.group() if shown else ""
        depth += -1 if closing else 1
        return tag.group() if depth + bool(closing) <= MAX_DEPTH else ""

    return _TAG.sub(keep, html)


def _absolutize_src(tag: re.Match[str]) -> str:
    base = settings.PUBLIC_URL.rstrip("/")
    if tag.group(2) != "img":
        return tag.group()
    return tag.group().replace(
        f' src="{IMAGE_PATH_PREFIX}', f' src="{base}{IMAGE_PATH_PREFIX}'
    )
