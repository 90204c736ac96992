"""Staff go through the admin in a real browser (spec 7.7).

With SCREENSHOTS set to a folder, pictures of the pages are left there.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from board.models import Decision
from core.jobs.models import JobRun
from ledger.models import DefaultCategory
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.devtools import PROGRAM, Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_entry, make_member, make_post

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")


@pytest.fixture
def staff(live_server: Any) -> Member:
    return make_member(role="ADMIN", login_id="staff", password=PASSWORD)


@pytest.fixture
def page(live_server: Any, staff: Member) -> Iterator[Chromium]:
    """Yield a browser in which the administrator has just logged in."""
    with Chromium(PROGRAM) as browser:
        browser.open(f"{live_server.url}/admin/")
        browser.type("#id_username", staff.login_id)
        browser.type("#id_password", PASSWORD)
        browser.click("input[type=submit]")
        yield browser


def shoot(page: Chromium, name: str) -> None:
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"{name}.png")


def test_member_is_found_and_given_a_plan_that_the_api_shows(
    page: Chromium, live_server: Any
) -> None:
    make_member(login_id="seojun", display_name="박서준")
    member = make_member(login_id="minji", display_name="김민지")
    theirs = JSONClient(member)
    assert theirs.get_json("/api/auth/session")["plan"] == "FREE"
    page.open(f"{live_server.url}/admin/accounts/member/")
    page.type("#searchbar", "민지")
    page.click("#changelist-search input[type=submit]")
    assert "seojun" not in page.text()
    page.click("#result_list tbody th a")
    assert "김민지" in page.text()
    shoot(page, "member")
    page.click("button[value=set_premium]")
    assert "without an end" in page.text()
    assert theirs.get_json("/api/auth/session")["plan"] == "FREE"
    shoot(page, "confirm")
    page.click("input[type=submit].default")
    assert "Give Premium: done." in page.text()
    assert theirs.get_json("/api/auth/session")["plan"] == "PREMIUM"
    page.click(".field-end button")
    assert "The session has ended." in page.text()
    assert theirs.send("GET", "/api/auth/session").status_code == 401


@pytest.mark.parametrize("width", [390, 1440])
def test_member_is_found_and_suspended_on_a_phone_as_well(
    page: Chromium, live_server: Any, width: int
) -> None:
    member = make_member(login_id="minji", display_name="김민지")
    theirs = JSONClient(member)
    page.resize(width, 900)
    page.open(f"{live_server.url}/admin/accounts/member/")
    page.type("#searchbar", "minji")
    page.click("#changelist-search input[type=submit]")
    page.click("#result_list tbody th a")
    page.click(".row-actions a[href*='/suspension/']")
    assert "All sessions end at once" in page.text()
    assert theirs.send("GET", "/api/auth/session").status_code == 200
    page.click(".row-actions .default")
    assert "Suspend: done." in page.text()
    assert theirs.send("GET", "/api/auth/session").status_code == 401


@pytest.mark.parametrize("width", [390, 1440])
def test_post_is_found_and_hidden_and_its_author_opened(
    page: Chromium, live_server: Any, width: int
) -> None:
    author = make_member(login_id="minji", display_name="김민지")
    post = make_post(author, title="Cheap rice", search_text="cheap rice")
    page.resize(width, 900)
    page.open(f"{live_server.url}/admin/board/post/")
    page.type("#searchbar", "rice")
    page.click("#changelist-search input[type=submit]")
    page.click("#result_list tbody th a")
    page.click("button[value=hide]")
    assert find_barriers(page) == []
    page.evaluate("document.querySelector('#id_reason').value = 'SPAM'")
    page.click("input[type=submit].default")
    assert "1 hidden." in page.text()
    assert JSONClient(author).get(f"/api/board/posts/{post.pk}").status_code == 404
    page.click(".readonly a[href*='/member/']")
    assert "김민지" in page.text()
    assert "Cheap rice" in page.text()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "dark"), (1440, "light"), (390, "light"), (1440, "dark")],
)
def test_all_posts_of_a_filter_are_hidden_and_those_of_an_author_shown_again(
    page: Chromium, live_server: Any, width: int, scheme: str
) -> None:
    author = make_member(login_id="minji", display_name="김민지")
    for number in range(60):
        category = "tips" if number else "saving"
        make_post(author, title=f"Cheap rice {number}", category=category)
    posts = f"{live_server.url}/admin/board/post/"
    page.use_scheme(scheme)
    page.resize(width, 900)
    page.open(f"{posts}?category__exact=tips")
    page.click("#action-toggle", leave=False)
    page.click(".actions .question a", leave=False)
    page.evaluate("document.querySelector('select[name=action]').value = 'hide'")
    page.click(".actions button[name=index]")
    assert "The filter finds 59 rows." in page.text()
    assert "and 49 more" in page.text()
    assert find_barriers(page) == []
    shoot(page, f"bulk-question-{width}-{scheme}")
    page.evaluate("document.querySelector('#id_reason').value = 'SPAM'")
    page.click("input[type=submit].default")
    assert "59 hidden." in page.text()
    assert page.evaluate("location.search") == "?category__exact=tips"
    page.open(f"{posts}author/{author.pk}/")
    assert "Posts: 1. Comments: 0." in page.text()
    assert find_barriers(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide
    shoot(page, f"author-{width}-{scheme}")
    page.click("table button")
    assert "59 shown again." in page.text()
    assert find_barriers(page) == []
    shoot(page, f"author-done-{width}-{scheme}")
    assert JSONClient(author).get_json("/api/board/posts")["count"] == 60


def test_filter_of_a_list_opens_and_narrows_it(
    page: Chromium, live_server: Any
) -> None:
    make_member(login_id="minji", status="SUSPENDED")
    page.open(f"{live_server.url}/admin/accounts/member/")
    assert "minji" in page.text()
    page.click(".filter:nth-of-type(2) summary", leave=False)
    page.click(".filter[open] li:nth-child(3) a")
    rows = page.evaluate("document.querySelectorAll('#result_list tbody tr').length")
    assert rows == 1
    assert "minji" in page.text()


def test_default_categories_are_put_in_another_order(
    page: Chromium, live_server: Any, staff: Member
) -> None:
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()
    for place, name in enumerate(["식비", "주거", "교통"], start=1):
        DefaultCategory.objects.create(name=name, type="expense", sort_order=place)
    page.open(f"{live_server.url}/admin/ledger/defaultcategory/")
    shoot(page, "tree")
    page.click('button[aria-label="Move 교통 up"]')
    # The pressed button is focused in its new place: the next press goes on.
    moved = DefaultCategory.objects.get(name="교통")
    focused = page.evaluate("document.activeElement.id")
    assert focused == f"move-up-{moved.pk}"
    page.click('button[aria-label="Move 교통 up"]')
    rows = JSONClient(staff).get_json("/api/admin/default-categories")
    assert [row["name"] for row in rows] == ["교통", "식비", "주거"]


def press(
    page: Chromium, key: str, *, control: bool = False, leave: bool = False
) -> None:
    """Press a key; with `leave` it leads to another page."""
    text = "\r" if key == "Enter" else key
    if leave:
        page.evaluate("window.isOld = true")
    for kind in ("keyDown", "keyUp"):
        page.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            modifiers=2 if control else 0,
            windowsVirtualKeyCode=13 if key == "Enter" else 0,
            **({"text": text} if kind == "keyDown" and not control else {}),
        )
    if leave:
        page.wait("window.isOld === undefined && document.readyState === 'complete'")


def chosen(page: Chromium, name: str) -> Any:
    return page.evaluate(
        f"document.querySelector('[name={name}]:checked')?.value ?? ''"
    )


def test_cases_are_decided_by_keys(page: Chromium, live_server: Any) -> None:
    author = make_member(login_id="minji")
    first, second, third = (make_case(make_post(author)) for _ in range(3))
    page.open(f"{live_server.url}/admin/board/moderationcase/next/")
    assert f"Case {first.pk}" in page.text()
    # Enter decides nothing before a decision is chosen.
    press(page, "Enter")
    press(page, "?")
    assert "leaves the case for later" in page.text()
    press(page, "?")
    assert "leaves the case for later" not in page.text()
    press(page, "j", leave=True)
    assert f"Case {second.pk}" in page.text()
    for key, action in (
        ("d", "DISMISS"),
        ("b", "BLIND"),
        ("x", "DELETE"),
        ("h", "HIDE"),
    ):
        press(page, key)
        assert chosen(page, "action") == action
    press(page, "x", control=True)
    press(page, "2")
    assert (chosen(page, "action"), chosen(page, "reason")) == ("HIDE", "ABUSE")
    shoot(page, "case")
    # Keys are letters where somebody types.
    page.evaluate("document.querySelector('#id_note').focus()")
    for key in ("x", "1", "Enter", "j"):
        press(page, key)
    assert page.evaluate("document.querySelector('#id_note').value") == "x1\nj"
    assert chosen(page, "action") == "HIDE"
    press(page, "Enter", control=True, leave=True)
    assert f"Case {second.pk}: Hidden." in page.text()
    assert f"Case {third.pk}" in page.text()
    press(page, "d")
    press(page, "Enter", leave=True)
    assert f"Case {third.pk}: Nothing wrong." in page.text()
    press(page, "x")
    press(page, "Enter", leave=True)
    assert "The queue is empty." in page.text()
    assert page.errors() == []
    decisions = Decision.objects.order_by("id").values_list("case", "action", "reason")
    assert list(decisions) == [
        (second.pk, "HIDE", "ABUSE"),
        (third.pk, "DISMISS", ""),
        (first.pk, "DELETE", "SPAM"),
    ]


def test_sign_up_is_closed_and_refused(
    page: Chromium, live_server: Any, anonymous: JSONClient
) -> None:
    page.open(f"{live_server.url}/admin/accounts/applicationsetting/")
    row = page.evaluate("document.querySelector('input[value=signup_enabled]').name")
    page.click(f"input[name={row.replace('-name', '-enabled')}]", leave=False)
    page.click("input[name=_save]")
    assert "was changed successfully" in page.text()
    body = {
        "loginId": "late.comer",
        "password": PASSWORD,
        "displayName": "늦은 사람",
        "email": "late@example.com",
    }
    response = anonymous.send("POST", "/api/auth/signup", body)
    assert (response.status_code, response.data["code"]) == (403, "SIGNUP_DISABLED")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dashboard_has_its_charts_and_asks_nobody_else(
    page: Chromium, live_server: Any, scheme: str
) -> None:
    for days in range(5):
        member = make_member(created_at=timezone.now() - timedelta(days=days))
        make_entry(member)
    JobRun.objects.create(job="purge", state="FAILED", started_at=timezone.now())
    page.use_scheme(scheme)
    page.open(f"{live_server.url}/admin/")
    for title in ("Sign-ups per day", "Premium share", "Votes per day", "Failed"):
        assert title in page.text()
    bars = page.evaluate("document.querySelectorAll('.chart .bar').length")
    assert bars >= 6
    seen = page.evaluate(
        "[...document.querySelectorAll('.chart .bar')]"
        ".every((bar) => bar.getBoundingClientRect().height > 0)"
    )
    assert seen
    paper, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('.tile dd')).color]"
    )
    assert paper != ink
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide
    assert all(address.startswith(live_server.url) for address in page.requested())
    shoot(page, f"index-{scheme}")
