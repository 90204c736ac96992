"""Every address of Django admin is for administrators, and changes need its forms."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.urls import URLPattern, URLResolver

from accounts.models import AuthSession, Member
from ledger.models import DefaultCategory
from tests.support.admin_site import MEMBERS, TREE, logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member

# Logging out twice and the words of the forms' scripts harm nobody.
OPEN = {"login/", "logout/", "jsi18n/"}


def walk(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern.url_patterns, path)
        else:
            yield re.sub(r"<[^>]*>", "1", path.removesuffix("$"))


PATHS = sorted({path for path in walk(admin.site.get_urls()) if "(?P" not in path})


def test_there_are_addresses_to_look_at() -> None:
    for path in ("", "accounts/member/", "accounts/member/1/sessions/1/end"):
        assert path in PATHS
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", sorted(set(PATHS) - OPEN))
def test_other_members_cannot_open_it(path: str, premium_member: Member) -> None:
    for outsider in (JSONClient(), logged_in_browser(premium_member)):
        for ask in (outsider.get, outsider.post):
            answer: Any = ask(f"/admin/{path}")
            assert answer.status_code == 302
            assert answer.headers["Location"].startswith("/admin/login/?next=")


# The pages of the board, and those that each member of staff has for themselves.
OF_MODERATORS = re.compile(r"|board/.*|password_change/(done/)?|second-factor/|r/1/1/")


@pytest.mark.parametrize("path", sorted(set(PATHS) - OPEN))
def test_moderators_open_the_pages_of_the_board_alone(path: str) -> None:
    browser = logged_in_browser(make_member(role="MODERATOR"))
    for ask in (browser.get, browser.post):
        answer: Any = ask(f"/admin/{path}", follow=True)
        assert answer.status_code < 500
        if OF_MODERATORS.fullmatch(path) is None:
            assert answer.status_code in {403, 404, 405}, answer.redirect_chain
            # Nothing has been done before the refusal: two addresses only lead on.
            leads_on = path.endswith(("history/", "/1/"))
            assert ask == browser.get or leads_on or not answer.redirect_chain
    for name in ("post", "comment", "image"):
        assert browser.get(f"/admin/board/{name}/").status_code == 200


def test_dashboard_of_moderators_has_no_figures_of_members(
    free_member: Member,
) -> None:
    browser = logged_in_browser(make_member(role="MODERATOR"))
    page = browser.get("/admin/").content.decode()
    assert "/admin/board/post/" in page
    for word in ("Revenue", "Premium", "/admin/accounts/", "/admin/jobs/", "₩"):
        assert word not in page


def test_change_by_another_site_is_refused(
    administrator: Member, free_member: Member
) -> None:
    # The cookie alone changes nothing: each form has a token of its own.
    JSONClient(free_member)
    session = AuthSession.objects.get(member=free_member)
    category = DefaultCategory.objects.create(type="expense", name="새", sort_order=99)
    browser = JSONClient(enforce_csrf_checks=True)
    browser.cookies["sessionid"] = JSONClient(administrator).token
    for path, data in (
        (f"{MEMBERS}{free_member.pk}/sessions/{session.key_hash}/end", {}),
        (f"{TREE}{category.pk}/move/up", {}),
        (f"{TREE}{category.pk}/delete/", {"post": "yes"}),
        (
            MEMBERS,
            {
                "action": "set_premium",
                "_selected_action": [free_member.pk],
                "confirmed": "yes",
            },
        ),
    ):
        assert browser.post(path, data).status_code == 403, path
    assert AuthSession.objects.filter(pk=session.pk).exists()
    category.refresh_from_db()
    assert category.sort_order == 99
    free_member.refresh_from_db()
    assert free_member.plan == "FREE"


@pytest.mark.parametrize(
    "wrong",
    [
        *("https://evil.example/admin/", "//evil.example/", "javascript:alert(1)", ""),
        *(
            "/api/docs",
            "/",
            "/admin/nothing/",
            "/admin/logout/",
            "/nothing",
            "http://[",
        ),
        *("/admin/login/?next=/admin/", "\\\\evil.example", "/admin/\r\nX-Evil: 1"),
    ],
)
@pytest.mark.parametrize("place", ["query", "form"])
def test_wrong_next_leads_to_the_dashboard(
    administrator: Member, wrong: str, place: str
) -> None:
    browser = JSONClient()
    form = {"username": administrator.login_id, "password": PASSWORD}
    query = {"next": wrong} if place == "query" else {}
    form |= {"next": wrong} if place == "form" else {}
    page: Any = browser.get("/admin/login/", query)
    assert page.status_code == 200
    answer: Any = browser.post("/admin/login/", form, query_params=query)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
    assert browser.get("/admin/").status_code == 200


@pytest.mark.parametrize(
    "page", ["/admin/accounts/member/?status=ACTIVE", "/admin/password_change/"]
)
def test_next_that_is_a_page_is_followed(administrator: Member, page: str) -> None:
    form = {"username": administrator.login_id, "password": PASSWORD, "next": page}
    answer: Any = JSONClient().post("/admin/login/", form)
    assert answer.headers["Location"] == page
