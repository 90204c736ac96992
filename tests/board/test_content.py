"""The HTML of posts: safe, idempotent, within bounded time."""

import re
import time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from board.content import (
    ALLOWED_TAGS,
    MAX_CONTENT_LENGTH,
    MAX_DEPTH,
    MAX_HTML_TAGS,
    build_search_text,
    extract_image_ids,
    is_empty,
    normalize_search_text,
    render_html,
    sanitize_html,
)
from core.errors import InvalidFieldError

ID = UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
PATH = f"/api/images/{ID}"
PUBLIC_URL = "https://ledger.example"
MOST_CPU_SECONDS = 3.0


@pytest.fixture(autouse=True)
def public_url(settings: Any) -> None:
    settings.PUBLIC_URL = PUBLIC_URL


@pytest.mark.parametrize(
    "html",
    [
        "<p>one<br>two <strong>three</strong> <em>four</em></p>",
        "<h1>a</h1><h6>b</h6><hr><blockquote><p>c</p></blockquote>",
        "<ul><li>a</li></ul><ol><li><s>b</s><del>c</del><u>d</u></li></ol>",
        "<pre><code>if a &lt; b:\n    c</code></pre>",
        (
            "<table><caption>t</caption><colgroup><col></colgroup><thead><tr>"
            '<th colspan="2">a</th></tr></thead><tbody><tr><td rowspan="3">b</td></tr>'
            "</tbody><tfoot><tr><td>c</td></tr></tfoot></table>"
        ),
        "<div>a</div><span>b</span>",
        "한국어 😀 &amp; &lt;b&gt;",
        f'<img src="{PATH}" alt="a &amp; b" width="10" height="20">',
    ],
)
def test_harmless_content_stays_as_it_is(html: str) -> None:
    assert sanitize_html(html) == html


def test_links_lead_outside_without_a_hold_on_this_page() -> None:
    link = '<a href="https://x.example/?a=1&amp;b=2" target="_blank" rel="opener">x</a>'
    assert sanitize_html(link) == (
        '<a href="https://x.example/?a=1&amp;b=2" rel="noopener nofollow ugc">x</a>'
    )
    assert 'href="mailto:a@b.example"' in sanitize_html(
        '<a href="mailto:a@b.example">m</a>'
    )


@pytest.mark.parametrize(
    "src", [PATH, PUBLIC_URL + PATH, f" {PATH} ", PATH.replace("f", "F")]
)
def test_own_images_are_kept_in_one_form(src: str) -> None:
    content = sanitize_html(f'<img src="{src}">')
    assert content == f'<img src="{PATH}">'
    assert extract_image_ids(content) == {ID}
    assert render_html(content) == f'<img src="{PUBLIC_URL}{PATH}">'
    assert sanitize_html(render_html(content)) == content


def test_text_that_looks_like_an_image_is_text() -> None:
    content = sanitize_html(f'<p>&lt;img src="{PATH}"&gt; src="/api/images/</p>')
    assert extract_image_ids(content) == set()
    assert render_html(content) == content


@pytest.mark.parametrize(
    "src",
    [
        *("https://elsewhere.example" + PATH, "//elsewhere.example" + PATH),
        *(PUBLIC_URL + ".evil.example" + PATH, PATH + "/../../auth/logout"),
        *(PATH + "?x=1", "/api/images/1", "/api/auth/me", "data:image/png;base64,AAAA"),
        *("data:image/svg+xml,<svg onload=alert(1)>", "javascript:alert(1)", ""),
    ],
)
def test_other_images_disappear(src: str) -> None:
    assert sanitize_html(f'a<img src="{src}" onerror="alert(1)" alt="x">b') == "ab"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("a<script>alert(1)</script>b", "ab"),
        ("a<style>p{}</style>b", "ab"),
        ("a<svg><script>alert(1)</script><text>t</text></svg>b", "ab"),
        ("a<math><mi>x</mi></math>b", "ab"),
        ("a<iframe src='https://x.example'>f</iframe>b", "ab"),
        ("a<template><b>x</b></template>b", "ab"),
        ("<form action='/x'><input name=a><button>c</button></form>", "c"),
        ("<p style='color:red' class='a' id='b' onclick='x()'>c</p>", "<p>c</p>"),
        ("<span style='position:fixed' data-a='1'>c</span>", "<span>c</span>"),
        ("a<!-- c --><!doctype html><?php x ?>b", "ab"),
        ("<base href='//x'><meta http-equiv=refresh><link rel=x>a", "a"),
        ("<video src=x onerror=alert(1)></video><audio></audio>a", "a"),
        ("a&#1;b&#13;c&#xFFFE;d", "abcd"),
        ("<td width=-1 colspan=99999 rowspan=x>c</td>", "c"),
    ],
)
def test_what_is_not_allowed_goes(html: str, left: str) -> None:
    assert sanitize_html(html) == left


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        " \tjava\nscript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "java&Tab;script:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//x.example",
        "/api/auth/logout",
        "http:x",
        "https://x.example/\x01javascript:",
    ],
)
def test_other_links_lead_nowhere(href: str) -> None:
    assert "href" not in sanitize_html(f'<a href="{href}">x</a>')


@pytest.mark.parametrize(
    "html",
    [
        (
            '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;'
            '&lt;img src=1 onerror=alert(1)&gt;">'
        ),
        '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=x>",
        "<svg><foreignObject><p><style><a title=</style><img src onerror=alert(1)>",
        "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
        "<textarea><p title='</textarea><img src=x onerror=alert(1)>'>",
        "<select><template><img src=x onerror=alert(1)>",
        '<a href="https://x.example/&quot; onmouseover=&quot;alert(1)">x</a>',
        '<img src=x alt="`onerror=alert(1) ``">',
        "<b <script>alert(1)</script>0",
        "<p><button><p>a</p></button></p>",
        "<plaintext><script>alert(1)</script>",
    ],
)
def test_mutations_come_to_nothing(html: str) -> None:
    content = sanitize_html(html)
    assert_safe(content)
    assert sanitize_html(content) == content


FRAGMENTS = st.sampled_from(
    [
        *(f"<{tag}>" for tag in sorted(ALLOWED_TAGS)),
        *(f"</{tag}>" for tag in sorted(ALLOWED_TAGS)),
        "<script>", "</script>", "<style>", "</style>", "<svg>", "</svg>", "<math>",
        "<mtext>", "<button>", "</button>", "<form>", "<template>", "<select>",
        "<noscript>", "<title>", "<!--", "-->", "<font a=1>", "<b x='>'>", "<b a=1>",
        "<a href='javascript:x'>", "<a href='https://x.example'>", "<p style=a>",
        f"<img src='{PATH}'>", "<img src=x onerror=y>", "<", ">", "&", '"', "'", "\n",
        "\n\n", " ", "text", "한", "&lt;", "&#0;", "&#13;", "&nbsp;", "<table><td>",
    ]
)  # fmt: skip
SOUP = st.lists(FRAGMENTS | st.text(max_size=4), max_size=40).map("".join)


@given(html=SOUP)
def test_sanitizing_twice_changes_nothing(html: str) -> None:
    content = sanitize_html(html)
    assert sanitize_html(content) == content
    assert sanitize_html(render_html(content)) == content
    assert_safe(content)


def assert_safe(content: str) -> None:
    """Check that only the tags and attributes listed here are left."""
    for tag in re.findall(r"<[^>]*>", content):
        assert re.fullmatch(
            r'</?[a-z]+[0-9]?( (alt|width|height|colspan|rowspan|rel)="[^"]*"'
            r'| href="(https?://|mailto:)[^"]*"| src="/api/images/[0-9a-f-]{36}")*>',
            tag,
            re.IGNORECASE,
        ), tag
        assert re.match(r"</?([a-z0-9]+)", tag).group(1) in ALLOWED_TAGS, tag  # type: ignore[union-attr]
    assert "<" not in re.sub(r"<[^>]*>", "", content)


FORMATTING = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "tt", "u")
HOSTILE = {
    "deep": "<div>" * (MAX_HTML_TAGS - 1),
    "deep lists": "<ul><li>" * (MAX_HTML_TAGS // 2 - 1),
    "unequal formatting": "<p>"
    + "".join(f"<b a={i}>" for i in range(500))
    + "<p>x" * 9_000,
    "all formatting": "<p>"
    + "".join(f"<{tag}>" * 3 for tag in FORMATTING)
    + "<p>x" * 9_900,
    "adoption": "<a><div>" * (MAX_HTML_TAGS // 2 - 1),
    "crossed": "<b><div>" * 5_000 + "</b>" * 4_900,
    "fostered": "<table>" + "<b><tr>" * 4_900,
    "attributes": "<p " + "".join(f"a{i} " for i in range(16_000)),
    "half tags": "<b " * 9_900,
    "less than": "<" * 99_999,
    "ampersands": "&" * 99_999,
    "newlines": "<pre>" + "\n" * 99_000,
    "closing": "</p>" * (MAX_HTML_TAGS - 1),
    "comments": "<!--" * 25_000,
    "open value": '<img src="' * 9_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_takes_bounded_time(name: str) -> None:
    html = HOSTILE[name][:MAX_CONTENT_LENGTH]
    started = time.thread_time()
    try:
        content = sanitize_html(html)
    except InvalidFieldError:
        content = ""
    build_search_text("", content)
    assert time.thread_time() - started < MOST_CPU_SECONDS
    assert len(content) <= MAX_CONTENT_LENGTH


def test_longest_content_is_taken() -> None:
    text = "가" * (MAX_CONTENT_LENGTH - 7)
    assert sanitize_html(f"<p>{text}</p>") == f"<p>{text}</p>"


@pytest.mark.parametrize("html", ["&" * 30_000, "<p>" * (MAX_HTML_TAGS + 1)])
def test_what_becomes_too_long_is_refused_by_its_field(html: str) -> None:
    with pytest.raises(InvalidFieldError) as refusal:
        sanitize_html(html)
    assert refusal.value.errors[0].field == "content"


def test_elements_beyond_the_deepest_level_leave_their_text() -> None:
    depth = MAX_DEPTH + 50
    content = sanitize_html("<blockquote>" * depth + "deep" + "</blockquote>" * depth)
    assert content.count("<blockquote>") == content.count("</blockquote>") == MAX_DEPTH
    assert "deep" in content


def test_words_are_title_and_text_in_lower_case() -> None:
    content = sanitize_html("<p>Saving <b>M</b>oney</p><p>A &amp; B&nbsp;C<br>d</p>")
    assert build_search_text("My  Title", content) == "my title saving money a & b c d"


def test_words_of_neighboring_elements_stay_apart() -> None:
    assert (
        build_search_text("", sanitize_html("<td>a</td><li>b</li><p>c</p>d"))
        == "a b c d"
    )
    table = "<table><tr><td>a</td><td>b</td></tr></table>"
    assert build_search_text("", sanitize_html(table)) == "a b"


def test_decomposed_korean_is_found_by_composed_words() -> None:
    assert (
        build_search_text("가계부", "") == normalize_search_text("가계부") == "가계부"
    )


def test_addresses_and_attributes_are_no_words() -> None:
    content = sanitize_html('<a href="https://secret.example">x</a>')
    assert build_search_text("", content) == "x"


@pytest.mark.parametrize(
    "html", ["", "  ", "<p></p>", "<p>&nbsp;<br></p>", "<img src=x>", "\u200b", "<hr>"]
)
def test_nothing_to_read_and_nothing_to_see_is_empty(html: str) -> None:
    assert is_empty(sanitize_html(html))


@pytest.mark.parametrize("html", ["a", "<p>.</p>", f"<img src='{PATH}'>", "😀"])
def test_text_or_an_image_is_not_empty(html: str) -> None:
    assert not is_empty(sanitize_html(html))
