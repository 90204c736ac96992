"""Silence, suspension with an end, and what a moderator may not (spec 5.12, 7.1)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.members.suspensions import end_suspensions
from accounts.models import AuditLogEntry, InboxItem, Member
from board.models import ModerationCase, Post, PostVote, Report
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_comment, make_member, make_post
from tests.support.images import draw
from tests.support.problems import assert_invalid, assert_problem

B = "/api/board"
DAY = timedelta(days=1)
BODY = {"title": "Rice", "content": "<p>Words</p>", "category": "tips"}


def path_of(member: Any) -> str:
    return f"/api/moderation/members/{getattr(member, 'pk', member)}/silence"


def silence(client: JSONClient, member: Any, **fields: Any) -> Any:
    body = {"until": f"{timezone.now() + DAY:%Y-%m-%dT%H:%M:%SZ}", "reason": "Quarrel"}
    return client.send("PUT", path_of(member), body | fields)


def test_silenced_member_writes_nothing_and_is_told_why(
    moderator: JSONClient, author: Member
) -> None:
    own, other = make_post(author), make_post(make_member())
    own_comment, comment = make_comment(author), make_comment(make_member())
    assert silence(moderator, author).status_code == 200
    client = JSONClient(author)
    for method, path, body in (
        ("POST", f"{B}/posts", BODY),
        ("POST", f"{B}/posts", {}),
        ("PATCH", f"{B}/posts/{own.pk}", {"title": "x"}),
        ("PUT", f"{B}/posts/{own.pk}", BODY),
        ("POST", f"{B}/posts/{other.pk}/comments", {"content": "x"}),
        ("POST", f"{B}/posts/{2**62}/comments", {"content": "x"}),
        ("PUT", f"{B}/comments/{own_comment.pk}", {"content": "x"}),
        ("POST", f"{B}/posts/{other.pk}/vote", {"value": "up"}),
        ("POST", f"{B}/comments/{comment.pk}/vote", {"value": "up"}),
        ("POST", f"{B}/posts/{other.pk}/report", {"reason": "SPAM"}),
        ("POST", f"{B}/comments/{comment.pk}/report", {"reason": "SPAM"}),
        ("POST", f"/api/members/{other.member_id}/report", {"reason": "SPAM"}),
    ):
        answer = client.send(method, path, body)
        assert_problem(answer, 403, "BOARD_SUSPENDED", "until", "reason")
        assert answer.data["reason"] == "Quarrel", path
        assert datetime.fromisoformat(answer.data["until"]) > timezone.now()
    answer = client.post(f"{B}/images", {"image": SimpleUploadedFile("a.png", draw())})
    assert_problem(answer, 403, "BOARD_SUSPENDED", "until", "reason")
    assert Post.objects.filter(title="Rice").count() == 0
    assert not PostVote.objects.exists()
    assert not Report.objects.exists()
    item = InboxItem.objects.get(member=author)
    assert item.kind == "SILENCED"
    (told,) = client.get_json("/api/inbox")["results"]
    assert "Your ledger stays open to you. Reason: Quarrel. You can" in told["text"]


def test_silenced_member_reads_deletes_and_keeps_the_ledger(
    moderator: JSONClient, author: Member
) -> None:
    post, comment = make_post(author), make_comment(author)
    silence(moderator, author)
    client = JSONClient(author)
    assert client.send("GET", f"{B}/posts").status_code == 200
    assert client.send("GET", f"{B}/posts/{post.pk}").status_code == 200
    assert client.send("DELETE", f"{B}/posts/{post.pk}").status_code == 204
    assert client.send("DELETE", f"{B}/comments/{comment.pk}").status_code == 204
    profile = client.get_json("/api/auth/profile")
    assert profile["silenceReason"] == "Quarrel"
    assert client.send("POST", "/api/account/wallets", {"name": "W", "kind": "CASH"})


def test_silence_ends_by_itself_or_by_staff(
    moderator: JSONClient, author: Member
) -> None:
    client = JSONClient(author)
    silence(moderator, author)
    with time_machine.travel(timezone.now() + DAY + timedelta(seconds=1)):
        assert client.send("POST", f"{B}/posts", BODY).status_code == 201
        profile = client.get_json("/api/auth/profile")
        assert profile["silencedUntil"] is None
    for _ in range(2):
        assert moderator.send("DELETE", path_of(author)).status_code == 204
    answer = client.send("POST", f"{B}/posts", BODY | {"title": "Soup"})
    assert answer.status_code == 201
    texts = AuditLogEntry.objects.order_by("id").values_list("text", flat=True)
    assert list(texts) == ["Silenced.", "Silence ended."]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"until": None}, "until"),
        ({"until": 5}, "until"),
        ({"until": "soon"}, "until"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 501}, "reason"),
    ],
)
def test_wrong_silence_is_refused_with_its_field(
    moderator: JSONClient, author: Member, fields: Any, field: str
) -> None:
    assert_invalid(silence(moderator, author, **fields), field)
    author.refresh_from_db()
    assert author.silenced_until is None


def test_nobody_silences_oneself_and_moderators_no_staff(
    moderator: JSONClient, judge: Member, administrator: Member
) -> None:
    other = make_member(role="MODERATOR")
    for member in (judge, other, administrator):
        assert_problem(silence(moderator, member), 403, "FORBIDDEN")
    assert_problem(silence(moderator, 2**62), 404, "NOT_FOUND")
    assert_problem(silence(moderator, 2**70), 404, "NOT_FOUND")
    admin = JSONClient(administrator)
    assert_problem(silence(admin, administrator), 403, "FORBIDDEN")
    assert silence(admin, other).status_code == 200


def test_silence_leaves_reports_to_be_read(
    moderator: JSONClient, author: Member, client: JSONClient
) -> None:
    path = f"/api/members/{author.pk}/report"
    client.send("POST", path, {"reason": "SPAM"})
    silence(moderator, author)
    moderator.send("DELETE", path_of(author))
    assert Report.objects.get().outcome is None
    assert moderator.get_json("/api/moderation/cases")["count"] == 1
    # The end of a silence is no dismissal.
    Report.objects.all().delete()
    ModerationCase.objects.filter(kind="REPORT").delete()
    client.send("POST", path, {"reason": "SPAM"})
    assert moderator.get_json("/api/moderation/cases")["count"] == 1


def test_moderator_has_nothing_else_of_staff(judge: Member, author: Member) -> None:
    client = JSONClient(judge)
    for path in (
        "/api/admin/members",
        f"/api/admin/members/{author.pk}",
        "/api/admin/signup-enabled",
        "/api/admin/moderation-figures",
        "/api/users",
    ):
        assert_problem(client.send("GET", path), 403, "ADMIN_REQUIRED")
    for path in ("/api/account/tags", "/api/account/budgets", "/api/account/stocks"):
        assert_problem(client.send("GET", path), 403, "PREMIUM_REQUIRED")
    post = make_post(author)
    for path in (f"{B}/posts/{post.pk}/notice", f"{B}/posts/{post.pk}/unnotice"):
        assert_problem(client.send("POST", path), 403, "ADMIN_REQUIRED")
    assert_problem(client.send("DELETE", f"{B}/posts/{post.pk}"), 403, "FORBIDDEN")
    assert Post.objects.filter(is_hidden=False).count() == 1


def test_moderators_need_a_second_factor_where_staff_do(
    moderator: JSONClient, settings: Any
) -> None:
    settings.ADMIN_SECOND_FACTOR = True
    answer = moderator.send("GET", "/api/moderation/cases")
    assert_problem(answer, 403, "SECOND_FACTOR_SETUP_REQUIRED")


def test_moderators_cannot_be_blocked(client: JSONClient, judge: Member) -> None:
    answer = client.send("PUT", f"/api/members/{judge.pk}/block")
    assert_invalid(answer, "memberId")


def suspend(admin: JSONClient, member: Member, **fields: Any) -> Any:
    path = f"/api/admin/members/{member.pk}/status"
    return admin.send("PUT", path, {"status": "SUSPENDED"} | fields)


def log_in(member: Member) -> Any:
    body = {"loginId": member.login_id, "password": PASSWORD}
    return JSONClient().send("POST", "/api/auth/login", body)


def test_suspension_has_a_reason_and_ends_by_itself(
    admin: JSONClient, author: Member
) -> None:
    until = timezone.now() + DAY
    text = f"{until:%Y-%m-%dT%H:%M:%SZ}"
    answer = suspend(admin, author, until=text, reason="Spam")
    assert answer.data["suspensionReason"] == "Spam"
    refused = log_in(author)
    assert_problem(refused, 403, "MEMBER_SUSPENDED", "until", "reason")
    assert refused.data["reason"] == "Spam"
    assert refused.data["until"].startswith(text[:-1])
    assert end_suspensions(until - timedelta(minutes=1)) == 0
    assert end_suspensions(until) == 1
    assert log_in(author).status_code == 200
    author.refresh_from_db()
    assert (author.status, author.suspended_until) == ("ACTIVE", None)
    assert author.suspension_reason == ""


def test_suspension_without_an_end_stays(admin: JSONClient, author: Member) -> None:
    assert suspend(admin, author).data["suspendedUntil"] is None
    assert end_suspensions(timezone.now() + 999 * DAY) == 0
    refused = log_in(author)
    assert {"until", "reason"}.isdisjoint(refused.data)


def test_reactivation_ends_the_suspension(admin: JSONClient, author: Member) -> None:
    suspend(admin, author, until="2100-01-01T00:00:00Z", reason="Spam")
    answer = suspend(admin, author, status="ACTIVE")
    assert answer.data["suspendedUntil"] is None
    assert answer.data["suspensionReason"] is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"reason": "x" * 501}, "reason"),
        ({"status": "ACTIVE", "reason": "x"}, "status"),
        ({"status": "ACTIVE", "until": "2100-01-01T00:00:00Z"}, "status"),
    ],
)
def test_wrong_suspension_is_refused_with_its_field(
    admin: JSONClient, author: Member, fields: Any, field: str
) -> None:
    assert_invalid(suspend(admin, author, **fields), field)
    author.refresh_from_db()
    assert author.status == "ACTIVE"


def test_role_of_a_moderator_is_given_and_taken(
    admin: JSONClient, author: Member
) -> None:
    path = f"/api/admin/members/{author.pk}/role"
    for role, status in (("MODERATOR", 200), ("MEMBER", 403)):
        assert admin.send("PUT", path, {"role": role}).data["role"] == role
        client = JSONClient(Member.objects.get(pk=author.pk))
        assert client.send("GET", "/api/moderation/cases").status_code == status
