"""Reports: one case for a target, who may report, when reports hide (spec 5.10)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import InboxItem, Member
from accounts.security.rate_limits import RateLimitPolicy
from board.models import Comment, Decision, ModerationCase, Post, Report
from board.moderation import reports
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

B = "/api/board"
SPAM = {"reason": "SPAM"}


def address(target: Post | Comment | Member) -> str:
    match target:
        case Post():
            return f"{B}/posts/{target.pk}/report"
        case Comment():
            return f"{B}/comments/{target.pk}/report"
    return f"/api/members/{target.pk}/report"


def report(member: Member, target: Any, **fields: Any) -> Any:
    return JSONClient(member).send("POST", address(target), SPAM | fields)


def resolve(moderator: JSONClient, action: str, **fields: Any) -> Any:
    case = ModerationCase.objects.get(status="OPEN")
    body = {"action": action, "reason": "SPAM"} | fields
    path = f"/api/moderation/cases/{case.pk}/resolve"
    return moderator.send("POST", path, body)


def test_reports_of_one_target_are_one_case_with_a_copy(
    client: JSONClient, author: Member, other_member: Member
) -> None:
    post = make_post(author, title="Buy", content="<p>now</p>")
    answer = client.send("POST", address(post), {"reason": "ABUSE", "note": "Look"})
    assert (answer.status_code, answer.content) == (202, b"")
    post.title, post.content = "Sorry", "<p>gone</p>"
    post.save()
    assert report(other_member, post).status_code == 202
    case = ModerationCase.objects.get()
    assert (case.kind, case.status, case.reason) == ("REPORT", "OPEN", "ABUSE")
    assert (case.title, case.content) == ("Buy", "<p>now</p>")
    assert (case.report_count, case.author_id, case.post_id) == (
        2,
        author.pk,
        post.pk,
    )
    notes = Report.objects.order_by("id").values_list("reason", "note")
    assert list(notes) == [("ABUSE", "Look"), ("SPAM", "")]


def test_comments_and_members_are_reported(client: JSONClient, author: Member) -> None:
    comment = make_comment(author)
    for target in (comment, author):
        assert client.send("POST", address(target), SPAM).status_code == 202
    about_comment, about_member = ModerationCase.objects.order_by("id")
    assert about_comment.post_id == comment.post_id
    assert about_comment.content == comment.content
    assert (about_member.target_type, about_member.target_id) == ("MEMBER", author.pk)


def test_second_report_of_the_same_member_is_without_effect(
    client: JSONClient, author: Member
) -> None:
    post = make_post(author)
    for reason in ("SPAM", "ABUSE"):
        body = {"reason": reason}
        assert client.send("POST", address(post), body).status_code == 202
    assert Report.objects.get().reason == "SPAM"
    assert ModerationCase.objects.get().report_count == 1


def test_repeated_key_of_a_request_reports_once(
    client: JSONClient, author: Member
) -> None:
    post = make_post(author)
    key = {"HTTP_IDEMPOTENCY_KEY": '"one"'}
    first = client.send("POST", address(post), SPAM, **key)
    client.send("DELETE", address(post))
    second = client.send("POST", address(post), SPAM, **key)
    assert (first.status_code, second.status_code) == (202, 202)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert not Report.objects.exists()


def test_own_content_and_oneself_are_not_reported(
    client: JSONClient, free_member: Member
) -> None:
    for target in (make_post(free_member), make_comment(free_member), free_member):
        answer = client.send("POST", address(target), SPAM)
        assert_problem(answer, 400, "SELF_REPORT")
    assert not ModerationCase.objects.exists()


def test_what_cannot_be_seen_is_as_what_does_not_exist(
    client: JSONClient, author: Member
) -> None:
    hidden = make_post(author, is_hidden=True)
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    ModerationCase.objects.create(
        kind="HELD", target_type="POST", target_id=held.pk, author=author
    )
    below = make_comment(author, post=hidden)
    gone = Post(pk=2**62)
    beyond = Post(pk=2**70)
    for target in (hidden, held, below, gone, beyond, Member(pk=2**62)):
        assert_problem(client.send("POST", address(target), SPAM), 404, "NOT_FOUND")
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reason"),
        ({"reason": "BORING"}, "reason"),
        ({"reason": 1}, "reason"),
        (SPAM | {"note": "x" * 501}, "note"),
        (SPAM | {"note": 1}, "note"),
        (SPAM | {"why": "x"}, "why"),
    ],
)
def test_wrong_report_is_refused_with_its_field(
    client: JSONClient, author: Member, body: Any, field: str
) -> None:
    assert_invalid(client.send("POST", address(make_post(author)), body), field)
    assert not ModerationCase.objects.exists()


def test_what_its_author_deleted_can_still_be_reported_while_a_case_is_open(
    client: JSONClient, author: Member, other_member: Member
) -> None:
    post, comment = make_post(author, title="Buy"), make_comment(author)
    for target in (post, comment):
        report(other_member, target)
    writer = JSONClient(author)
    assert writer.send("DELETE", f"{B}/posts/{post.pk}").status_code == 204
    assert writer.send("DELETE", f"{B}/comments/{comment.pk}").status_code == 204
    for target in (post, comment):
        assert client.send("POST", address(target), SPAM).status_code == 202
    counts = ModerationCase.objects.values_list("report_count", "target_gone")
    assert set(counts) == {(2, "AUTHOR")}
    assert ModerationCase.objects.get(target_type="POST").title == "Buy"
    # Without a case there is nothing to look at.
    never = make_post(author)
    writer.send("DELETE", f"{B}/posts/{never.pk}")
    assert_problem(client.send("POST", address(never), SPAM), 404, "NOT_FOUND")


def test_reporter_takes_an_open_report_back(
    client: JSONClient, author: Member, other_member: Member
) -> None:
    post = make_post(author)
    report(other_member, post)
    client.send("POST", address(post), SPAM)
    for _ in range(2):
        assert client.send("DELETE", address(post)).status_code == 204
    assert ModerationCase.objects.get().report_count == 1
    JSONClient(other_member).send("DELETE", address(post))
    # Nothing is left to decide.
    assert not ModerationCase.objects.exists()
    assert client.send("DELETE", address(Post(pk=2**62))).status_code == 204


def test_decided_report_is_not_taken_back(
    client: JSONClient, moderator: JSONClient, author: Member
) -> None:
    post = make_post(author)
    client.send("POST", address(post), SPAM)
    resolve(moderator, "DISMISS")
    assert client.send("DELETE", address(post)).status_code == 204
    assert Report.objects.get().outcome == "DISMISSED"


def test_thirty_reports_a_day(
    client: JSONClient, author: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reports.REPORT_LIMIT.max_attempts == 30
    assert reports.REPORT_LIMIT.window == timedelta(days=1)
    limit = RateLimitPolicy("two", 2, timedelta(days=1))
    monkeypatch.setattr(reports, "REPORT_LIMIT", limit)
    first = make_post(author)
    for _ in range(3):
        # Refused and repeated ones do not count.
        assert client.send("POST", address(first), SPAM).status_code == 202
        assert_problem(
            client.send("POST", address(Post(pk=2**62)), SPAM), 404, "NOT_FOUND"
        )
    assert client.send("POST", address(make_post(author)), SPAM).status_code == 202
    answer = client.send("POST", address(make_post(author)), SPAM)
    assert_problem(answer, 429, "RATE_LIMITED")
    assert int(answer.headers["Retry-After"]) > 0


def hide_by(members: list[Member], target: Post | Comment) -> bool:
    for member in members:
        assert report(member, target).status_code == 202
    target.refresh_from_db()
    return target.is_hidden


def test_enough_reporters_hide_until_somebody_decides(
    author: Member, old_members: list[Member], moderator: JSONClient
) -> None:
    post, comment = make_post(author), make_comment(author)
    for target in (post, comment):
        assert not hide_by(old_members[:4], target)
        assert hide_by(old_members[4:5], target)
        assert target.hidden_reason == "REPORTS"
    assert set(ModerationCase.objects.values_list("status", flat=True)) == {"OPEN"}
    automatic = Decision.objects.filter(is_automatic=True, action="HIDE", actor=None)
    assert automatic.count() == 2
    told = InboxItem.objects.filter(member=author, kind="CONTENT_HIDDEN")
    assert told.count() == 2
    case = ModerationCase.objects.get(target_type="POST")
    answer = moderator.send(
        "POST", f"/api/moderation/cases/{case.pk}/resolve", {"action": "DISMISS"}
    )
    assert answer.status_code == 200
    post.refresh_from_db()
    assert (post.is_hidden, post.hidden_reason) == (False, None)
    assert find_counter_drift() == []


@pytest.mark.parametrize("threshold", [0, 7])
def test_fewer_reporters_or_none_hide_nothing(
    author: Member, old_members: list[Member], settings: Any, threshold: int
) -> None:
    settings.REPORTS_HIDE = threshold
    assert not hide_by(old_members, make_post(author))


def test_new_accounts_do_not_count(author: Member) -> None:
    joined = timezone.now() - timedelta(days=6, hours=23)
    young = [make_member(created_at=joined) for _ in range(5)]
    assert not hide_by(young, make_post(author))


def test_reporters_who_are_mostly_wrong_do_not_count(
    author: Member, old_members: list[Member]
) -> None:
    *right, wrong = old_members[:5]
    # 3 of 10 is 30 %, 4 of 10 is more.
    for number in range(10):
        case = ModerationCase.objects.create(
            kind="REPORT", status="RESOLVED", target_type="POST", target_id=number
        )
        outcome = "DISMISSED" if number < 4 else "UPHELD"
        Report.objects.create(case=case, member=wrong, reason="SPAM", outcome=outcome)
    post = make_post(author)
    assert not hide_by([*right, wrong], post)
    Report.objects.filter(member=wrong, outcome="DISMISSED").earliest("id").delete()
    assert hide_by(old_members[5:], post)


def test_what_staff_wrote_waits_for_staff(
    administrator: Member, old_members: list[Member]
) -> None:
    assert not hide_by(old_members, make_post(administrator))
    assert ModerationCase.objects.get().report_count == 6


def test_dismissed_target_needs_five_new_reporters(
    client: JSONClient,
    author: Member,
    moderator: JSONClient,
    old_members: list[Member],
    settings: Any,
) -> None:
    settings.REPORTS_HIDE = 0
    post = make_post(author)
    client.send("POST", address(post), SPAM)
    resolve(moderator, "DISMISS")
    assert client.send("POST", address(post), SPAM).status_code == 202
    for member in old_members[:4]:
        report(member, post)
    waiting = ModerationCase.objects.get(status="WAITING")
    # Who reported before the dismissal is not new.
    assert waiting.report_count == 4
    assert moderator.get_json("/api/moderation/cases")["count"] == 0
    path = f"/api/moderation/cases/{waiting.pk}"
    assert_problem(moderator.send("GET", path), 404, "NOT_FOUND")
    report(old_members[4], post)
    assert ModerationCase.objects.get(pk=waiting.pk).status == "OPEN"


def test_dismissed_target_that_is_edited_is_reported_anew(
    client: JSONClient, author: Member, moderator: JSONClient
) -> None:
    post = make_post(author)
    client.send("POST", address(post), SPAM)
    resolve(moderator, "DISMISS")
    writer = JSONClient(author)
    assert writer.send("PATCH", f"{B}/posts/{post.pk}", {"title": "x"}).status_code
    assert client.send("POST", address(post), SPAM).status_code == 202
    case = ModerationCase.objects.get(status="OPEN")
    assert (case.report_count, case.title) == (1, "x")
