"""Stored posts and pictures in Chromium: nothing of them runs."""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from accounts.models import Member
from board.models import Image
from tests.support.clients import JSONClient
from tests.support.devtools import needs_chromium, render
from tests.support.factories import make_member
from tests.support.images import draw

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]

RAN = "document.documentElement.setAttribute(&quot;data-ran&quot;,1)"
MARK = "data-ran"
ATTACKS = [
    f"<script>{RAN.replace('&quot;', chr(34))}</script>",
    f'<img src="x" onerror="{RAN}">',
    f'<svg onload="{RAN}"></svg>',
    f'<style>@keyframes x{{}}</style><p style="animation:x 1s" onanimationstart="{RAN}">',
    f'<a href="javascript:{RAN};void 0">a</a>',
    f'<a href=" jav&#x09;ascript:{RAN};void 0">a</a>',
    f'<details open ontoggle="{RAN}">a</details>',
    f'<iframe srcdoc="<script>parent.{RAN}</script>"></iframe>',
    f'<form action="javascript:{RAN};void 0"><button>a</button></form>',
    f'<input autofocus onfocus="{RAN}">',
    f'<svg></p><style><a id="</style><img src=1 onerror={RAN}>">',
]
PAGE = """<!doctype html><meta charset="utf-8"><title>post</title>
<div id="post">{content}</div>
<script>
const click = (wanted) => document.querySelectorAll(wanted).forEach((e) => e.click());
click("#post a"); click("#post button");
</script>
"""


def show_in_chromium(httpserver: HTTPServer, content: str) -> str:
    page = PAGE.format(content=content)
    httpserver.expect_request("/page").respond_with_data(page, content_type="text/html")
    return render(httpserver.url_for("/page"))


def store(content: str) -> str:
    """Create a post; return its content as it is read back."""
    body = {"title": "Rice", "category": "tips", "content": f"<p>Rice</p>{content}"}
    client = JSONClient(make_member())
    response = client.send("POST", "/api/board/posts", body)
    assert response.status_code == 201, response.content
    stored: str = client.get_json(f"/api/board/posts/{response.data['id']}")["content"]
    return stored


# The others need a click, the focus or a drawn frame, which a short run may not reach.
@pytest.mark.parametrize("attack", [0, 1, 2, 4, 6])
def test_attack_runs_where_nothing_is_cleaned(
    httpserver: HTTPServer, attack: int
) -> None:
    # Otherwise the next test would prove nothing.
    assert MARK in show_in_chromium(httpserver, ATTACKS[attack]).partition("<head>")[0]


def test_stored_post_runs_nothing(httpserver: HTTPServer) -> None:
    document = show_in_chromium(httpserver, store("".join(ATTACKS)))
    assert "<p>Rice</p>" in document
    assert MARK not in document.partition("<head>")[0]


def test_picture_opened_directly_is_a_picture(live_server: Any) -> None:
    member = make_member()
    path = keep(member, draw("png"), "image/png")
    document = render(f"{live_server.url}{path}")
    assert f'src="{live_server.url}{path}"' in document
    assert "<img" in document


@pytest.mark.parametrize("kind", ["image/png", "image/gif"])
def test_html_among_the_pictures_runs_nothing_when_opened(
    live_server: Any, kind: str
) -> None:
    # No upload gets that far; the headers would hold it even so.
    script = RAN.replace("&quot;", '"')
    content = f"<!doctype html><p>hello</p><script>{script}</script>".encode()
    document = render(f"{live_server.url}{keep(make_member(), content, kind)}")
    assert MARK not in document.partition("<head>")[0]
    assert "hello" not in document


def keep(member: Member, content: bytes, kind: str) -> str:
    image = Image.objects.create(
        member=member,
        content=content,
        content_type=kind,
        width=1,
        height=1,
        size=len(content),
        content_hash="hash",
    )
    return f"/api/images/{image.pk}"
