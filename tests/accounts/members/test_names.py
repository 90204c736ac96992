"""Names that a member may take, and addresses (spec 2.2)."""

from typing import Any

import pytest

from accounts.members.email_addresses import is_local_address
from accounts.members.names import choose_display_name, is_reserved
from accounts.models import Member
from tests.conftest import ClientOf
from tests.support.accounts import signup_body
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_invalid

SIGNUP, PROFILE, USERS = "/api/auth/signup", "/api/auth/profile", "/api/users"
RESERVED = [
    *("admin", "ADMIN", "Administrator", "root", "moderator", "관리자", "운영자"),
    *("a d m i n", "관 리 자", "ａｄｍｉｎ", "Ⓐdmin", "관리자", "운\u3000영자"),
]
INVISIBLE = [
    *("Min\u200bji", "Min\u202eji", "\u2066Minji\u2069", "Min\ufeffji", "Min\u00adji"),
    *("Min\tji", "Min\nji", "\u3164", "\u115f\u1160", "Min\u2028ji", "Min\u200dji"),
]
LOCAL = [
    *("a@localhost", "a@LOCALHOST", "a@mail.localhost", "a@127.0.0.1", "a@[127.0.0.1]"),
    *(
        "a@[::1]",
        "a@[IPv6:::1]",
        "a@10.0.0.12",
        "a@127。0。0。12",
        "a@x.ｌｏｃａｌｈｏｓｔ",
    ),
]


@pytest.fixture
def client(free_member: Member, client_of: ClientOf) -> JSONClient:
    return client_of(free_member)


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_staff_are_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["Adam", "administer", "admin1", "뿌리", "관리", ""])
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.django_db
def test_sign_up_with_a_name_of_staff_is_refused(settings: Any) -> None:
    body = signup_body(loginId="Root", displayName="관 리 자")
    response = JSONClient().send("POST", SIGNUP, body)
    assert_invalid(response, "loginId", "displayName")
    assert {error["code"] for error in response.data["errors"]} == {"reserved"}
    assert not Member.objects.exists()
    settings.RESERVED_NAMES = ["chief"]
    assert JSONClient().send("POST", SIGNUP, body).status_code == 201


def test_staff_may_take_their_names(
    administrator: Member, client_of: ClientOf, client: JSONClient
) -> None:
    staff = client_of(administrator)
    for path in (PROFILE, f"{USERS}/{administrator.pk}"):
        staff.change_json("PUT", path, {"displayName": "Admin"})
        staff.change_json("PUT", path, {"displayName": "운영자"})
    body = {"displayName": "Admin"}
    assert_invalid(client.send("PUT", PROFILE, body), "displayName")
    assert client.member
    # Staff cannot give such a name to another member either.
    path = f"{USERS}/{client.member.pk}"
    assert_invalid(staff.send("PUT", path, body), "displayName")
    body = signup_body(loginId="moderator")
    assert_invalid(staff.send("POST", USERS, body), "loginId")


@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_characters_are_refused(client: JSONClient, name: str) -> None:
    response = client.send("PUT", PROFILE, {"displayName": name})
    assert_invalid(response, "displayName")
    body = signup_body(displayName=name)
    assert_invalid(JSONClient().send("POST", SIGNUP, body), "displayName")


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("Ｍｉｎｊｉ　Ｋｉｍ", "Minji Kim"),
        ("ﾐﾝｼﾞ", "ミンジ"),
        ("김민지", "김민지"),
        (" 김민지 ", "김민지"),
        ("민지 🌱", "민지 🌱"),
    ],
)
def test_display_name_is_stored_in_nfkc(
    client: JSONClient, sent: str, stored: str
) -> None:
    answer = client.change_json("PUT", PROFILE, {"displayName": sent})
    assert answer["displayName"] == stored


def test_display_name_that_nfkc_makes_too_long_is_refused(client: JSONClient) -> None:
    response = client.send("PUT", PROFILE, {"displayName": "ﷺ" * 50})
    assert_invalid(response, "displayName")
    assert response.data["errors"][0]["code"] == "max_length"


@pytest.mark.parametrize("email", LOCAL)
def test_address_at_this_machine_or_an_ip_address_is_refused(
    client: JSONClient, email: str
) -> None:
    body = signup_body(email=email)
    assert_invalid(JSONClient().send("POST", SIGNUP, body), "email")
    assert_invalid(client.send("PUT", PROFILE, {"email": email}), "email")


@pytest.mark.parametrize(
    "email", ["a@example.com", "a@localhost.example", "a@메일.한국"]
)
def test_other_addresses_are_not_local(email: str) -> None:
    assert not is_local_address(email)


def test_who_has_such_a_name_and_address_keeps_them(client_of: ClientOf) -> None:
    old = {"display_name": "Admin\u200b", "email": "a@localhost"}
    member = make_member(login_id="root", **old)
    client = client_of(member)
    profile = client.get_json(PROFILE)
    answer = client.change_json("PUT", PROFILE, profile)
    assert (answer["displayName"], answer["email"]) == ("Admin\u200b", "a@localhost")
    # Their mails find them.
    reset = {"email": "a@localhost"}
    response = JSONClient().send("POST", "/api/auth/password-reset", reset)
    assert response.status_code != 400
    # A name that is given up is not taken back.
    client.change_json("PUT", PROFILE, {"displayName": "Minji"})
    response = client.send("PUT", PROFILE, {"displayName": "Admin"})
    assert_invalid(response, "displayName")


@pytest.mark.parametrize(
    ("candidates", "name"),
    [
        (("관리자", "minji"), "minji"),
        (("Admin\u200b", "root"), "Member"),
        (("\u202eMinji", ""), "Minji"),
        (("\u3164", "min"), "min"),
        (("x" * 300,), "x" * 100),
        ((), "Member"),
    ],
)
def test_name_of_an_identity_is_made_fit(candidates: Any, name: str) -> None:
    assert choose_display_name(*candidates) == name
