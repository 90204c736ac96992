"""Verified addresses (spec 2.11)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.codes.codes import MAX_TRIES, normalize_code
from accounts.models import Code, CodeRequest, Mail, Member, RateLimit
from tests.support.accounts import PROFILE, change_profile
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import RESET, VERIFY, ask_verification, read_waiting_mails
from tests.support.problems import assert_problem

CONFIRM = f"{VERIFY}/confirm"
NEW = "new@example.com"
pytestmark = pytest.mark.usefixtures("mail_folder")


def test_code_of_a_mail_verifies_the_address(
    client: JSONClient, free_member: Member
) -> None:
    assert client.get_json(PROFILE)["emailVerified"] is False
    mail, body = ask_verification(client)
    assert mail.to == free_member.email
    assert body["requestId"] == mail.request_id
    response = client.send("POST", CONFIRM, body)
    assert response.status_code == 200
    assert response.data["emailVerified"] is True
    assert response.data | {"secondFactor": False} == client.get_json(PROFILE)


def test_answer_tells_when_the_code_ends_and_when_to_ask_again(
    client: JSONClient,
) -> None:
    with time_machine.travel("2026-11-23T12:00:00+09:00", tick=False):
        data = client.send("POST", VERIFY, {}).data
    assert data["expiresAt"] == "2026-11-23T03:10:00+00:00"
    assert data["resendAfter"] == "2026-11-23T03:01:00+00:00"


def test_mail_names_the_login_id_and_never_the_display_name(
    client: JSONClient, free_member: Member
) -> None:
    mail, _ = ask_verification(client)
    assert free_member.login_id in mail.text
    assert free_member.display_name not in mail.text + mail.subject + mail.html


def test_link_begins_with_the_public_address_and_not_the_host_header(
    free_member: Member, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    settings.ALLOWED_HOSTS = ["*"]
    client = JSONClient(free_member)
    client.send("POST", VERIFY, {}, HTTP_HOST="evil.example")
    (mail,) = read_waiting_mails()
    assert mail.links[0].startswith("https://ledger.example/account/confirm?request=")
    assert "evil" not in mail.text + mail.html


@pytest.mark.parametrize("has_session", [False, True])
def test_code_is_confirmed_without_the_session_and_answered_with_nothing(
    client: JSONClient, free_member: Member, other_member: Member, has_session: bool
) -> None:
    _, body = ask_verification(client)
    sender = JSONClient(other_member if has_session else None)
    response = sender.send("POST", CONFIRM, body)
    assert (response.status_code, response.content) == (204, b"")
    free_member.refresh_from_db()
    assert free_member.is_email_verified


@pytest.mark.parametrize(
    "write", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code} "]
)
def test_code_is_read_in_any_case_and_without_hyphens(
    client: JSONClient, write: Callable[[str], str]
) -> None:
    _, body = ask_verification(client)
    body["code"] = write(body["code"])
    assert client.send("POST", CONFIRM, body).status_code == 200


def test_code_has_eight_letters_without_vowels_and_is_stored_as_a_hash(
    client: JSONClient,
) -> None:
    _, body = ask_verification(client)
    code = normalize_code(body["code"])
    assert len(code) == 8
    assert set(code) <= set("BCDFGHJKLMNPQRSTVWXZ")
    assert code.encode() not in bytes(Code.objects.get().code_hash)


def test_wrong_spent_expired_and_unknown_codes_are_one_error(
    client: JSONClient,
) -> None:
    _, body = ask_verification(client)
    wrong = body | {"code": "XXXX-XXXX"}
    unknown = body | {"requestId": "12345678-1234-4234-8234-123456789abc"}
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        expired = client.send("POST", CONFIRM, body)
    assert client.send("POST", CONFIRM, body).status_code == 200
    answers = [client.send("POST", CONFIRM, each) for each in (wrong, unknown, body)]
    for response in (expired, *answers):
        assert_problem(response, 400, "CODE_INVALID")
        assert response.content == expired.content


def test_code_of_another_purpose_is_unknown(client: JSONClient) -> None:
    _, body = ask_verification(client)
    response = client.send("POST", f"{RESET}/confirm", body | {"newPassword": PASSWORD})
    assert_problem(response, 400, "CODE_INVALID")


def test_five_wrong_tries_end_a_request(client: JSONClient) -> None:
    _, body = ask_verification(client)
    for _ in range(MAX_TRIES):
        wrong = client.send("POST", CONFIRM, body | {"code": "XXXX-XXXX"})
        assert_problem(wrong, 400, "CODE_INVALID")
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_new_request_ends_the_older_one(client: JSONClient) -> None:
    _, first = ask_verification(client)
    # The minute between two codes, which the database counts, is over.
    RateLimit.objects.all().delete()
    _, second = ask_verification(client)
    assert_problem(client.send("POST", CONFIRM, first), 400, "CODE_INVALID")
    assert client.send("POST", CONFIRM, second).status_code == 200


def test_another_code_is_sent_after_a_minute(client: JSONClient) -> None:
    ask_verification(client)
    response = client.send("POST", VERIFY, {})
    assert_problem(response, 429, "RATE_LIMITED")
    assert 0 < int(response.headers["Retry-After"]) <= 60


def test_one_client_asks_for_twenty_mails_an_hour() -> None:
    members = [make_member(email=f"a{number}@example.com") for number in range(21)]
    statuses = [
        JSONClient(each).send("POST", VERIFY, {}).status_code for each in members
    ]
    assert statuses == [202] * 20 + [429]


@pytest.mark.parametrize(
    ("fields", "server", "status", "code"),
    [
        ({"verified_email": "a@ex.org"}, "here", 409, "ALREADY_VERIFIED"),
        ({}, None, 503, "MAIL_NOT_CONFIGURED"),
        # An identity provider may have told it.
        ({"email": "a@ex.org\nBcc: b@c.de"}, "here", 400, "VALIDATION_ERROR"),
    ],
)
def test_code_is_refused(
    settings: Any, fields: dict[str, str], server: Any, status: int, code: str
) -> None:
    settings.MAIL_SERVER = server
    member = make_member(**{"email": "a@ex.org"} | fields)
    assert_problem(JSONClient(member).send("POST", VERIFY, {}), status, code)
    assert Mail.objects.count() == 0


def test_newline_in_an_address_is_refused(client: JSONClient) -> None:
    response = change_profile(client, email="a@example.com\nBcc: b@example.com")
    assert_problem(response, 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("header", "locale"), [("ko-KR,ko;q=0.9", "ko"), ("fr", "en"), ("", "en")]
)
def test_language_of_the_sign_up_is_kept(
    anonymous: JSONClient, header: str, locale: str
) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "Minji"}
    extra = {"HTTP_ACCEPT_LANGUAGE": header} if header else {}
    response = anonymous.send(
        "POST", "/api/auth/signup", body | {"email": NEW}, **extra
    )
    assert response.data["member"]["locale"] == locale


@pytest.mark.django_db(transaction=True)
def test_member_changes_the_language_of_mails_and_texts(client: JSONClient) -> None:
    assert change_profile(client, locale="ko").data["locale"] == "ko"
    mail, _ = ask_verification(client)
    assert "확인 코드" in mail.subject
    # Where a client names no language, texts are in that of the member.
    refused = client.send("POST", VERIFY, {})
    assert refused.headers["Content-Language"] == "ko"
    assert "요" in refused.data["detail"]
    named = client.send("POST", VERIFY, {}, HTTP_ACCEPT_LANGUAGE="en")
    assert named.headers["Content-Language"] == "en"
    assert JSONClient().get(PROFILE).headers["Content-Language"] == "en"
    assert change_profile(client, locale="fr").status_code == 400


def test_board_may_ask_for_a_verified_address(
    client: JSONClient, free_member: Member, settings: Any
) -> None:
    post = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}
    post_id = client.send("POST", "/api/board/posts", post).data["id"]
    comments = f"/api/board/posts/{post_id}/comments"
    settings.BOARD_NEEDS_VERIFIED_EMAIL = True
    for path, body in (("/api/board/posts", post), (comments, {"content": "Words"})):
        assert_problem(client.send("POST", path, body), 403, "EMAIL_NOT_VERIFIED")
        assert_problem(client.send("POST", path, {}), 403, "EMAIL_NOT_VERIFIED")
    Member.objects.filter(pk=free_member.pk).update(verified_email=free_member.email)
    other = post | {"title": "Another title"}
    for path, body in (("/api/board/posts", other), (comments, {"content": "Words"})):
        assert client.send("POST", path, body).status_code == 201


def test_codes_and_mails_go_with_the_account(client: JSONClient) -> None:
    ask_verification(client)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    for model in (Mail, Code, CodeRequest):
        assert model.objects.count() == 0
