"""A reset that proves an address removes identities of others (spec 2.12)."""

import pytest

from accounts.models import LinkedIdentity, Member, SecurityLogEntry
from tests.support.accounts import PROFILE, signup_body
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import Vouch, log_in, make_id_token
from tests.support.mail import (
    ask_reset,
    confirm_reset,
    process_resets,
    read_waiting_mails,
)
from tests.support.second_factors import give_totp

pytestmark = pytest.mark.usefixtures("mail_folder")

OWNER = "owner@example.com"
TROJAN = "trojan@example.com"


def reset_password_of(member: Member) -> None:
    ask_reset(loginId=member.login_id)
    mail = process_resets()[-1]
    assert mail.to == OWNER
    assert confirm_reset(mail).status_code == 204


def link_from_within(client: JSONClient, vouch: Vouch) -> None:
    vouch(email=TROJAN)
    body = {"idToken": make_id_token(email=TROJAN)}
    assert client.send("POST", "/api/auth/identities", body).status_code == 201


def sign_up(email: str) -> tuple[JSONClient, Member]:
    client = JSONClient()
    response = client.send("POST", "/api/auth/signup", signup_body(email=email))
    client.use_token(response.data["token"])
    return client, Member.objects.get(pk=response.data["member"]["id"])


def assert_identity_is_gone(member: Member, vouch: Vouch) -> None:
    assert not LinkedIdentity.objects.exists()
    member.refresh_from_db()
    assert member.idp_id is None
    assert SecurityLogEntry.objects.filter(kind="IDENTITY_REMOVED").exists()
    texts = [mail.text for mail in read_waiting_mails()]
    assert any("was removed from your account" in text for text in texts)
    vouch(email=TROJAN)
    response = log_in(token=make_id_token(email=TROJAN))
    assert response.data["member"]["id"] != member.pk


def test_trojan_identity_on_a_squatted_address_is_gone(vouch: Vouch) -> None:
    # The intruder signs up with the owner's address and waits for the owner.
    intruder, member = sign_up(OWNER)
    link_from_within(intruder, vouch)
    reset_password_of(member)
    assert_identity_is_gone(member, vouch)


def test_trojan_identity_from_before_a_change_of_the_address_is_gone(
    vouch: Vouch,
) -> None:
    # The intruder links their own address, and enters the owner's afterwards.
    intruder, member = sign_up(TROJAN)
    vouch(email=TROJAN)
    response = log_in(token=make_id_token(email=TROJAN))
    assert response.data["member"]["id"] == member.pk
    intruder.use_token(response.data["token"])
    assert intruder.send("PUT", PROFILE, {"email": OWNER}).status_code == 200
    reset_password_of(member)
    assert_identity_is_gone(member, vouch)


def test_identity_of_the_proved_address_stays(vouch: Vouch) -> None:
    member = make_member(email=OWNER)
    vouch(email=OWNER)
    assert log_in(token=make_id_token(email=OWNER)).data["linked"] is True
    reset_password_of(member)
    member.refresh_from_db()
    assert member.idp_id == "subject-1"
    assert LinkedIdentity.objects.get().email == OWNER


@pytest.mark.parametrize("email", ["", "another@example.com"])
def test_unknown_address_of_an_identity_counts_as_another(email: str) -> None:
    member = make_member(email=OWNER, idp_id="subject-1")
    LinkedIdentity.objects.create(
        member=member, provider="google", subject="subject-1", email=email
    )
    reset_password_of(member)
    assert not LinkedIdentity.objects.exists()


def test_reset_of_a_verified_address_removes_nothing() -> None:
    member = make_member(email=OWNER, verified_email=OWNER, idp_id="subject-1")
    LinkedIdentity.objects.create(
        member=member, provider="google", subject="subject-1", email=TROJAN
    )
    reset_password_of(member)
    assert LinkedIdentity.objects.exists()


def test_second_factor_outlives_the_reset() -> None:
    # Who has the mailbox need not be who has the books.
    member = make_member(email=OWNER)
    give_totp(member)
    reset_password_of(member)
    member.refresh_from_db()
    assert member.has_second_factor
