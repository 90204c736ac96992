"""All that one author wrote is hidden, deleted and shown again (spec 7.9)."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditLogEntry, InboxItem, Member
from board import admin_author
from board.models import Comment, Decision, ModerationCase, Post, TargetType
from board.moderation import bulk, deeds
from board.moderation.bulk import judge_all, start_deed
from board.moderation.decisions import Judgement, judge_content
from board.moderation.notes import HIDDEN_AGAIN, HIDDEN_BEFORE
from tests.support.admin_site import (
    COMMENTS,
    MEMBERS,
    POSTS,
    get_page,
    logged_in_browser,
)
from tests.support.board import find_counter_drift
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

OTHERS = 3


def page_of(author: Member) -> str:
    return f"{POSTS}author/{author.pk}/"


def read_found(page: str, action: str) -> str:
    form = page[page.index(f'name="action" value="{action}"') :]
    found = re.search(r'name="found" value="([^"]+)"', form)
    assert found
    return found[1]


def act(browser: JSONClient, author: Member, action: str, **more: Any) -> Any:
    found = read_found(get_page(browser, page_of(author)), action)
    form = {"action": action, "reason": "SPAM", "found": found}
    return browser.post(page_of(author), form | more)


def list_keys(page: str) -> list[str]:
    keys = re.findall(r'name="deed" value="([^"]+)"', page)
    return [html.unescape(key) for key in keys]


def undo(browser: JSONClient, author: Member, place: int = 0) -> str:
    key = list_keys(get_page(browser, page_of(author)))[place]
    browser.post(page_of(author), {"action": "show", "deed": key})
    return get_page(browser, page_of(author))


@pytest.fixture
def author() -> Member:
    """Return a member with ten posts and ten comments, beside those of others."""
    member = make_member(login_id="spammer")
    for _ in range(10):
        make_post(member)
    for _ in range(OTHERS):
        other = make_post(make_member())
        make_comment(make_member(), post=other)
    for _ in range(10):
        make_comment(member, post=other)
    return member


def count_shown(author: Member) -> tuple[int, int]:
    posts = Post.objects.filter(member=author, is_hidden=False)
    comments = Comment.objects.filter(member=author, is_hidden=False)
    return posts.count(), comments.count()


@pytest.mark.parametrize("role", ["ADMIN", "MODERATOR"])
@pytest.mark.parametrize("action", ["HIDE", "DELETE"])
def test_all_of_an_author_is_taken_away_and_shown_again(
    author: Member, action: str, role: str
) -> None:
    staff = make_member(role=role)
    browser = logged_in_browser(staff)
    page = get_page(browser, page_of(author))
    assert page.count("Posts: 10. Comments: 10.") == 2
    assert "(20)" in page
    assert act(browser, author, action).status_code == 302
    assert count_shown(author) == (0, 0)
    assert Post.objects.filter(is_hidden=False).count() == OTHERS
    assert Comment.objects.filter(is_hidden=False).count() == OTHERS
    cases = ModerationCase.objects.filter(author=author, reason="SPAM")
    assert (cases.count(), cases.exclude(status="RESOLVED").count()) == (20, 0)
    assert Decision.objects.filter(action=action, actor=staff).count() == 20
    assert AuditLogEntry.objects.filter(actor_id=staff.pk).count() == 20
    page = get_page(browser, page_of(author))
    assert "20 hidden." in page if action == "HIDE" else "20 deleted." in page
    page = undo(browser, author)
    assert "20 shown again." in page
    assert list_keys(page) == []
    assert count_shown(author) == (10, 10)
    assert not Post.objects.filter(remove_after__isnull=False).exists()
    assert not ModerationCase.objects.filter(target_gone__isnull=False).exists()
    shown = AuditLogEntry.objects.filter(text__startswith="Shown again. Case")
    assert shown.filter(actor_id=staff.pk).count() == 20
    assert find_counter_drift() == []


def test_deed_that_cannot_be_undone_says_why(
    browser: JSONClient, author: Member
) -> None:
    def read_cell() -> str:
        page = get_page(browser, page_of(author))
        cell = page.partition('<td data-label="Show again">')[2].partition("</td>")[0]
        return " ".join(re.sub("<[^>]*>", " ", cell).split())

    act(browser, author, "HIDE")
    assert read_cell() == "Show again (20)"
    undo(browser, author)
    assert read_cell() == "nothing left"
    author.role = "ADMIN"
    author.save_fields("role")
    Decision.objects.filter(action="DISMISS").delete()
    Post.objects.filter(member=author).update(is_hidden=True, hidden_reason="STAFF")
    moderator = logged_in_browser(make_member(role="MODERATOR"))
    page = get_page(moderator, page_of(author))
    assert "for another moderator" in page


def test_author_is_told_once_and_reads_how_many(
    browser: JSONClient, author: Member
) -> None:
    phone = JSONClient(author)
    newest = Post.objects.filter(member=author).earliest("id").title
    act(browser, author, "DELETE")
    (item,) = phone.get_json("/api/inbox")["results"]
    assert item["kind"] == "CONTENT_HIDDEN"
    assert f"{newest} and 19 more posts or comments of yours" in item["text"]
    assert "Reason: spam." in item["text"]
    shown = phone.get_json(f"/api/inbox/{item['id']}/case")
    assert shown["reason"] == "SPAM"
    undo(browser, author)
    items = phone.get_json("/api/inbox")["results"]
    assert len(items) == 2
    assert "can be seen by all again" in items[0]["text"]
    assert "and 19 more" in items[0]["text"]


def test_author_of_a_few_is_told_of_each(browser: JSONClient) -> None:
    author = make_member()
    titles = {make_post(author).title for _ in range(bulk.MAX_SINGLE_NOTICES)}
    act(browser, author, "HIDE")
    items = JSONClient(author).get_json("/api/inbox")["results"]
    assert len(items) == len(titles)
    assert not [item for item in items if "more" in item["text"]]
    assert all(any(title in item["text"] for item in items) for title in titles)


def test_undo_leaves_what_was_hidden_before_and_decided_since(
    browser: JSONClient, author: Member, administrator: Member
) -> None:
    now = timezone.now()
    posts = list(Post.objects.filter(member=author).order_by("id"))
    judge = make_member(role="MODERATOR")
    before, held, reported, since = posts[:4]
    judge_content(judge, TargetType.POST, before.pk, Judgement("HIDE", "ABUSE"), now)
    for post, reason in ((held, "HELD"), (reported, "REPORTS")):
        Post.objects.filter(pk=post.pk).update(is_hidden=True, hidden_reason=reason)
    make_case(held, kind="HELD", owes_points=True)
    make_case(reported)
    act(browser, author, "DELETE")
    assert Post.objects.filter(member=author, remove_after__isnull=False).count() == 10
    for name in ("DISMISS", "HIDE"):
        judge_content(
            judge, TargetType.POST, since.pk, Judgement(name, "OTHER"), timezone.now()
        )
    assert Decision.objects.filter(note__startswith=HIDDEN_BEFORE).count() == 3
    page = undo(browser, author)
    assert "16 shown again." in page
    assert "3 are hidden, as they were before they were deleted." in page
    assert "1 left as it is" in page
    reasons = dict(
        Post.objects.filter(member=author).values_list("pk", "hidden_reason")
    )
    hidden = {before.pk, held.pk, reported.pk, since.pk}
    assert {key for key, reason in reasons.items() if reason} == hidden
    assert set(reasons.values()) == {None, "STAFF"}
    assert not Post.objects.filter(remove_after__isnull=False).exists()
    about = Decision.objects.filter(case__target_type="POST")
    newest = about.filter(case__target_id=since.pk).latest("id")
    assert (newest.action, newest.actor) == ("HIDE", judge)
    assert find_counter_drift() == []


def test_undo_hides_again_for_the_reason_of_then_and_tells_nobody(
    browser: JSONClient, author: Member, administrator: Member
) -> None:
    posts = list(Post.objects.filter(member=author).order_by("id"))
    judge = make_member(role="MODERATOR")
    reasons = ["ABUSE", "ABUSE", "SEXUAL"]
    for post, reason in zip(posts, reasons, strict=False):
        judgement = Judgement("HIDE", reason)
        judge_content(judge, TargetType.POST, post.pk, judgement, timezone.now())
    Post.objects.filter(pk=posts[3].pk).update(is_hidden=True, hidden_reason="HELD")
    act(browser, author, "DELETE")
    InboxItem.objects.all().delete()
    page = undo(browser, author)
    assert "4 are hidden, as they were before they were deleted." in page
    again = Decision.objects.filter(note=HIDDEN_AGAIN).order_by("case__target_id")
    assert list(again.values_list("action", "reason", "case__target_id")) == [
        ("HIDE", reason, post.pk)
        for post, reason in zip(posts, [*reasons, ""], strict=False)
    ]
    assert not ModerationCase.objects.filter(target_gone__isnull=False).exists()
    assert set(Post.objects.filter(is_hidden=True)) == set(posts[:4])
    # Of what is shown again the author is told, once, and of nothing else.
    (item,) = JSONClient(author).get_json("/api/inbox")["results"]
    assert f"{posts[4].title} and 15 more" in item["text"]
    # Neither the deletion nor its undo can be undone.
    assert list_keys(page) == []


def test_deletion_that_was_undone_leaves_the_hiding_before_to_undo_and_object_to(
    browser: JSONClient, author: Member
) -> None:
    act(browser, author, "HIDE")
    phone = JSONClient(author)
    (item,) = phone.get_json("/api/inbox")["results"]
    act(browser, author, "DELETE")
    path = f"/api/inbox/{item['id']}/case"
    assert phone.get_json(path)["appealUntil"] is None
    undo(browser, author)
    shown = phone.get_json(path)
    assert (shown["action"], shown["appealUntil"] is not None) == ("HIDE", True)
    deleted, hidden = phone.get_json("/api/inbox")["results"]
    assert "was deleted" in deleted["text"]
    assert "You can object" not in deleted["text"]
    assert "You can object" in hidden["text"]
    page = undo(browser, author)
    assert "20 shown again." in page
    assert list_keys(page) == []
    assert count_shown(author) == (10, 10)


def test_each_deed_is_undone_alone(browser: JSONClient, author: Member) -> None:
    act(browser, author, "HIDE")
    for _ in range(2):
        make_post(author)
    act(browser, author, "HIDE")
    page = get_page(browser, page_of(author))
    newest, oldest = list_keys(page)
    assert newest != oldest
    undo(browser, author)
    assert count_shown(author) == (2, 0)
    undo(browser, author)
    assert count_shown(author) == (12, 10)


def test_deletion_after_a_hiding_is_undone_to_the_hiding(
    browser: JSONClient, author: Member
) -> None:
    act(browser, author, "HIDE")
    act(browser, author, "DELETE")
    assert len(list_keys(get_page(browser, page_of(author)))) == 1
    undo(browser, author)
    assert count_shown(author) == (0, 0)
    assert not Post.objects.filter(remove_after__isnull=False).exists()


def test_deed_of_a_list_is_undone_for_one_author(
    browser: JSONClient, author: Member, administrator: Member
) -> None:
    targets = {TargetType.POST: list(Post.objects.values_list("pk", flat=True))}
    judgement = Judgement("HIDE", "SPAM")
    deed = start_deed(administrator, judgement, timezone.now(), targets)
    assert judge_all(deed, targets).changed == 10 + OTHERS
    undo(browser, author)
    assert count_shown(author)[0] == 10
    assert Post.objects.filter(is_hidden=True).count() == OTHERS


def test_deed_is_undone_for_the_days_that_deletions_are_kept(
    browser: JSONClient, author: Member, settings: Any
) -> None:
    act(browser, author, "HIDE")
    (key,) = list_keys(get_page(browser, page_of(author)))
    days = timedelta(days=settings.BOARD_KEPT_DAYS)
    Decision.objects.update(decided_at=timezone.now() - days)
    assert list_keys(get_page(browser, page_of(author))) == []
    old = deeds.DeedKey.parse(key)
    moment = Decision.objects.first()
    assert moment
    old = deeds.DeedKey(old.actor_id, moment.decided_at, old.action)
    for wrong in (key, str(old)):
        browser.post(page_of(author), {"action": "show", "deed": wrong})
        assert "This can no longer be undone." in get_page(browser, page_of(author))
    assert count_shown(author) == (0, 0)


def test_nothing_is_kept_where_the_operator_keeps_nothing(
    browser: JSONClient, author: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    act(browser, author, "DELETE")
    assert not Post.objects.filter(member=author).exists()
    assert not Comment.objects.filter(member=author).exists()
    assert "20 deleted." in get_page(browser, page_of(author))
    assert list_keys(get_page(browser, page_of(author))) == []
    assert InboxItem.objects.filter(member=author).count() == 1
    assert find_counter_drift() == []


@pytest.mark.parametrize(
    "key",
    [
        *("", "x", "//", "1/2/3", "1/2026-01-01/HIDE", "1/9999-99-99T00:00:00Z/HIDE"),
        f"{2**70}/2026-01-01T00:00:00+00:00/HIDE",
        "1/2026-01-01T00:00:00+00:00/DISMISS",
        "1/2999-01-01T00:00:00+00:00/HIDE",
        "-1/0001-01-01T00:00:00+23:59/DELETE",
        "1/9999-12-31T23:59:59-23:59/DELETE",
    ],
)
def test_deed_that_is_none_changes_nothing(
    browser: JSONClient, author: Member, key: str
) -> None:
    act(browser, author, "HIDE")
    answer = browser.post(page_of(author), {"action": "show", "deed": key}, follow=True)
    assert answer.status_code == 200
    assert "This can no longer be undone." in answer.content.decode()
    assert count_shown(author) == (0, 0)


@pytest.mark.parametrize("reason", ["", "BORING", None])
def test_reason_is_demanded(
    browser: JSONClient, author: Member, reason: str | None
) -> None:
    found = read_found(get_page(browser, page_of(author)), "HIDE")
    form = {"action": "HIDE", "found": found}
    form |= {} if reason is None else {"reason": reason}
    answer: Any = browser.post(page_of(author), form)
    assert answer.status_code == 200
    assert 'aria-invalid="true"' in answer.content.decode()
    assert count_shown(author) == (10, 10)


@pytest.mark.parametrize("found", ["", "20-0", "x"])
def test_other_number_than_asked_changes_nothing(
    browser: JSONClient, author: Member, found: str
) -> None:
    answer = act(browser, author, "HIDE", found=found)
    assert answer.status_code == 200
    assert "it has 20 rows now. Nothing has been changed." in answer.content.decode()
    asked = read_found(get_page(browser, page_of(author)), "HIDE")
    make_post(author)
    again = act(browser, author, "HIDE", found=asked)
    assert "it has 21 rows now." in again.content.decode()
    assert count_shown(author) == (11, 10)


@pytest.mark.parametrize("action", ["", "DISMISS", "SILENCE", "hide"])
def test_action_that_is_none_changes_nothing(
    browser: JSONClient, author: Member, action: str
) -> None:
    form = {"action": action, "reason": "SPAM"}
    answer = browser.post(page_of(author), form, follow=True)
    assert "No action selected." in answer.content.decode()
    assert not ModerationCase.objects.exists()


def test_own_content_and_that_of_staff_is_closed(administrator: Member) -> None:
    moderator = make_member(role="MODERATOR")
    browser = logged_in_browser(moderator)
    for writer, refusal in (
        (moderator, "You cannot decide about yourself or what you wrote."),
        (administrator, "Only an administrator can decide about staff."),
    ):
        make_post(writer)
        page = get_page(browser, page_of(writer))
        assert refusal in page
        assert 'name="found"' not in page
        form = {"action": "HIDE", "reason": "SPAM", "found": "1-0"}
        assert browser.post(page_of(writer), form).status_code == 403
    assert not Post.objects.filter(is_hidden=True).exists()
    own = logged_in_browser(administrator)
    assert own.post(page_of(administrator), {"action": "HIDE"}).status_code == 403
    assert act(own, moderator, "HIDE").status_code == 302


@pytest.mark.parametrize("member_id", ["0", "987654321", str(10**9), "9" * 30])
def test_author_that_is_none_is_not_found(browser: JSONClient, member_id: str) -> None:
    path: Any = f"{POSTS}author/{member_id}/"
    assert browser.get(path).status_code == 404
    assert browser.post(path, {"action": "HIDE"}).status_code == 404


def test_moderator_reads_no_login_id_of_somebody_who_has_written_nothing(
    browser: JSONClient,
) -> None:
    moderator = logged_in_browser(make_member(role="MODERATOR"))
    member = make_member(login_id="silent")
    path: Any = page_of(member)
    assert "silent" in get_page(browser, path)
    assert moderator.get(path).status_code == 404
    assert moderator.post(path, {"action": "HIDE"}).status_code == 404
    writers = [make_post(make_member()).member, make_comment(make_member()).member]
    reported = make_case(make_member()).author
    for writer in (*writers, reported):
        assert writer is not None
        assert writer.login_id in get_page(moderator, page_of(writer))


def test_page_is_reached_from_what_the_author_wrote(
    browser: JSONClient, author: Member
) -> None:
    post = Post.objects.filter(member=author)[0]
    comment = Comment.objects.filter(member=author)[0]
    for path in (
        f"{MEMBERS}{author.pk}/change/",
        f"{POSTS}{post.pk}/change/",
        f"{COMMENTS}{comment.pk}/change/",
    ):
        assert f'href="{page_of(author)}"' in get_page(browser, path)
    moderator = logged_in_browser(make_member(role="MODERATOR"))
    page = get_page(moderator, page_of(author))
    assert "@example.com" not in page
    assert f'href="{POSTS}?q=@spammer"' in page


def test_author_of_more_than_one_deed_may_take_is_taken_in_parts(
    browser: JSONClient, author: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (deeds, admin_author):
        monkeypatch.setattr(module, "MAX_ROWS", 12)
    assert "There may be more" in get_page(browser, page_of(author))
    act(browser, author, "HIDE")
    assert count_shown(author) == (0, 8)
    act(browser, author, "HIDE")
    assert count_shown(author) == (0, 0)


@pytest.mark.parametrize("numbers", [(1, 50), (10, 50)])
def test_page_of_an_author_costs_the_same_for_few_rows_and_for_many(
    browser: JSONClient, numbers: tuple[int, int]
) -> None:
    counts = []
    for number in numbers:
        author = make_member()
        for _ in range(number):
            make_comment(author, post=make_post(author))
        get_page(browser, page_of(author))
        with CaptureQueriesContext(connection) as showing:
            get_page(browser, page_of(author))
        with CaptureQueriesContext(connection) as hiding:
            act(browser, author, "HIDE")
        # An author of one post and one comment gets two notices.
        counts.append((len(showing), len(hiding) - (number == 1)))
    assert counts[0] == counts[1]
