"""The page of the OpenAPI document has all of it, is light, and is rendered once."""

import gzip
import html
import re
from typing import Any

import pytest

from core.api import openapi_view
from core.api.docs_page import PageBuilder, describe_type, mark_up
from core.api.openapi_hooks import list_operations
from core.api.openapi_view import build_document, render_page
from tests.support.clients import JSONClient

PATH = "/api/docs"
MAX_BYTES, MAX_COMPRESSED_BYTES = 2_500_000, 300_000
# Of one operation, to be read on two screens: it was 7,574 pixels high.
MAX_OPERATION_BYTES = 16_000
LANGUAGES = ["en", "ko"]
each_language = pytest.mark.parametrize("language", LANGUAGES)

pytestmark = pytest.mark.django_db


def read(language: str = "en") -> str:
    response = JSONClient().get(PATH, HTTP_ACCEPT_LANGUAGE=language)
    assert response.status_code == 200
    return response.content.decode()


def cut(page: str, operation_id: str) -> str:
    """Return the HTML of one operation."""
    start = page.index(f'<details class="operation" id="{operation_id}">')
    return page[start : page.index("</details>", start)]


@each_language
def test_page_has_each_operation_without_a_script(language: str) -> None:
    page = html.unescape(read(language))
    operations = list(list_operations(build_document()))
    assert len(operations) > 200
    for path, method, operation in operations:
        block = cut(page, operation["operationId"])
        assert f">{method.upper()}</span>" in block
        assert f'<code class="path">{path}</code>' in block
        assert operation["summary"] in block
        for parameter in operation.get("parameters", []):
            assert f"<code>{parameter['name']}</code>" in block
    # Elements that are hidden until a script shows them are those of the search.
    assert re.findall(r"<\w+ [^>]*\bhidden\b[^>]*>", page) == [
        '<form class="search" role="search" hidden>'
    ]


def test_each_operation_names_all_of_its_codes() -> None:
    page = read()
    document = build_document()
    shared = document["components"]["responses"]
    for _path, _method, operation in list_operations(document):
        codes = set()
        for response in operation["responses"].values():
            name = response.get("$ref", "").rpartition("/")[2]
            codes |= set((shared[name] if name else response).get("x-codes", []))
        block = cut(page, operation["operationId"])
        named = set(re.findall(r"<code>([A-Z][A-Z_]{3,})</code>", block))
        assert named >= codes, operation["operationId"]


def test_texts_of_common_errors_stand_there_once() -> None:
    page = read()
    text = "The service is temporarily unavailable. Try again later."
    assert page.count(text) == 1
    assert page.index(text) < page.index('class="operation"')
    assert len(cut(page, "createEntry")) < MAX_OPERATION_BYTES
    korean = read("ko")
    assert korean.count("로그인이 필요해요") == 1


def test_bodies_are_examples_and_no_placeholders() -> None:
    page = html.unescape(read())
    assert '"string"' not in page
    assert '"memo": "삼겹살"' in cut(page, "createEntry")
    assert '"detail": "Unknown currency."' in cut(page, "createEntry")
    assert "Example:</span> <code>식비</code>" in cut(page, "listEntries")


@each_language
def test_links_within_the_page_lead_somewhere(language: str) -> None:
    page = read(language)
    names = set(re.findall(r' id="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links - names == set()
    assert {"errors", "schemas", "schema-Entry", "header-If-Match"} <= links
    assert len(names) == len(re.findall(r' id="', page))


@each_language
def test_page_is_light(language: str) -> None:
    page = render_page(language)
    assert len(page.content) < MAX_BYTES
    assert len(page.compressed) < MAX_COMPRESSED_BYTES
    assert gzip.decompress(page.compressed) == page.content


def test_page_is_rendered_once_for_each_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = []

    class CountingBuilder(PageBuilder):
        def build(self) -> Any:
            built.append(self)
            return super().build()

    monkeypatch.setattr(openapi_view, "PageBuilder", CountingBuilder)
    monkeypatch.setattr(openapi_view, "_rendered_pages", {})
    pages = {read(language) for language in (*LANGUAGES, *LANGUAGES)}
    assert len(pages) == len(built) == len(LANGUAGES)


def test_unchanged_page_is_304_and_another_language_is_not() -> None:
    client = JSONClient()
    response = client.get(PATH)
    etag = response.headers["ETag"]
    assert response.headers["Cache-Control"] == "public, no-cache"
    for method in ("GET", "HEAD"):
        unchanged = client.generic(method, PATH, HTTP_IF_NONE_MATCH=etag)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        for name in ("ETag", "Vary", "Content-Security-Policy"):
            assert unchanged.headers[name] == response.headers[name]
    korean = client.get(PATH, HTTP_IF_NONE_MATCH=etag, HTTP_ACCEPT_LANGUAGE="ko")
    assert korean.status_code == 200
    assert korean.headers["ETag"] != etag


def test_page_is_compressed_where_the_browser_takes_it() -> None:
    response = JSONClient().get(PATH, HTTP_ACCEPT_ENCODING="gzip")
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(response.content) == render_page("en").content
    plain = JSONClient().get(PATH)
    assert "Content-Encoding" not in plain.headers
    assert "Accept-Encoding" in plain.headers["Vary"]


def test_page_asks_nobody_else() -> None:
    page = read()
    assert re.findall(r'(?:src|href)="((?!#)[^"/][^"]*)"', page) == []
    assert "style=" not in page
    assert not re.search(r"<script(?! src)", page)


TYPES = [
    ({"type": ["integer", "null"], "format": "int64"}, "integer (int64) | null"),
    (
        {"oneOf": [{"$ref": "#/components/schemas/Tag"}, {"type": "null"}]},
        '<a href="#schema-Tag">Tag</a> | null',
    ),
    (
        {"type": "array", "items": {"$ref": "#/components/schemas/Tag"}},
        '[<a href="#schema-Tag">Tag</a>]',
    ),
    ({"type": "string", "enum": ["up", "down"]}, "<code>up</code> | <code>down</code>"),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "{name: integer}",
    ),
]


@pytest.mark.parametrize(("schema", "text"), TYPES)
def test_types_are_said_in_words(schema: dict[str, Any], text: str) -> None:
    assert describe_type(schema) == text


def test_texts_of_the_document_are_escaped() -> None:
    assert mark_up("`a<b`, <i> & c") == "<code>a&lt;b</code>, &lt;i&gt; &amp; c"
