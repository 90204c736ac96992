"""One notice for many decisions: what it says, and what an objection to it reopens."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import InboxItem, Member
from board.models import Decision, ModerationCase, Post, TargetType
from board.moderation.bulk import judge_all, start_deed
from board.moderation.decisions import Judgement, judge_content, resolve_case
from board.moderation.notes import TELLS_OF_ALL
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_problem

OBJECTION = "You can object once"
TEXT = {"text": "It was a joke."}


@pytest.fixture
def posts(author: Member) -> list[Post]:
    return [make_post(author, title=f"Title {number}") for number in range(7)]


@pytest.fixture
def second() -> Member:
    return make_member(role="ADMIN")


def run_deed(judge: Member, posts: list[Post], action: str = "HIDE") -> None:
    targets = {TargetType.POST: [post.pk for post in posts]}
    judgement = Judgement(action, "SPAM")
    judge_all(start_deed(judge, judgement, timezone.now(), targets), targets)


def decide(staff: Member, post: Post, action: str) -> None:
    judgement = Judgement(action, "" if action == "DISMISS" else "ABUSE")
    judge_content(staff, TargetType.POST, post.pk, judgement, timezone.now())


class Notice:
    """An item of the inbox, as its reader sees it."""

    def __init__(self, author: Member) -> None:
        self.client = JSONClient(author)
        self.items = InboxItem.objects.filter(member=author)
        self.case_id = self.items.earliest("id").target_id

    @property
    def item(self) -> int:
        # What happens again before it is read takes a new id.
        return self.items.filter(target_id=self.case_id).latest("id").pk

    @property
    def text(self) -> str:
        items = self.client.get_json("/api/inbox")["results"]
        (text,) = [each["text"] for each in items if each["id"] == self.item]
        return str(text)

    @property
    def case(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.client.get_json(f"/api/inbox/{self.item}/case")
        return shown

    def appeal(self) -> Any:
        return self.client.send("POST", f"/api/inbox/{self.item}/appeal", TEXT)

    def assert_open(self, title: str) -> None:
        assert OBJECTION in self.text
        shown = self.case
        assert (shown["title"], shown["appealUntil"] is not None) == (title, True)
        assert self.appeal().status_code == 204

    def assert_closed(self) -> None:
        assert OBJECTION not in self.text
        assert self.case["appealUntil"] is None
        assert_problem(self.appeal(), 409, "ALREADY_RESOLVED")


@pytest.mark.parametrize("action", ["HIDE", "DELETE"])
def test_objection_goes_to_what_still_stands_of_the_deed(
    judge: Member, second: Member, author: Member, posts: list[Post], action: str
) -> None:
    run_deed(judge, posts, action)
    notice = Notice(author)
    for post in posts[:2]:
        decide(second, post, "DISMISS")
    notice.assert_open("Title 2")
    case = ModerationCase.objects.get(status="OPEN")
    assert case.target_id == posts[2].pk
    # Staff read there that it is about more.
    appealed = Decision.objects.get(case=case)
    assert (appealed.appeal, appealed.note) == (TEXT["text"], TELLS_OF_ALL)
    assert notice.case["appeal"] == TEXT["text"]
    notice.assert_closed()


def test_refused_objection_is_the_only_one(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    run_deed(judge, posts)
    notice = Notice(author)
    notice.assert_open("Title 0")
    notice.assert_closed()
    case = ModerationCase.objects.get(status="OPEN")
    resolve_case(second, case.pk, Judgement("HIDE", "SPAM"), timezone.now())
    notice.assert_closed()


def test_after_a_granted_objection_the_rest_can_be_objected_to(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    run_deed(judge, posts)
    notice = Notice(author)
    notice.assert_open("Title 0")
    case = ModerationCase.objects.get(status="OPEN")
    resolve_case(second, case.pk, Judgement("DISMISS"), timezone.now())
    assert notice.text.startswith(
        "What you wrote can be seen by all again: Title 0. "
        "What was hidden or deleted at the same time stays so. You can object once"
    )
    notice.assert_open("Title 1")
    notice.assert_closed()


def test_nothing_is_left_to_object_to(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    run_deed(judge, posts)
    notice = Notice(author)
    for post in posts:
        decide(second, post, "DISMISS")
    notice.assert_closed()


def test_deed_is_objected_to_for_thirty_days(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    run_deed(judge, posts)
    decide(second, posts[0], "DISMISS")
    now = timezone.now()
    with time_machine.travel(now + timedelta(days=30, minutes=1)):
        Notice(author).assert_closed()
    with time_machine.travel(now + timedelta(days=30, minutes=-1)):
        Notice(author).assert_open("Title 1")


def test_deed_of_others_at_the_same_moment_is_not_the_authors(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    others = [make_post(make_member()) for _ in range(3)]
    run_deed(judge, [*others, *posts])
    notice = Notice(author)
    assert "Title 0 and 6 more posts" in notice.text
    for post in posts:
        decide(second, post, "DISMISS")
    notice.assert_closed()


def test_number_that_is_told_is_the_number_that_was_decided(
    judge: Member, second: Member, author: Member, posts: list[Post]
) -> None:
    targets = {TargetType.POST: [post.pk for post in posts[:6]]}
    deed = start_deed(judge, Judgement("HIDE", "SPAM"), timezone.now(), targets)
    # Somebody else is faster with most of them.
    for post in posts[:4]:
        decide(second, post, "HIDE")
    InboxItem.objects.all().delete()
    assert judge_all(deed, targets).changed == 2
    assert "Title 4 and 1 more post or comment of yours." in Notice(author).text


@pytest.mark.parametrize("later", ["HIDE", "DISMISS"])
def test_text_says_nothing_of_an_objection_that_would_be_refused(
    judge: Member, second: Member, author: Member, posts: list[Post], later: str
) -> None:
    decide(judge, posts[0], "DELETE")
    notice = Notice(author)
    assert OBJECTION in notice.text
    decide(second, posts[0], "DISMISS")
    if later == "HIDE":
        decide(second, posts[0], "HIDE")
    notice.assert_closed()


def test_what_the_author_has_deleted_is_not_told_as_deleted(
    judge: Member, author: Member, posts: list[Post]
) -> None:
    post = posts[0]
    case = ModerationCase.objects.create(
        target_type="POST", target_id=post.pk, post_id=post.pk, author=author
    )
    path = f"/api/board/posts/{post.pk}"
    assert JSONClient(author).send("DELETE", path).status_code == 204
    resolve_case(judge, case.pk, Judgement("DELETE", "SPAM"), timezone.now())
    notice = Notice(author)
    assert notice.text == (
        "What you wrote was against our rules: a post. It is no longer there. "
        "Reason: spam."
    )
    notice.assert_closed()


def test_silence_is_objected_to_though_the_author_has_deleted_the_post(
    judge: Member, author: Member
) -> None:
    comment = make_comment(author)
    case = ModerationCase.objects.create(
        target_type="COMMENT", target_id=comment.pk, author=author
    )
    path = f"/api/board/comments/{comment.pk}"
    assert JSONClient(author).send("DELETE", path).status_code == 204
    judgement = Judgement("DELETE", "SPAM", silence_days=3)
    resolve_case(judge, case.pk, judgement, timezone.now())
    notice = Notice(author)
    assert OBJECTION in notice.text
    assert notice.appeal().status_code == 204
