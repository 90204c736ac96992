"""Basic user CRUD, for administrators."""

from typing import Any

import pytest

from accounts.audit_log import ADDITION, CHANGE, DELETION
from accounts.models import AuditLogEntry, Member
from accounts.signup_setting import set_signup_enabled
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, count_rows_of, make_entry, make_member
from tests.support.signups import signup_body

PATH = "/api/users"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_list_is_for_administrators(
    anonymous: JSONClient, premium_member: Member, client_of: ClientOf, method: str
) -> None:
    assert anonymous.send(method, PATH, signup_body()).status_code == 401
    response = client_of(premium_member).send(method, PATH, signup_body())
    assert (response.status_code, response.data["code"]) == (403, "ADMIN_REQUIRED")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("exists", [True, False])
def test_item_is_for_administrators_even_where_there_is_none(
    premium_member: Member, client_of: ClientOf, method: str, exists: bool
) -> None:
    path = f"{PATH}/{premium_member.pk if exists else 987_654_321}"
    response = client_of(premium_member).send(method, path, {})
    assert (response.status_code, response.data["code"]) == (403, "ADMIN_REQUIRED")
    assert Member.objects.filter(pk=premium_member.pk).exists()


def test_list_is_paged_in_a_stable_order_without_images(
    administrator: Member, client_of: ClientOf
) -> None:
    members = [make_member(profile_image="data:x") for _ in range(4)]
    client = client_of(administrator)
    page = client.get_json(PATH, size=3)
    assert page["count"] == 5
    rows = page["results"] + client.get_json(page["next"])["results"]
    assert [row["id"] for row in rows] == sorted(
        [administrator.pk, *(member.pk for member in members)]
    )
    assert all("profileImage" not in row for row in rows)
    assert all("password" not in row for row in rows)


def test_list_takes_the_same_number_of_queries_for_any_number_of_members(
    administrator: Member, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    client = client_of(administrator)
    client.get_json(PATH)
    with django_assert_num_queries(2):
        client.get_json(PATH)
    for _ in range(50):
        make_member()
    with django_assert_num_queries(2):
        client.get_json(PATH, size=100)


def test_administrator_makes_a_member_even_while_sign_up_is_closed(
    administrator: Member, client_of: ClientOf
) -> None:
    set_signup_enabled(enabled=False)
    response = client_of(administrator).send("POST", PATH, signup_body())
    assert response.status_code == 201
    assert response.data["loginId"] == "minji.kim"
    assert (response.data["role"], response.data["provider"]) == ("MEMBER", "LOCAL")
    assert "token" not in response.data
    assert "sessionid" not in response.cookies
    assert Member.objects.get(login_id="minji.kim").check_password(PASSWORD)


def test_administrators_are_not_held_to_the_sign_up_limit(
    administrator: Member, client_of: ClientOf
) -> None:
    client = client_of(administrator)
    for number in range(7):
        response = client.send("POST", PATH, signup_body(loginId=f"member-of-{number}"))
        assert response.status_code == 201


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"loginId": "TAKEN"}, 409),
        ({"loginId": "a b"}, 400),
        ({"password": "1"}, 400),
        ({"email": "x"}, 400),
        ({"displayName": ""}, 400),
        ({"displayName": None}, 400),
    ],
)
def test_rules_of_sign_up_hold(
    administrator: Member, client_of: ClientOf, fields: dict[str, Any], status: int
) -> None:
    make_member(login_id="taken")
    response = client_of(administrator).send("POST", PATH, signup_body(**fields))
    assert response.status_code == status
    assert Member.objects.count() == 2


def test_one_member_is_answered_whole(
    administrator: Member, free_member: Member, client_of: ClientOf
) -> None:
    member = client_of(administrator).get_json(f"{PATH}/{free_member.pk}")
    # The second factor is the member's own affair.
    own = client_of(free_member).get_json("/api/auth/profile")
    assert member | {"secondFactor": False} == own


def test_name_and_email_are_changed(
    administrator: Member, free_member: Member, client_of: ClientOf
) -> None:
    fields = {"displayName": "New name", "email": "new@example.com"}
    ignored = {"role": "ADMIN", "plan": "PREMIUM", "points": 5, "loginId": "other"}
    path = f"{PATH}/{free_member.pk}"
    response = client_of(administrator).send("PUT", path, fields | ignored)
    assert response.status_code == 200
    assert response.data["displayName"] == "New name"
    assert response.data["loginId"] == free_member.login_id
    assert (response.data["role"], response.data["plan"]) == ("MEMBER", "FREE")
    user = client_of(free_member).get_json("/api/auth/session")
    assert user["displayName"] == "New name"


@pytest.mark.django_db(transaction=True)
def test_change_is_read_back_and_reaches_live_sessions(
    administrator: Member, free_member: Member, client_of: ClientOf
) -> None:
    theirs = client_of(free_member)
    theirs.get_json("/api/auth/session")
    fields = {"displayName": "New name", "email": "new@example.com"}
    client, path = client_of(administrator), f"{PATH}/{free_member.pk}"
    client.send("PUT", path, fields)
    assert fields.items() <= client.get_json(path).items()
    assert fields.items() <= theirs.get_json("/api/auth/profile").items()
    assert theirs.get_json("/api/auth/session")["displayName"] == "New name"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("displayName", ""),
        ("displayName", None),
        ("displayName", "x" * 101),
        ("displayName", "a\0"),
        ("displayName", 7),
        ("email", "x"),
        ("email", None),
        ("email", ["a@example.com"]),
    ],
)
def test_malformed_change_is_refused_and_named(
    administrator: Member,
    free_member: Member,
    client_of: ClientOf,
    field: str,
    value: Any,
) -> None:
    path = f"{PATH}/{free_member.pk}"
    response = client_of(administrator).send("PUT", path, {field: value})
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == [field]


def test_new_member_has_neither_role_nor_plan_of_the_body(
    administrator: Member, client_of: ClientOf
) -> None:
    wanted = {"role": "ADMIN", "plan": "PREMIUM", "points": 9, "status": "SUSPENDED"}
    made = client_of(administrator).send("POST", PATH, signup_body(**wanted)).data
    got = {name: made[name] for name in wanted}
    assert got == {"role": "MEMBER", "plan": "FREE", "points": 0, "status": "ACTIVE"}


@pytest.mark.django_db(transaction=True)
def test_deleting_takes_all_data_and_sessions(
    administrator: Member, free_member: Member, client_of: ClientOf
) -> None:
    make_entry(free_member, tags=("food",))
    client = client_of(free_member)
    client.get_json("/api/auth/session")
    response = client_of(administrator).send("DELETE", f"{PATH}/{free_member.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert not any(count_rows_of(free_member).values())
    assert client.send("GET", "/api/auth/session").status_code == 401


def test_administrators_do_not_delete_themselves(
    administrator: Member, client_of: ClientOf
) -> None:
    response = client_of(administrator).send("DELETE", f"{PATH}/{administrator.pk}")
    assert (response.status_code, response.data["code"]) == (400, "SELF_CHANGE")
    assert Member.objects.filter(pk=administrator.pk).exists()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("number", ["987654321", "0", "9" * 30, "-1", "x", "1.5"])
def test_member_that_does_not_exist_is_404(
    administrator: Member, client_of: ClientOf, method: str, number: str
) -> None:
    response = client_of(administrator).send(method, f"{PATH}/{number}", {})
    assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")


def test_what_administrators_do_is_in_the_log(
    administrator: Member, free_member: Member, client_of: ClientOf
) -> None:
    client = client_of(administrator)
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
    administrator: Member, client_of: ClientOf, body: dict[str, str]
) -> None:
    # Whoever writes their address could become that administrator.
    other = make_member(role="ADMIN")
    before = Member.objects.values().get(pk=other.pk)
    client = client_of(administrator)
    response = client.send("PUT", f"{PATH}/{other.pk}", body)
    assert (response.status_code, response.data["code"]) == (403, "FORBIDDEN")
    assert Member.objects.values().get(pk=other.pk) == before
    own = client.send("PUT", f"{PATH}/{administrator.pk}", body)
    assert own.status_code == 200


def test_refusal_comes_before_a_malformed_body(
    administrator: Member, client_of: ClientOf
) -> None:
    path = f"{PATH}/{make_member(role='ADMIN').pk}"
    response = client_of(administrator).send("PUT", path, {"email": "x"})
    assert (response.status_code, response.data["code"]) == (403, "FORBIDDEN")


def test_former_administrator_is_changed_like_any_member(
    administrator: Member, client_of: ClientOf
) -> None:
    other, client = make_member(role="ADMIN"), client_of(administrator)
    client.send("PUT", f"/api/admin/members/{other.pk}/role", {"role": "MEMBER"})
    response = client.send("PUT", f"{PATH}/{other.pk}", {"email": "new@example.com"})
    assert response.status_code == 200
