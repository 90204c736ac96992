"""Mails with codes that delete an account without a password (spec 2.9)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.codes.waiting_requests import process_requests
from accounts.models import Code, CodeRequest, LinkedIdentity, Mail, Member
from tests.support.clients import JSONClient
from tests.support.deletion_page import (
    PAGE,
    begin,
    is_deleted,
    link_form,
    mail_deletion,
    make_without_password,
    post_page,
    read_errors,
    read_hidden,
)
from tests.support.factories import make_member
from tests.support.mail import (
    NEW_PASSWORD,
    ask_reset,
    confirm_reset,
    process_resets,
    read_waiting_mails,
)

pytestmark = pytest.mark.usefixtures("mail_folder")

EMAIL = "own@example.com"


def link_identity(member: Member, email: str) -> None:
    LinkedIdentity.objects.create(
        member=member, provider="google", subject=f"s{member.pk}", email=email
    )


@pytest.mark.parametrize(("language", "word"), [("en", "delete"), ("ko", "삭제")])
def test_link_of_the_mail_deletes_the_account(
    settings: Any, language: str, word: str
) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    member = make_without_password(locale=language)
    (mail,) = mail_deletion(EMAIL.upper())
    assert mail.to == EMAIL
    assert member.login_id in mail.text
    path = mail.links[0].removeprefix(settings.PUBLIC_URL)
    assert path.startswith(f"{PAGE}?request={mail.request_id}&code=")
    page = JSONClient().get(path)
    done = post_page(**read_hidden(page), word=word)
    assert done.status_code == 200
    assert is_deleted(member)
    assert Mail.objects.count() == 0
    assert post_page(**link_form(mail), word=word).status_code == 400


def test_code_of_the_mail_can_be_typed_on_the_page_that_sent_it() -> None:
    member = make_without_password()
    sent = post_page(step="mail", email=EMAIL)
    (mail,) = process_resets()
    form = read_hidden(sent)
    assert 'name="code"' in sent.content.decode()
    wrong = post_page(**form, code="XXXX-XXXX", word="delete")
    assert wrong.status_code == 400
    assert read_errors(wrong) == ["The code is wrong or no longer valid."]
    # The form can be sent again.
    assert read_hidden(wrong) == form
    typed = mail.codes[0].lower().replace("-", " ")
    assert post_page(**form, code=typed, word="delete").status_code == 200
    assert is_deleted(member)


# What the mail says about an account with the address: a code, or how it logs in.
ACCOUNTS: list[tuple[dict[str, Any], str]] = [
    ({"password": None, "idp_id": "1", "verified_email": EMAIL}, "code"),
    (
        {
            "password": None,
            "provider": "IDP",
            "idp_id": "1",
            "verified_email": EMAIL,
        },
        "code",
    ),
    ({"verified_email": EMAIL}, "password"),
    ({}, "password"),
    ({"password": None, "provider": "IDP", "idp_id": "1"}, "Google"),
    ({"verified_email": EMAIL, "status": "SUSPENDED"}, ""),
    (
        {
            "password": None,
            "idp_id": "1",
            "verified_email": EMAIL,
            "status": "SUSPENDED",
        },
        "",
    ),
    # Staff or a thief of a session may have written the address.
    ({"password": None, "idp_id": "1", "email": "before@example.com"}, ""),
]


@pytest.mark.parametrize(("fields", "said"), ACCOUNTS)
def test_only_a_verified_address_of_an_account_without_password_gets_a_code(
    fields: dict[str, Any], said: str
) -> None:
    member = make_member(**{"email": EMAIL} | fields)
    if member.email != EMAIL:
        Member.objects.filter(pk=member.pk).update(email=EMAIL)
    mails = mail_deletion(EMAIL)
    if not said:
        assert mails == []
        return
    (mail,) = mails
    assert bool(mail.codes) == (said == "code")
    for sentence in ("valid for 10 minutes", "Whoever has the code"):
        assert (sentence in mail.text) == (said == "code")
    assert "do nothing: your account stays as it is." in mail.text
    if said == "code":
        return
    assert said in mail.text
    # A code that nobody knows stands for the account.
    assert Code.objects.get().member == member


def test_address_that_the_provider_has_verified_gets_a_code() -> None:
    # Google has verified it, and nobody was asked to do so here.
    member = make_without_password(verified_email="")
    link_identity(member, EMAIL.upper())
    (mail,) = mail_deletion(EMAIL)
    assert post_page(**link_form(mail), word="delete").status_code == 200
    assert is_deleted(member)


@pytest.mark.parametrize("email", ["", "other@example.com"])
def test_identity_of_another_address_proves_nothing(email: str) -> None:
    link_identity(make_without_password(verified_email=""), email)
    (mail,) = mail_deletion(EMAIL)
    assert mail.codes == []
    assert "Google" in mail.text


def test_accounts_of_one_address_are_deleted_one_by_one() -> None:
    first = make_without_password()
    second = make_without_password(idp_id="2")
    third = make_member(email=EMAIL, verified_email=EMAIL)
    (mail,) = mail_deletion(EMAIL)
    assert len(set(mail.codes)) == 2
    for member in (first, second, third):
        assert member.login_id in mail.text
    form = link_form(mail)
    assert post_page(**form | {"code": mail.codes[1]}, word="delete").status_code == 200
    assert (is_deleted(first), is_deleted(second)) == (False, True)
    # A mail that is tried again must not name who has left.
    assert not read_waiting_mails()
    assert post_page(**form, word="delete").status_code == 200
    assert (is_deleted(first), is_deleted(third)) == (True, False)


def test_mail_for_an_address_leaves_the_code_of_the_password(
    free_member: Member,
) -> None:
    # Strangers end no deletion that the owner has begun.
    form = begin(free_member)
    mail_deletion(free_member.email)
    assert post_page(**form, word="delete").status_code == 200
    assert is_deleted(free_member)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "SUSPENDED"},
        {"email": "new@example.com"},
        {"verified_email": ""},
        {"password": "pbkdf2_sha256$1$x$x"},
    ],
)
def test_code_is_judged_again_when_it_is_spent(change: dict[str, str]) -> None:
    member = make_without_password()
    (mail,) = mail_deletion(EMAIL)
    Member.objects.filter(pk=member.pk).update(**change)
    page = post_page(**link_form(mail), word="delete")
    assert page.status_code == 400
    assert "no longer valid" in read_errors(page)[0]
    assert not is_deleted(member)


def test_new_password_ends_the_code() -> None:
    member = make_without_password(provider="LOCAL")
    (mail,) = mail_deletion(EMAIL)
    ask_reset(email=EMAIL)
    reset = process_resets()[-1]
    assert confirm_reset(reset, password=NEW_PASSWORD).status_code == 204
    assert post_page(**link_form(mail), word="delete").status_code == 400
    assert not is_deleted(member)


def test_page_and_number_of_requests_tell_nothing_of_accounts() -> None:
    make_without_password()
    make_member(email="password@example.com", verified_email="password@example.com")
    seen = set()
    for number, email in enumerate((EMAIL, "password@example.com", "nobody@ex.org")):
        client = JSONClient(REMOTE_ADDR=f"10.0.0.{number}")
        page = client.post(PAGE, {"step": "mail", "email": email})
        hidden = read_hidden(page)
        text = page.content.decode().replace(hidden["request"], "")
        seen.add((page.status_code, len(text), frozenset(hidden)))
    assert len(seen) == 1
    assert CodeRequest.objects.filter(member=None, processed_at=None).count() == 3
    assert Mail.objects.count() == 0


def test_target_is_sealed_and_wiped_by_the_job() -> None:
    make_without_password()
    post_page(step="mail", email=EMAIL)
    request = CodeRequest.objects.get()
    assert request.purpose == "DELETE_ACCOUNT"
    assert EMAIL.encode() not in bytes(request.target or b"")
    process_requests(timezone.now())
    request.refresh_from_db()
    assert request.target is None
    assert process_requests(timezone.now()) == 0


def test_one_client_asks_five_times_an_hour_and_one_address_gets_three_mails() -> None:
    make_without_password()
    for number in range(5):
        address = EMAIL if number < 4 else "nobody@example.com"
        assert post_page(step="mail", email=address).status_code == 200
    refused = post_page(step="mail", email=EMAIL)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert read_errors(refused) == ["Too many attempts. Try again later."]
    assert f'value="{EMAIL}"' in refused.content.decode()
    assert len(process_resets()) == 3


def test_forgotten_passwords_and_deletions_are_limited_apart(
    free_member: Member,
) -> None:
    for _ in range(5):
        post_page(step="mail", email="nobody@example.com")
    assert post_page(step="mail", email="nobody@example.com").status_code == 429
    ask_reset(loginId=free_member.login_id)
    assert len(process_resets()) == 1


def test_request_that_waited_too_long_is_left() -> None:
    make_without_password()
    post_page(step="mail", email=EMAIL)
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        process_requests(timezone.now())
    assert read_waiting_mails() == []
    assert CodeRequest.objects.get().processed_at is not None


def test_without_mail_only_the_password_is_offered(settings: Any) -> None:
    settings.MAIL_SERVER = None
    text = JSONClient().get(PAGE).content.decode()
    assert 'name="password"' in text
    assert 'name="email"' not in text
    page = post_page(step="mail", email=EMAIL)
    assert page.status_code == 503
    assert read_errors(page) == ["This service sends no mails."]
