"""What becomes of a report from outside (spec 5.11, 5.13)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import InboxItem, Mail, Member
from board.models import Decision, ModerationCase, OutsideReport, Post, TargetType
from board.moderation.bulk import judge_all, start_deed
from board.moderation.decisions import Judgement
from board.moderation.expiry import finish_moderation
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.mail import ReadMail, read_waiting_mails
from tests.support.outside_reports import FORM, report_from_outside


@pytest.fixture
def reported(author: Member) -> OutsideReport:
    return report_from_outside(str(make_post(author, title="Buy").pk))


def decide(client: JSONClient, report: OutsideReport, **body: Any) -> Any:
    path = f"/api/moderation/cases/{report.case_id}/resolve"
    return client.send("POST", path, {"reason": "DEFAMATION", **body})


def take_mail() -> ReadMail:
    """Return the only mail that waits and is about a decision."""
    (mail,) = [each for each in read_waiting_mails() if not each.codes]
    Mail.objects.all().delete()
    return mail


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"action": "DISMISS"}, "no reason to hide it"),
        ({"action": "HIDE"}, "It is hidden."),
        ({"action": "DELETE"}, "It is deleted."),
        ({"action": "SILENCE", "silenceDays": 3}, "cannot write on the board"),
    ],
)
def test_reporter_is_mailed_what_was_decided(
    reported: OutsideReport, moderator: JSONClient, body: dict[str, Any], text: str
) -> None:
    assert decide(moderator, reported, **body).status_code == 200
    mail = take_mail()
    assert mail.to == FORM["email"]
    assert text in mail.text
    assert f"posts/{reported.target_id}" in mail.text


@pytest.mark.parametrize("objects", [True, False])
def test_from_code_to_blind_objection_and_the_end_of_the_days(
    author: Member,
    reported: OutsideReport,
    moderator: JSONClient,
    settings: Any,
    objects: bool,
) -> None:
    settings.BLIND_DAYS = 30
    post = Post.objects.get()
    assert decide(moderator, reported, action="BLIND").status_code == 200
    post.refresh_from_db()
    assert post.hidden_reason == "BLIND"
    blind_until = ModerationCase.objects.get().blind_until
    assert blind_until is not None
    last_day = f"{timezone.localtime(blind_until):%Y-%m-%d}"
    assert last_day in take_mail().text
    # The author is told, too, and not by whom.
    phone = JSONClient(author)
    (item,) = phone.get_json("/api/inbox")["results"]
    assert last_day in item["text"]
    told = phone.get_json(f"/api/inbox/{item['id']}/case")
    assert (told["action"], told["reason"]) == ("BLIND", "DEFAMATION")
    assert FORM["name"] not in str(told) + str(item)
    if objects:
        path = f"/api/inbox/{item['id']}/appeal"
        assert phone.send("POST", path, {"text": "It is true."}).status_code == 204
    finish_moderation(blind_until - timedelta(minutes=1))
    post.refresh_from_db()
    assert post.hidden_reason == "BLIND"
    finish_moderation(blind_until)
    assert Post.objects.filter(is_hidden=False).exists() is objects
    assert Post.objects.exists() is objects
    mail = take_mail()
    assert ("author has objected" if objects else "It is deleted") in mail.text
    assert JSONClient(author).get_json("/api/inbox/count")["unread"] == 1


def test_author_who_deletes_meanwhile_is_told_of(
    author: Member, reported: OutsideReport, moderator: JSONClient
) -> None:
    JSONClient(author).send("DELETE", f"/api/board/posts/{reported.target_id}")
    assert decide(moderator, reported, action="DISMISS").status_code == 200
    assert "Its author has deleted it" in take_mail().text


def test_decision_names_the_contact_of_the_operator(
    reported: OutsideReport, moderator: JSONClient, settings: Any
) -> None:
    support = {"email": "help@example.org", "url": None}
    settings.ABOUT = settings.ABOUT | {"support": support}
    decide(moderator, reported, action="HIDE")
    assert "write to help@example.org" in take_mail().text


def test_dismissed_report_from_outside_counts_as_a_dismissal(
    reported: OutsideReport, moderator: JSONClient
) -> None:
    decide(moderator, reported, action="DISMISS")
    JSONClient(make_member()).send(
        "POST", f"/api/board/posts/{reported.target_id}/report", {"reason": "SPAM"}
    )
    assert ModerationCase.objects.latest("id").status == "WAITING"
    # Somebody else's rights are looked at whatever was decided before.
    again = report_from_outside(str(reported.target_id), email="lee@example.org")
    assert again.case is not None
    assert again.case.status == "OPEN"


def test_report_that_came_since_joins_the_appeal(
    author: Member, reported: OutsideReport, moderator: JSONClient
) -> None:
    decide(moderator, reported, action="SILENCE", silenceDays=1)
    later = report_from_outside(str(reported.target_id), email="lee@example.org")
    assert later.case_id != reported.case_id
    item = InboxItem.objects.filter(member=author).latest("id")
    path = f"/api/inbox/{item.pk}/appeal"
    answer = JSONClient(author).send("POST", path, {"text": "Why?"})
    assert answer.status_code == 204, answer.content
    assert set(OutsideReport.objects.values_list("case_id", flat=True)) == {
        reported.case_id
    }


def test_name_and_address_are_wiped_ninety_days_after_the_decision(
    reported: OutsideReport, moderator: JSONClient
) -> None:
    later = timezone.now() + timedelta(days=200)
    finish_moderation(later)
    reported.refresh_from_db()
    assert reported.email == FORM["email"], "nobody has decided"
    decide(moderator, reported, action="HIDE")
    decided_at = Decision.objects.get().decided_at
    finish_moderation(decided_at + timedelta(days=89))
    reported.refresh_from_db()
    assert reported.email == FORM["email"]
    finish_moderation(decided_at + timedelta(days=90))
    reported.refresh_from_db()
    assert (reported.name, reported.email) == ("", "")
    assert reported.text == FORM["text"]


def test_author_who_leaves_takes_no_report_of_others_along(
    author: Member, reported: OutsideReport, moderator: JSONClient
) -> None:
    JSONClient(author).send("DELETE", "/api/auth/me")
    reported.refresh_from_db()
    assert reported.case_id is not None
    assert decide(moderator, reported, action="DISMISS").status_code == 200
    assert "deleted it meanwhile" in take_mail().text


def test_notice_stays_one_when_an_edit_holds_the_post(
    author: Member, settings: Any
) -> None:
    settings.NEWCOMER_HOURS = 24
    post = make_post(author)
    report_from_outside(str(post.pk))
    phone = JSONClient(author)
    content = '<p><a href="https://spam.example">Buy</a></p>'
    path = f"/api/board/posts/{post.pk}"
    assert phone.send("PATCH", path, {"content": content}).status_code == 200
    case = ModerationCase.objects.get()
    assert (case.kind, case.status) == ("NOTICE", "OPEN")
    assert phone.send("DELETE", path).status_code == 204
    case.refresh_from_db()
    assert case.target_gone == "AUTHOR"


def appeal_of(author: Member) -> None:
    item = InboxItem.objects.filter(member=author).latest("id")
    path = f"/api/inbox/{item.pk}/appeal"
    answer = JSONClient(author).send("POST", path, {"text": "Why?"})
    assert answer.status_code == 204, answer.content


def test_mail_tells_the_state_and_not_the_decision(
    author: Member, reported: OutsideReport, moderator: JSONClient, settings: Any
) -> None:
    decide(moderator, reported, action="HIDE")
    assert "It is hidden." in take_mail().text
    appeal_of(author)
    other = JSONClient(make_member(role="MODERATOR"))
    decide(other, reported, action="SILENCE", silenceDays=1)
    assert "It is hidden." in take_mail().text


def test_mail_about_a_post_that_was_removed_says_so(
    author: Member, reported: OutsideReport, moderator: JSONClient, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    decide(moderator, reported, action="DELETE")
    assert "It is deleted." in take_mail().text
    appeal_of(author)
    decide(JSONClient(make_member(role="MODERATOR")), reported, action="DISMISS")
    assert "It is deleted." in take_mail().text


def test_reporter_is_told_when_it_is_shown_again_later(
    reported: OutsideReport, moderator: JSONClient
) -> None:
    decide(moderator, reported, action="HIDE")
    take_mail()
    path = f"/api/moderation/posts/{reported.target_id}/show"
    assert moderator.send("POST", path).status_code == 204
    assert "It is shown" in take_mail().text
    # What others decide about it afterwards is none of their business.
    path = f"/api/moderation/posts/{reported.target_id}/hide"
    moderator.send("POST", path, {"reason": "SPAM"})
    assert not read_waiting_mails()


def test_reporter_is_told_when_a_deed_shows_it_again(
    author: Member, reported: OutsideReport, moderator: JSONClient
) -> None:
    decide(moderator, reported, action="HIDE")
    take_mail()
    make_post(author, title="Other", is_hidden=True, hidden_reason="STAFF")
    targets = {TargetType.POST: list(Post.objects.values_list("pk", flat=True))}
    assert moderator.member is not None
    judgement = Judgement(Decision.Action.DISMISS)
    deed = start_deed(moderator.member, judgement, timezone.now(), targets)
    assert judge_all(deed, targets).changed == 2
    assert "It is shown" in take_mail().text


def test_notice_that_an_earlier_release_has_made_a_hold_keeps_its_reports(
    author: Member, reported: OutsideReport, moderator: JSONClient
) -> None:
    ModerationCase.objects.update(kind="HELD")
    found = moderator.get_json(f"/api/moderation/cases/{reported.case_id}")
    assert len(found["outsideReports"]) == 1
    phone = JSONClient(author)
    path = f"/api/board/posts/{reported.target_id}"
    assert phone.send("DELETE", path).status_code == 204
    ModerationCase.objects.update(kind="REPORT", status="OPEN", report_count=0)
    assert phone.send("DELETE", "/api/auth/me").status_code == 204
    assert OutsideReport.objects.exists()
