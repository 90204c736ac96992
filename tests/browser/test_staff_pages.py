"""Pages of moderators, and errors, fit and have no barriers (spec 7.7).

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from board.models import Decision, OutsideReport, Post
from tests.support.cases import make_case
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_comment, make_member, make_post

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
LOOKS = [
    *((390, "light", "ko"), (390, "dark", "en")),
    *((1440, "light", "en"), (1440, "dark", "ko")),
]
each_look = pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)


def use_look(page: Chromium, width: int, scheme: str, language: str) -> None:
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.use_scheme(scheme)
    page.resize(width, 900)


def check(page: Chromium, address: str, path: str, name: str) -> None:
    # axe-core itself sets styles that the policy refuses.
    page.errors()
    page.events.clear()
    page.open(f"{address}{path}")
    assert page.errors() == [], path
    too_wide = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(too_wide), path
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"{name}.png")
    assert find_barriers(page) == [], path


def make_author() -> Member:
    """Make an author with posts, a case with reports of all kinds, and a deed."""
    author = make_member(login_id="minji", display_name="김민지")
    now = timezone.now()
    for number in range(12):
        make_post(author, title=f"Cheap rice {number}", search_text="cheap rice")
    post = Post.objects.latest("id")
    make_comment(make_member(), post=post, content="Where?")
    case = make_case(post, kind="NOTICE")
    OutsideReport.objects.create(
        case=case,
        target_type="POST",
        target_id=post.pk,
        reason="DEFAMATION",
        text="It names me.",
        name="Kim",
        language="ko",
        code_hash=b"",
        expires_at=now,
        confirmed_at=now,
    )
    for each in Post.objects.order_by("id")[:3]:
        done = make_case(each, status="RESOLVED", report_count=0)
        Decision.objects.create(case=done, action="HIDE", reason="SPAM", decided_at=now)
    return author


def log_in(page: Chromium, address: str) -> None:
    judge = make_member(role="MODERATOR", login_id="judge", password=PASSWORD)
    page.open(f"{address}/admin/login/?next=/admin/accounts/member/")
    page.type("#id_username", judge.login_id)
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")
    assert page.evaluate("location.pathname") == "/admin/board/moderationcase/"


@each_look
def test_pages_of_moderators(
    page: Chromium, live_server: Any, width: int, scheme: str, language: str
) -> None:
    author = make_author()
    newest = Post.objects.latest("id")
    case = make_case(make_post(author, title="Another"))
    use_look(page, width, scheme, language)
    log_in(page, live_server.url)
    look = f"{width}-{scheme}-{language}"
    posts = "/admin/board/post/"
    for path, name in (
        (f"{posts}?q=rice", "posts"),
        (f"{posts}{newest.pk}/change/", "post"),
        (f"{posts}author/{author.pk}/", "author"),
        ("/admin/board/moderationcase/", "cases"),
        ("/admin/board/moderationcase/next/", "case"),
        (f"/admin/board/moderationcase/{case.pk}/change/", "case-2"),
        ("/admin/", "index"),
        ("/admin/accounts/member/", "403"),
        ("/admin/nothing/", "404"),
    ):
        check(page, live_server.url, path, f"{name}-{look}")


@each_look
def test_pages_for_anybody(
    page: Chromium,
    live_server: Any,
    mail_folder: Path,
    width: int,
    scheme: str,
    language: str,
) -> None:
    use_look(page, width, scheme, language)
    look = f"{width}-{scheme}-{language}"
    check(page, live_server.url, "/", f"landing-{look}")
    check(page, live_server.url, "/nothing", f"nothing-{look}")
    assert "404" not in page.text()
    member = make_member(
        status="SUSPENDED",
        suspended_until=timezone.now(),
        suspension_reason="insults",
        password=PASSWORD,
    )
    page.open(f"{live_server.url}/account/delete")
    page.type("#login_id", member.login_id)
    page.type("#password", PASSWORD)
    page.click("#password ~ button")
    assert "insults" in page.text()
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"delete-{look}.png")
    assert find_barriers(page) == []


def test_result_of_a_search_is_read_whole_on_a_phone(
    page: Chromium, live_server: Any
) -> None:
    make_author()
    page.resize(390, 900)
    log_in(page, live_server.url)
    page.open(f"{live_server.url}/admin/board/post/?q=rice")
    right = page.evaluate(
        "document.querySelector('.search .quiet').getBoundingClientRect().right"
    )
    assert 0 < right <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_decisions_and_reasons_are_of_one_size(
    page: Chromium, live_server: Any
) -> None:
    make_author()
    page.resize(1440, 900)
    log_in(page, live_server.url)
    page.open(f"{live_server.url}/admin/board/moderationcase/next/")
    sizes = page.evaluate(
        "[...new Set([...document.querySelectorAll('.decision .choice')]"
        ".map((each) => getComputedStyle(each).fontSize))]"
    )
    assert len(sizes) == 1
    assert float(sizes[0].removesuffix("px")) >= 13
