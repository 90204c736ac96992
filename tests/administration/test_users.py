"""Basic user CRUD, for administrators."""

from typing import Any

import pytest

from accounts.models import AuditLogEntry, Member
from accounts.security.audit_log import ADDITION, CHANGE, DELETION
from accounts.signup.setting import set_signup_enabled
from tests.conftest import ClientOf
from tests.support.accounts import signup_body
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/users"


def test_list_is_paged_in_a_stable_order_without_images(
    administrator: Member, client: JSONClient
) -> None:
    members = [make_member(profile_image="data:x") for _ in range(4)]
    page = client.get_json(PATH, size=3)
    assert page["count"] == 5
    rows = page["results"] + client.get_json(page["next"])["results"]
    assert [row["id"] for row in rows] == sorted(
        [administrator.pk, *(member.pk for member in members)]
    )
    assert not any({"profileImage", "password"} & set(row) for row in rows)


def test_administrator_makes_a_member_even_while_sign_up_is_closed(
    client: JSONClient,
) -> None:
    set_signup_enabled(enabled=False)
    response = client.send("POST", PATH, signup_body())
    assert response.status_code == 201
    assert response.data["loginId"] == "minji.kim"
    assert (response.data["role"], response.data["provider"]) == ("MEMBER", "LOCAL")
    assert "token" not in response.data
    assert "sessionid" not in response.cookies
    assert Member.objects.get(login_id="minji.kim").check_password(PASSWORD)


def test_administrators_are_not_held_to_the_sign_up_limit(client: JSONClient) -> None:
    for number in range(7):
        response = client.send("POST", PATH, signup_body(loginId=f"member-of-{number}"))
        assert response.status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        *(("loginId", "TAKEN", 409), ("loginId", "a b", 400), ("password", "1", 400)),
        *(("email", "x", 400), ("displayName", "", 400), ("displayName", None, 400)),
    ],
)
def test_rules_of_sign_up_hold(
    field: str, value: Any, status: int, client: JSONClient, administrator: Member
) -> None:
    make_member(login_id="taken")
    response = client.send("POST", PATH, signup_body(**{field: value}))
    assert response.status_code == status
    assert Member.objects.count() == 2


def test_name_and_email_are_changed(
    free_member: Member, client_of: ClientOf, client: JSONClient
) -> None:
    fields = {"displayName": "New name", "email": "new@example.com"}
    ignored = {"role": "ADMIN", "plan": "PREMIUM", "points": 5, "loginId": "other"}
    path = f"{PATH}/{free_member.pk}"
    response = client.send("PUT", path, fields | ignored)
    assert response.status_code == 200
    assert response.data["displayName"] == "New name"
    assert response.data["loginId"] == free_member.login_id
    assert (response.data["role"], response.data["plan"]) == ("MEMBER", "FREE")
    user = client_of(free_member).get_json("/api/auth/session")
    assert user["displayName"] == "New name"


@pytest.mark.django_db(transaction=True)
def test_change_is_read_back_and_reaches_live_sessions(
    free_member: Member, client: JSONClient, client_of: ClientOf
) -> None:
    theirs = client_of(free_member)
    theirs.get_json("/api/auth/session")
    fields = {"displayName": "New name", "email": "new@example.com"}
    path = f"{PATH}/{free_member.pk}"
    client.send("PUT", path, fields)
    assert fields.items() <= client.get_json(path).items()
    assert fields.items() <= theirs.get_json("/api/auth/profile").items()
    assert theirs.get_json("/api/auth/session")["displayName"] == "New name"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("displayName", value) for value in ("", None, "x" * 101, "a\0", 7)),
        *(("email", value) for value in ("x", None, ["a@example.com"])),
    ],
)
def test_malformed_change_is_refused_and_named(
    free_member: Member, field: str, value: Any, client: JSONClient
) -> None:
    path = f"{PATH}/{free_member.pk}"
    response = client.send("PUT", path, {field: value})
    assert_invalid(response, field)


def test_new_member_has_neither_role_nor_plan_of_the_body(client: JSONClient) -> None:
    wanted = {"role": "ADMIN", "plan": "PREMIUM", "points": 9, "status": "SUSPENDED"}
    made = client.send("POST", PATH, signup_body(**wanted)).data
    got = {name: made[name] for name in wanted}
    assert got == {"role": "MEMBER", "plan": "FREE", "points": 0, "status": "ACTIVE"}


def test_what_administrators_do_is_in_the_log(
    administrator: Member, free_member: Member, client: JSONClient
) -> None:
    made = client.send("POST", PATH, signup_body()).data["id"]
    client.send("PUT", f"{PATH}/{made}", {"displayName": "New name"})
    client.send("PUT", f"{PATH}/{made}", {})
    client.send("DELETE", f"{PATH}/{made}")
    client.send("POST", PATH, signup_body(loginId=free_member.login_id))
    client.send("PUT", f"{PATH}/987654321", {"displayName": "Nobody"})
    logged = AuditLogEntry.objects.order_by("id").values_list(
        "actor_id", "target_label", "action"
    )
    who = (administrator.pk, f"member {made}")
    assert list(logged) == [(*who, ADDITION), (*who, CHANGE), (*who, DELETION)]


@pytest.mark.parametrize("body", [{"email": "e@x.example"}, {"displayName": "E"}, {}])
def test_profile_of_another_administrator_is_not_changed(
    administrator: Member, body: dict[str, str], client: JSONClient
) -> None:
    # Whoever writes their address could become that administrator.
    other = make_member(role="ADMIN")
    before = Member.objects.values().get(pk=other.pk)
    response = client.send("PUT", f"{PATH}/{other.pk}", body)
    assert_problem(response, 403, "FORBIDDEN")
    assert Member.objects.values().get(pk=other.pk) == before
    own = client.send("PUT", f"{PATH}/{administrator.pk}", body)
    assert own.status_code == 200


def test_refusal_comes_before_a_malformed_body(client: JSONClient) -> None:
    path = f"{PATH}/{make_member(role='ADMIN').pk}"
    response = client.send("PUT", path, {"email": "x"})
    assert_problem(response, 403, "FORBIDDEN")


def test_former_administrator_is_changed_like_any_member(client: JSONClient) -> None:
    other = make_member(role="ADMIN")
    client.send("PUT", f"/api/admin/members/{other.pk}/role", {"role": "MEMBER"})
    response = client.send("PUT", f"{PATH}/{other.pk}", {"email": "new@example.com"})
    assert response.status_code == 200
