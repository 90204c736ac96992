"""Actions of lists: all that the filter finds, and back to the same place (spec 7.9)."""

import html
import re
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditLogEntry, Member
from board import admin_actions
from board.models import Comment, Decision, Image, ModerationCase, Post
from board.moderation import bulk
from core.admin import actions, base
from tests.support.admin_site import (
    COMMENTS,
    IMAGES,
    MEMBERS,
    POSTS,
    get_page,
    logged_in_browser,
    make_image,
)
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

SURE = {"confirmed": "yes", "reason": "SPAM"}


def ask(browser: JSONClient, url: Any, name: str, **more: Any) -> str:
    """Ask for an action on all that the filter of the address finds."""
    answer = browser.post(url, across(name) | more)
    assert answer.status_code == 200, answer
    return answer.content.decode()


def across(name: str) -> dict[str, Any]:
    # Django's form sends the rows of the page as well.
    return {"action": name, "select_across": "1", "_selected_action": ["1"]}


def read_form(page: str) -> tuple[str, dict[str, Any]]:
    """Return the address and the hidden fields of a question."""
    form = page[page.index('<form class="row-actions"') :]
    url = re.search(r'action="([^"]*)"', form)
    fields: dict[str, Any] = {}
    for name, value in re.findall(
        r'type="hidden" name="([^"]+)" value="([^"]*)"', form
    ):
        if name != "csrfmiddlewaretoken":
            fields.setdefault(name, []).append(html.unescape(value))
    return html.unescape(url[1]) if url else "", fields


def answer_question(browser: JSONClient, page: str, **more: Any) -> Any:
    url, fields = read_form(page)
    return browser.post(url, fields | {"reason": "SPAM"} | more)


@pytest.fixture
def posts(free_member: Member) -> list[Post]:
    """Return posts of which the filter for tips finds three."""
    for _ in range(2):
        make_post(free_member)
    return [make_post(make_member(), category="tips") for _ in range(3)]


TIPS = f"{POSTS}?category__exact=tips"


def test_action_takes_all_that_the_filter_finds(
    browser: JSONClient, posts: list[Post], administrator: Member
) -> None:
    page = ask(browser, TIPS, "hide")
    assert "The filter finds 3 rows." in page
    url, fields = read_form(page)
    assert url == TIPS
    assert len(fields["_selected_action"]) == 1, "the filter is sent, not the rows"
    assert not Post.objects.filter(is_hidden=True).exists()
    done = answer_question(browser, page)
    assert (done.status_code, done.headers["Location"]) == (302, TIPS)
    assert "3 hidden." in get_page(browser, TIPS)
    assert set(Post.objects.filter(is_hidden=True)) == set(posts)
    assert Decision.objects.filter(actor=administrator, reason="SPAM").count() == 3
    assert AuditLogEntry.objects.filter(text__startswith="Hidden. Case").count() == 3


@pytest.mark.parametrize(
    ("name", "flag"), [("show", "is_hidden"), ("unnotice", "is_notice")]
)
def test_action_without_a_question_asks_for_all_of_a_filter(
    browser: JSONClient, free_member: Member, name: str, flag: str
) -> None:
    Post.objects.all().delete()
    for _ in range(2):
        make_post(free_member, is_hidden=True, is_notice=True)
    page = ask(browser, POSTS, name)
    assert "The filter finds 2 rows." in page
    assert Post.objects.filter(**{flag: True}).count() == 2
    assert answer_question(browser, page).status_code == 302
    assert not Post.objects.filter(**{flag: True}).exists()


def test_members_and_images_of_a_filter_are_changed_too(
    browser: JSONClient, free_member: Member
) -> None:
    for number in range(3):
        make_member(login_id=f"spam{number}")
        make_image(make_post(free_member))
    found = f"{MEMBERS}?q=spam"
    page = ask(browser, found, "suspend")
    assert "The filter finds 3 rows." in page
    done = answer_question(browser, page)
    assert done.headers["Location"] == found
    assert "Suspend: 3 members: done." in get_page(browser, found)
    assert Member.objects.filter(status="SUSPENDED").count() == 3
    found = f"{IMAGES}?q=@{free_member.login_id}"
    first = str(Image.objects.values_list("pk", flat=True)[0])
    page = ask(browser, found, "delete", _selected_action=first)
    assert answer_question(browser, page).status_code == 302
    assert not Image.objects.exists()


@pytest.mark.parametrize("is_one_more", [True, False])
def test_list_that_has_changed_is_asked_about_anew(
    browser: JSONClient, posts: list[Post], is_one_more: bool
) -> None:
    page = ask(browser, TIPS, "delete")
    if is_one_more:
        make_post(make_member(), category="tips")
    else:
        # As many as before, but not the same ones.
        posts[0].delete()
        make_post(make_member(), category="tips")
    again = answer_question(browser, page)
    assert again.status_code == 200
    text = again.content.decode()
    count = 4 if is_one_more else 3
    assert f"it has {count} rows now. Nothing has been changed." in text
    assert not ModerationCase.objects.exists()
    assert answer_question(browser, text).status_code == 302
    assert Post.objects.filter(remove_after__isnull=False).count() == count


def test_confirmation_without_the_number_is_a_question(
    browser: JSONClient, posts: list[Post]
) -> None:
    for sent in ({}, {"found": ""}, {"found": "3-0"}):
        page = ask(browser, TIPS, "hide", **SURE, **sent)
        assert "The filter finds 3 rows." in page
    assert not ModerationCase.objects.exists()


def test_reason_is_asked_again_without_losing_the_filter(
    browser: JSONClient, posts: list[Post]
) -> None:
    page = ask(browser, TIPS, "hide")
    for wrong in ("", "BORING", "spam"):
        answer = answer_question(browser, page, reason=wrong)
        assert answer.status_code == 200
        assert 'aria-invalid="true"' in answer.content.decode()
        assert read_form(answer.content.decode())[0] == TIPS
    assert not ModerationCase.objects.exists()


def test_filter_that_finds_too_many_is_refused(
    browser: JSONClient, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_FOUND_ROWS", 2)
    answer = browser.post(TIPS, across("hide"))
    assert (answer.status_code, answer.headers["Location"]) == (302, TIPS)
    page = get_page(browser, TIPS)
    assert "The filter finds more than 2 rows." in page
    assert not ModerationCase.objects.exists()


def test_question_names_only_some_of_many(
    browser: JSONClient, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_NAMED_ROWS", 1)
    page = ask(browser, TIPS, "hide")
    assert page.count("/change/") == 1
    assert "and 2 more" in page


def test_rows_that_were_left_are_told_by_their_reason(
    administrator: Member, free_member: Member
) -> None:
    moderator = make_member(role="MODERATOR")
    browser = logged_in_browser(moderator)
    make_post(free_member)
    make_post(free_member, is_hidden=True)
    for member in (administrator, moderator):
        make_post(member)
    page = ask(browser, POSTS, "hide")
    answer_question(browser, page)
    text = get_page(browser, POSTS)
    assert "1 hidden." in text
    assert "1 left as it is: it was so already" in text
    assert "2 left as they are: another moderator has to decide" in text
    assert Post.objects.filter(is_hidden=False).count() == 2
    # An administrator judges staff, too, but not the own post.
    browser = logged_in_browser(administrator)
    answer_question(browser, ask(browser, POSTS, "hide"))
    assert Post.objects.get(is_hidden=False).member == administrator


def test_time_that_is_over_leaves_the_rest_for_the_next_time(
    browser: JSONClient, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 1)
    clock = SimpleNamespace(monotonic=iter([0, 0, 0, 99]).__next__, sleep=int)
    monkeypatch.setattr(bulk, "time", clock)
    answer_question(browser, ask(browser, TIPS, "hide"))
    monkeypatch.undo()
    page = get_page(browser, TIPS)
    assert "2 hidden." in page
    assert "1 is left: repeat the action to go on." in page
    answer_question(browser, ask(browser, TIPS, "hide"))
    page = get_page(browser, TIPS)
    assert "1 hidden." in page
    assert "2 left as they are: they were so already" in page
    assert Decision.objects.count() == 3


def test_pins_are_left_when_the_time_is_over(
    browser: JSONClient, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_actions, "BATCH_SIZE", 2)
    monkeypatch.setattr(admin_actions, "MAX_SECONDS", -1)
    answer_question(browser, ask(browser, TIPS, "notice"))
    assert "3 are left" in get_page(browser, TIPS)
    assert not Post.objects.filter(is_notice=True).exists()


PLACES = [
    "q=post&o=-8&p=2",
    "category__exact=community&is_hidden__exact=0",
    "created_at__gte=2026-01-01+00%3A00%3A00%2B09%3A00",
]


@pytest.mark.parametrize("query", PLACES)
def test_action_leads_back_to_the_same_place(
    browser: JSONClient, free_member: Member, query: str
) -> None:
    chosen = [make_post(free_member) for _ in range(2)]
    url = f"{POSTS}?{query}"
    data = {"action": "hide", "_selected_action": [post.pk for post in chosen]}
    page = browser.post(url, data).content.decode()
    assert "2 rows are chosen." in page
    assert f'class="button cancel" href="{html.escape(url)}"' in page
    assert read_form(page)[0] == url
    done = answer_question(browser, page)
    assert (done.status_code, done.headers["Location"]) == (302, url)
    assert Post.objects.filter(is_hidden=True).count() == 2
    # Without a question as well.
    shown = {"action": "notice", "_selected_action": [chosen[0].pk]}
    answer: Any = browser.post(POSTS + "?q=post", shown)
    assert answer.headers["Location"] == POSTS + "?q=post"


@pytest.mark.parametrize("query", PLACES)
def test_page_of_a_row_leads_back_to_the_list_it_was_opened_from(
    browser: JSONClient, free_member: Member, query: str
) -> None:
    post = make_post(free_member)
    of_page = urlencode({"_changelist_filters": query})
    row_url = f"{POSTS}{post.pk}/change/?{of_page}"
    page = get_page(browser, row_url)
    assert f'href="{POSTS}?{html.escape(query)}"' in page
    _, fields = read_form(page)
    assert fields["_changelist_filters"] == [query]
    asked: Any = browser.post(POSTS, fields | {"action": "delete"})
    question = asked.content.decode()
    assert f'class="button cancel" href="{html.escape(row_url)}"' in question
    done = answer_question(browser, question)
    assert done.headers["Location"] == row_url


def test_row_that_is_gone_leads_to_the_list_it_was_opened_from(
    browser: JSONClient, free_member: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    comment = make_comment(free_member)
    form = {"action": "delete", "_selected_action": comment.pk, "from_page": "yes"}
    form |= SURE | {"_changelist_filters": "is_hidden__exact=0&p=3"}
    done: Any = browser.post(COMMENTS, form)
    assert done.headers["Location"] == f"{COMMENTS}?is_hidden__exact=0&p=3"
    assert not Comment.objects.exists()


@pytest.mark.parametrize(
    "place", ["//evil.example", "\r\nX-Evil: 1", "q=" + "a" * 5_000, "&&&=", "%zz"]
)
def test_place_that_is_none_leads_to_the_page(
    browser: JSONClient, free_member: Member, place: str
) -> None:
    post = make_post(free_member)
    form = {"action": "hide", "_selected_action": post.pk, "from_page": "yes"}
    form |= SURE | {"_changelist_filters": place}
    done: Any = browser.post(POSTS, form)
    assert done.status_code == 302
    location = done.headers["Location"]
    assert location.startswith(f"{POSTS}{post.pk}/change/")
    assert len(location) < 200
    assert "X-Evil" not in done.headers


@pytest.mark.parametrize("path", [POSTS, COMMENTS, IMAGES, MEMBERS])
@pytest.mark.parametrize(
    "form",
    [
        {"action": "delete"},
        {"action": "hide", "index": "0"},
        {"action": "nothing", "_selected_action": "1"},
        {"action": "nothing", "select_across": "1", "_selected_action": "1"},
        {"action": ["delete", "hide"], "index": "7", "_selected_action": "1"},
        {"action": "show", "select_across": "2", "_selected_action": "x"},
    ],
)
def test_form_that_makes_no_sense_changes_nothing(
    browser: JSONClient, posts: list[Post], path: Any, form: dict[str, Any]
) -> None:
    make_comment(make_member())
    answer = browser.post(path, form | SURE, follow=True)
    assert answer.status_code in {200, 400}
    assert not ModerationCase.objects.exists()
    assert not AuditLogEntry.objects.exists()


def test_rows_that_do_not_exist_are_told(
    browser: JSONClient, posts: list[Post]
) -> None:
    chosen = [str(posts[0].pk), "987654321", str(10**9), "9" * 30]
    form = {"action": "hide", "_selected_action": chosen}
    browser.post(POSTS, form | SURE)
    page = get_page(browser, POSTS)
    assert "3 chosen rows are gone" in page
    assert "1 hidden." in page
    browser.post(POSTS, {"action": "hide", "_selected_action": [10**9]} | SURE)
    assert "There is no row to change." in get_page(browser, POSTS)


def test_more_rows_than_a_form_may_have_are_refused(browser: JSONClient) -> None:
    form = {"action": "hide", "_selected_action": list(range(2_000))}
    assert browser.post(POSTS, form | SURE).status_code == 400


def test_crafted_filter_starts_no_action(
    browser: JSONClient, posts: list[Post]
) -> None:
    # The list refuses the filter before it looks at the action.
    for query in ("content__contains=a", "member__password__startswith=a"):
        answer = browser.post(f"{POSTS}?{query}", across("delete") | SURE)
        assert answer.status_code == 400
    answer = browser.post(f"{POSTS}?created_at__gte=soon", across("delete") | SURE)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{POSTS}?e=1")
    assert not ModerationCase.objects.exists()


@pytest.mark.parametrize("path", [POSTS, COMMENTS])
def test_nothing_is_deleted_without_a_reason(
    browser: JSONClient, free_member: Member, path: Any
) -> None:
    row = make_post(free_member) if path == POSTS else make_comment(free_member)
    for name in ("hide", "delete"):
        form = {"action": name, "_selected_action": row.pk, "confirmed": "yes"}
        for more in ({}, {"from_page": "yes"}):
            assert browser.post(path, form | more).status_code == 200
        assert "Choose a reason." in ask(browser, path, name, confirmed="yes")
    for page in ("delete/", "change/"):
        answer = browser.post(f"{path}{row.pk}/{page}", {"post": "yes"})
        assert answer.status_code == 403
    row.refresh_from_db()
    assert not row.is_hidden
    assert not ModerationCase.objects.exists()


def test_moderators_pin_nothing_of_a_filter(posts: list[Post]) -> None:
    browser = logged_in_browser(make_member(role="MODERATOR"))
    answer = browser.post(TIPS, across("notice") | {"confirmed": "yes"}, follow=True)
    assert answer.status_code == 200
    assert "No action selected." in answer.content.decode()
    assert not Post.objects.filter(is_notice=True).exists()


@pytest.mark.parametrize("name", ["hide", "delete", "show"])
def test_question_and_action_cost_the_same_for_one_row_and_for_fifty(
    browser: JSONClient, free_member: Member, name: str
) -> None:
    counts = []
    get_page(browser, POSTS)
    for number in (1, 50):
        Post.objects.all().delete()
        for _ in range(number):
            make_post(free_member, is_hidden=name == "show")
        with CaptureQueriesContext(connection) as asking:
            page = ask(browser, POSTS, name)
        with CaptureQueriesContext(connection) as doing:
            answer_question(browser, page)
        counts.append((len(asking), len(doing)))
    assert counts[0] == counts[1]


def test_numbers_have_separators_everywhere(
    browser: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    Post.objects.bulk_create(
        Post(member=free_member, title="t", content="c", category="tips")
        for _ in range(1_234)
    )
    page = get_page(browser, TIPS)
    assert "1,234 results" in page
    assert "Select all 1,234 posts" in page
    assert re.search(r"1,234\s+posts\s+</p>", page)
    page = ask(browser, TIPS, "notice")
    assert "The filter finds 1,234 rows." in page
    assert "and 1,224 more" in page
    assert 'value="Mark as notice (1,234)"' in page
    answer_question(browser, page)
    assert "1,234 marked as notices." in get_page(browser, TIPS)
    page = get_page(browser, f"{POSTS}author/{free_member.pk}/")
    assert "Posts: 1,234. Comments: 0." in page
    assert "Hide all (1,234)" in page


def test_one_row_of_a_filter_is_told_as_one(
    browser: JSONClient, free_member: Member
) -> None:
    make_post(free_member, category="tips")
    page = ask(browser, TIPS, "hide")
    assert "The filter finds 1 row. The action is about this row." in page


@pytest.mark.parametrize("number", [7, 8])
def test_all_of_a_filter_are_offered_only_if_one_action_takes_them(
    browser: JSONClient,
    free_member: Member,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    monkeypatch.setattr(base, "MAX_COUNTED_ROWS", 7)
    monkeypatch.setattr(actions, "MAX_FOUND_ROWS", 7)
    monkeypatch.setattr(admin.site.get_model_admin(Post), "list_per_page", 5)
    for _ in range(number):
        make_post(free_member, category="tips")
    page = get_page(browser, TIPS)
    told = "The filter finds more than 7: narrow it down to select all"
    assert ("Select all 7 posts" in page) == (number == 7)
    assert (told in page) == (number == 8)


def test_question_counts_what_it_would_change(
    browser: JSONClient, free_member: Member
) -> None:
    for is_hidden in (False, False, True, True, True):
        make_post(free_member, category="tips", is_hidden=is_hidden)
    reported = make_post(free_member, category="tips", is_hidden=True)
    make_case(reported)
    for name, label, due, done in (
        ("hide", "Hide", 2, "4 of them are so already and stay as they are."),
        ("show", "Show again", 4, "2 of them are so already"),
        ("delete", "Delete", 6, ""),
    ):
        page = ask(browser, TIPS, name)
        assert "The filter finds 6 rows." in page
        assert f'value="{label} ({due})"' in page
        assert done in page
        assert ("stay as they are" in page) == bool(done)
    page = ask(browser, TIPS, "hide")
    answer_question(browser, page)
    page = get_page(browser, TIPS)
    assert "2 hidden." in page
    assert "4 left as they are" in page
