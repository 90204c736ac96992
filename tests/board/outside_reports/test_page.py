"""The page `/legal/report` (spec 5.13)."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Mail, Member
from board.models import ModerationCase, OutsideReport
from board.moderation.expiry import finish_moderation
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.mail import ask_reset, process_resets, read_waiting_mails
from tests.support.outside_reports import (
    FORM,
    PAGE,
    confirm,
    read_code_mail,
    report_from_outside,
    send_form,
)


def test_report_counts_after_its_code(author: Member, moderator: JSONClient) -> None:
    post = make_post(author, title="Buy")
    mail = read_code_mail(f"https://example.org/posts/{post.pk}")
    assert mail.to == FORM["email"]
    assert not ModerationCase.objects.exists()
    assert confirm(mail).status_code == 200
    (case,) = moderator.get_json("/api/moderation/cases")["results"]
    assert (case["kind"], case["reason"]) == ("NOTICE", "DEFAMATION")
    assert (case["title"], case["targetId"]) == ("Buy", post.pk)
    # The button of the mail is pressed, too.
    again = confirm(mail)
    assert "We have your report" in again.content.decode()
    assert confirm(mail, code="BBBB-BBBB").status_code == 400
    assert OutsideReport.objects.count() == 1


def test_comment_is_reported_by_its_address(author: Member) -> None:
    comment = make_comment(author)
    report_from_outside(f"https://example.org/posts/1/comments/{comment.pk}")
    case = ModerationCase.objects.get()
    assert (case.target_type, case.target_id) == ("COMMENT", comment.pk)


def test_who_reports_is_shown_to_staff_only(
    author: Member, moderator: JSONClient, administrator: Member
) -> None:
    post = make_post(author)
    report = report_from_outside(str(post.pk))
    path = f"/api/moderation/cases/{report.case_id}"
    (seen,) = moderator.get_json(path)["outsideReports"]
    assert (seen["name"], seen["text"]) == (FORM["name"], FORM["text"])
    assert seen["email"] is None
    (seen,) = JSONClient(administrator).get_json(path)["outsideReports"]
    assert seen["email"] == FORM["email"]


def test_moderator_learns_nothing_of_reports_about_their_own(
    moderator: JSONClient,
) -> None:
    assert moderator.member is not None
    report = report_from_outside(str(make_post(moderator.member).pk))
    found = moderator.get_json(f"/api/moderation/cases/{report.case_id}")
    assert found["outsideReports"] == []


def test_report_joins_the_open_case_and_makes_it_a_notice(author: Member) -> None:
    post = make_post(author)
    waiting = make_case(post, status="WAITING", reason="SPAM")
    report = report_from_outside(str(post.pk))
    waiting.refresh_from_db()
    assert report.case_id == waiting.pk
    assert (waiting.kind, waiting.status) == ("NOTICE", "OPEN")
    assert (waiting.reason, waiting.report_count) == ("SPAM", 1)


def test_second_report_of_an_address_in_a_case_has_no_effect(author: Member) -> None:
    post = make_post(author)
    report_from_outside(str(post.pk))
    second = read_code_mail(str(post.pk), email=FORM["email"].upper(), text="More.")
    assert confirm(second).status_code == 200
    assert OutsideReport.objects.get().text == FORM["text"]
    report_from_outside(str(post.pk), email="lee@example.org")
    assert ModerationCase.objects.count() == 1


def test_link_of_the_mail_shows_a_button_and_spends_nothing(author: Member) -> None:
    mail = read_code_mail(str(make_post(author).pk))
    path = mail.links[0].removeprefix("http://127.0.0.1:8000")
    for _ in range(2):
        page = JSONClient().get(path)
        assert page.status_code == 200
        assert mail.codes[0] in page.content.decode()
        assert JSONClient().head(path).status_code == 200
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert "<script" not in page.content.decode()
    assert confirm(mail).status_code == 200


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"website": "https://spam.example"}, "website"),
        ({"target": ""}, "target"),
        ({"target": "https://example.org/members/1"}, "target"),
        ({"target": "999999999"}, "target"),
        ({"target": "x" * 501}, "target"),
        ({"reason": "DULL"}, "reason"),
        ({"reason": ""}, "reason"),
        ({"text": " "}, "text"),
        ({"text": "x" * 1_001}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"email": "kim"}, "email"),
        ({"email": "김@example.org"}, "email"),
        ({"email": "kim@localhost"}, "email"),
        ({"email": "kim@[127.0.0.1]"}, "email"),
        ({"email": "kim@example.org\nbcc:x@example.org"}, "email"),
    ],
)
def test_bad_field_is_named_and_nothing_is_written(
    author: Member, values: dict[str, str], field: str
) -> None:
    post = make_post(author)
    page = send_form(**{"target": str(post.pk)} | values)
    text = page.content.decode()
    assert page.status_code == 400
    assert f'id="{field}-error"' in text or field == "website"
    assert 'role="alert"' in text
    assert not OutsideReport.objects.exists()
    assert not Mail.objects.exists()


def test_what_nobody_sees_cannot_be_reported(author: Member) -> None:
    hidden = make_post(author, is_hidden=True, hidden_reason="STAFF")
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    make_case(held, kind="HELD")
    below = make_comment(author, post=hidden)
    for target in (str(hidden.pk), str(held.pk), f"comments/{below.pk}"):
        assert send_form(target=target).status_code == 400
    assert not OutsideReport.objects.exists()


def test_post_that_others_reported_can_be_reported_after_its_deletion(
    author: Member,
) -> None:
    post = make_post(author, title="Buy")
    make_case(post)
    JSONClient(author).send("DELETE", f"/api/board/posts/{post.pk}")
    assert report_from_outside(str(post.pk)).case_id is not None


def test_post_that_is_deleted_before_the_code_leaves_nothing(author: Member) -> None:
    post = make_post(author)
    mail = read_code_mail(str(post.pk))
    JSONClient(author).send("DELETE", f"/api/board/posts/{post.pk}")
    page = confirm(mail)
    assert "deleted meanwhile" in page.content.decode()
    assert not OutsideReport.objects.exists()
    assert not ModerationCase.objects.exists()


def test_five_wrong_codes_end_a_report(author: Member) -> None:
    mail = read_code_mail(str(make_post(author).pk))
    for _ in range(5):
        assert confirm(mail, code="BBBB-BBBB").status_code == 400
    assert confirm(mail).status_code == 400
    assert not ModerationCase.objects.exists()


@pytest.mark.parametrize("request_id", ["", "x", str(uuid.UUID(int=0)), "\0"])
def test_unknown_request_is_like_a_wrong_code(request_id: str) -> None:
    page = JSONClient().post(PAGE, {"request": request_id, "code": "BBBB-BBBB"})
    assert page.status_code == 400
    assert 'id="code-error"' in page.content.decode()


def test_code_ends_after_ten_minutes_and_its_report_after_a_day(
    author: Member,
) -> None:
    mail = read_code_mail(str(make_post(author).pk))
    minutes = timedelta(minutes=11)
    OutsideReport.objects.update(expires_at=timezone.now() - minutes)
    assert confirm(mail).status_code == 400
    finish_moderation(timezone.now())
    assert OutsideReport.objects.exists()
    finish_moderation(timezone.now() + timedelta(days=1))
    assert not OutsideReport.objects.exists()


def test_an_address_reports_five_times_a_day(author: Member, settings: Any) -> None:
    post = make_post(author)
    for number in range(5):
        email = FORM["email"] if number % 2 else FORM["email"].upper()
        assert send_form(target=str(post.pk), email=email).status_code == 200
    refused = send_form(target=str(post.pk))
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert FORM["text"] in refused.content.decode()
    assert len(read_waiting_mails()) == 5


def test_without_mail_the_page_says_so(author: Member, settings: Any) -> None:
    settings.MAIL_SERVER = None
    page = JSONClient().get(PAGE)
    assert page.status_code == 200
    assert "<form" not in page.content.decode()
    assert send_form(target=str(make_post(author).pk)).status_code == 503


def test_page_speaks_the_language_of_the_browser(author: Member) -> None:
    page = JSONClient().get(PAGE, HTTP_ACCEPT_LANGUAGE="ko-KR")
    assert "글이나 댓글 신고" in page.content.decode()
    assert 'lang="ko"' in page.content.decode()
    values = {**FORM, "target": str(make_post(author).pk)}
    JSONClient().post(PAGE, values, HTTP_ACCEPT_LANGUAGE="ko")
    assert "10분" in read_waiting_mails()[0].text


def test_form_keeps_what_was_typed_and_shows_no_markup(author: Member) -> None:
    page = send_form(target="0", text="<b>bold</b>")
    text = page.content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>" not in text
    assert 'value="DEFAMATION" selected' in text


def test_address_of_the_form_may_name_the_target() -> None:
    page = JSONClient().get(f"{PAGE}?target=posts/12")
    assert 'value="posts/12"' in page.content.decode()


def test_answer_does_not_tell_whether_the_email_has_an_account(author: Member) -> None:
    post = make_post(author)
    make_member(email=FORM["email"])
    for _ in range(3):
        ask_reset(email=FORM["email"])
    process_resets()
    for _ in range(5):
        assert send_form(target=str(post.pk)).status_code == 200


def test_strangers_use_up_no_mails_of_a_forgotten_password(author: Member) -> None:
    post = make_post(author)
    member = make_member(email=FORM["email"])
    for _ in range(5):
        send_form(target=str(post.pk))
    ask_reset(loginId=member.login_id)
    assert "/account/reset" in process_resets()[-1].text


def test_forms_of_one_address_are_limited(author: Member) -> None:
    statuses = [send_form(target="999999").status_code for _ in range(61)]
    assert statuses == [400] * 60 + [429]


def test_what_staff_alone_have_hidden_stays_unknown_when_its_author_objects(
    author: Member, moderator: JSONClient
) -> None:
    post = make_post(author)
    path = f"/api/moderation/posts/{post.pk}/hide"
    assert moderator.send("POST", path, {"reason": "SPAM"}).status_code == 204
    phone = JSONClient(author)
    (item,) = phone.get_json("/api/inbox")["results"]
    phone.send("POST", f"/api/inbox/{item['id']}/appeal", {"text": "Why?"})
    assert ModerationCase.objects.get().status == "OPEN"
    assert send_form(target=str(post.pk)).status_code == 400


def test_post_that_staff_hide_before_the_code_is_looked_at(
    author: Member, moderator: JSONClient
) -> None:
    post = make_post(author)
    mail = read_code_mail(str(post.pk))
    path = f"/api/moderation/posts/{post.pk}/hide"
    assert moderator.send("POST", path, {"reason": "SPAM"}).status_code == 204
    assert "We have your report" in confirm(mail).content.decode()
    assert ModerationCase.objects.latest("id").kind == "NOTICE"


def test_another_report_about_the_same_ends_the_older_code(author: Member) -> None:
    post, other = make_post(author), make_post(author, title="Other")
    first, elsewhere = read_code_mail(str(post.pk)), read_code_mail(str(other.pk))
    second = read_code_mail(str(post.pk), email=FORM["email"].upper())
    assert confirm(first).status_code == 400
    assert confirm(second).status_code == 200
    assert confirm(elsewhere).status_code == 200


def test_reason_that_is_missing_is_asked_for(author: Member) -> None:
    page = send_form(target=str(make_post(author).pk), reason="")
    assert page.content.decode().count("Choose a reason.") == 2
