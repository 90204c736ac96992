"""Moderators are led to nothing that they may not open (spec 7.7)."""

import html
import re
from typing import Any

import pytest

from accounts.models import Member
from accounts.security.audit_log import CHANGE, log_admin_action
from board.models import Comment, Image, Post
from tests.support.admin_site import (
    COMMENTS,
    IMAGES,
    MEMBERS,
    POSTS,
    get_page,
    logged_in_browser,
    make_rows,
)
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member

CASES = "/admin/board/moderationcase/"
LINK_RE = re.compile(r'(?:href|formaction)="([^"#]+)"')
MAX_PAGES = 200


@pytest.fixture
def moderator() -> Member:
    return make_member(role="MODERATOR", password=PASSWORD)


def list_links(page: str) -> set[str]:
    links = {html.unescape(each) for each in LINK_RE.findall(page)}
    return {link for link in links if link.startswith("/admin")}


def test_every_link_that_moderators_find_opens(
    administrator: Member, moderator: Member
) -> None:
    author = make_rows(administrator)
    log_admin_action(moderator, author, CHANGE, "Silenced.")
    log_admin_action(moderator, Post.objects.latest("id"), CHANGE, "Hidden. Case 1.")
    browser = logged_in_browser(moderator)
    waiting, opened = ["/admin/"], set[str]()
    while waiting:
        url = waiting.pop()
        if url in opened:
            continue
        opened.add(url)
        assert len(opened) < MAX_PAGES
        answer: Any = browser.get(url, follow=True)
        if answer.streaming:
            answer.getvalue()
            continue
        assert answer.status_code == 200, (url, answer.status_code)
        waiting += sorted(list_links(answer.content.decode()))
    assert f"{POSTS}author/{author.pk}/" in opened
    assert f"{CASES}" in opened
    assert not [url for url in opened if "/accounts/" in url or "/history/" in url]


def test_author_is_a_link_to_what_the_reader_may_open(
    administrator: Member, moderator: Member
) -> None:
    author = make_rows(administrator)
    post, comment = Post.objects.latest("id"), Comment.objects.latest("id")
    image = Image.objects.get()
    paths = [POSTS, COMMENTS, IMAGES]
    paths += [f"{POSTS}{post.pk}/change/", f"{COMMENTS}{comment.pk}/change/"]
    paths.append(f"{IMAGES}{image.pk}/change/")
    for reader, expected in (
        (moderator, f"{POSTS}author/{author.pk}/"),
        (administrator, f"{MEMBERS}{author.pk}/change/"),
    ):
        browser = logged_in_browser(reader)
        for path in paths:
            page = get_page(browser, path)
            shown = f'<a href="{expected}">{author.login_id}</a>'
            assert shown in page, (reader.role, path)


def test_history_is_for_who_may_read_the_log(
    administrator: Member, moderator: Member
) -> None:
    make_rows(administrator)
    path = f"{POSTS}{Post.objects.latest('id').pk}/change/"
    assert "/history/" in get_page(logged_in_browser(administrator), path)
    assert "/history/" not in get_page(logged_in_browser(moderator), path)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("/admin/accounts/member/", CASES),
        ("/admin/accounts/member/1/change/?x=1", CASES),
        ("/admin/accounts/", CASES),
        ("/admin/django_celery_beat/periodictask/", CASES),
        ("/admin/ledger/defaultcategory/1/move/up", CASES),
        ("/admin/", CASES),
        ("/admin/board/", "/admin/board/"),
        ("/admin/board/post/?q=@x", "/admin/board/post/?q=@x"),
        ("/admin/board/post/author/1/", "/admin/board/post/author/1/"),
        ("/admin/password_change/", "/admin/password_change/"),
        ("/admin/second-factor/", "/admin/second-factor/"),
    ],
)
def test_login_leads_moderators_to_what_they_may_open(
    moderator: Member, place: str, expected: str
) -> None:
    form = {"username": moderator.login_id, "password": PASSWORD, "next": place}
    answer: Any = JSONClient().post("/admin/login/", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, expected)
