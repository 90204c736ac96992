"""Members, for administrators: role, status, plan, delete."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditLogEntry, AuthSession, Member
from tests.conftest import ClientOf
from tests.support.accounts import MEMBERS, put
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_entry, make_member, make_wallet
from tests.support.problems import assert_problem

ME = "/api/auth/session"
# Two addresses of a member, with the same rules.
both_paths = pytest.mark.parametrize("path", [MEMBERS, "/api/users"])
CHANGES = [("role", "ADMIN"), ("status", "SUSPENDED"), ("plan", "PREMIUM")]


@both_paths
def test_one_member_is_answered_whole(
    path: str, client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    member = client.get_json(f"{path}/{free_member.pk}")
    # The second factor is the member's own affair.
    own = client_of(free_member).get_json("/api/auth/profile")
    assert member | {"secondFactor": False} == own


@pytest.mark.parametrize("number", ["987654321", "0", "9" * 30, "-1", "x", "1.5"])
@pytest.mark.parametrize(
    "operation",
    [
        *(f"{method} {MEMBERS}/" for method in ("GET", "DELETE")),
        *(f"{method} /api/users/" for method in ("GET", "PUT", "DELETE")),
        *(f"PUT {MEMBERS}/ {name}" for name, _ in CHANGES),
    ],
)
def test_member_that_does_not_exist_is_404(
    client: JSONClient, operation: str, number: str
) -> None:
    method, path, *name = operation.split()
    response = client.send(method, "/".join([f"{path}{number}", *name]), {})
    assert_problem(response, 404, "NOT_FOUND")


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_change_is_answered_with_the_member_and_stays(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    for _ in range(2):
        response = put(client, free_member, **{name: value})
        assert (response.status_code, response.data[name]) == (200, value)
        assert client.get_json(f"{MEMBERS}/{free_member.pk}")[name] == value


@pytest.mark.parametrize(("name", "value"), CHANGES)
@pytest.mark.parametrize("wrong", ["", None, 1, "x", [], {}, "lower"])
def test_value_that_does_not_exist_is_400(
    client: JSONClient, free_member: Member, name: str, value: str, wrong: Any
) -> None:
    wrong = value.lower() if wrong == "lower" else wrong
    for body in ({name: wrong}, {}):
        response = client.send("PUT", f"{MEMBERS}/{free_member.pk}/{name}", body)
        assert_problem(response, 400, "VALIDATION_ERROR")
        assert response.data["errors"][0]["field"] == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(*CHANGES, ("role", "MEMBER"), ("status", "ACTIVE")),
        *(("plan", "FREE"), ("plan", "nonsense")),
    ],
)
def test_administrators_do_not_change_their_own_account(
    client: JSONClient, administrator: Member, name: Any, value: Any
) -> None:
    response = put(client, administrator, **{name: value})
    assert_problem(response, 400, "SELF_CHANGE")
    administrator.refresh_from_db()
    assert (administrator.role, administrator.status) == ("ADMIN", "ACTIVE")
    assert administrator.plan == "FREE"


@both_paths
def test_administrators_do_not_delete_themselves(
    path: str, client: JSONClient, administrator: Member
) -> None:
    response = client.send("DELETE", f"{path}/{administrator.pk}")
    assert_problem(response, 400, "SELF_CHANGE")
    assert client.get_json(ME)["id"] == administrator.pk


@pytest.mark.django_db(transaction=True)
def test_role_counts_at_once_in_live_sessions(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    theirs = client_of(free_member)
    assert theirs.send("GET", MEMBERS).status_code == 403
    put(client, free_member, role="ADMIN")
    assert theirs.send("GET", MEMBERS).status_code == 200
    put(client, free_member, role="MEMBER")
    assert theirs.send("GET", MEMBERS).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_suspension_ends_sessions_at_once_and_permanently(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    theirs = client_of(free_member)
    theirs.get_json(ME)
    put(client, free_member, status="SUSPENDED")
    assert theirs.send("GET", ME).status_code == 401
    assert not AuthSession.objects.filter(member=free_member).exists()
    put(client, free_member, status="ACTIVE")
    assert theirs.send("GET", ME).status_code == 401
    client_of(free_member).get_json(ME)


def test_suspended_member_cannot_log_in_until_taken_back(
    client: JSONClient, free_member: Member, anonymous: JSONClient
) -> None:
    body = {"loginId": free_member.login_id, "password": "correct-horse-9"}
    for status, answer in (("SUSPENDED", 403), ("ACTIVE", 200)):
        put(client, free_member, status=status)
        assert anonymous.send("POST", "/api/auth/login", body).status_code == answer


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("plan", ["FREE", "PREMIUM"])
def test_plan_is_permanent_and_counts_at_once_in_live_sessions(
    client: JSONClient, client_of: ClientOf, plan: str
) -> None:
    member = make_member(
        plan="PREMIUM",
        plan_expires_at=timezone.now() + timedelta(30),
        plan_product="premium_monthly",
        plan_auto_renew=True,
    )
    theirs = client_of(member)
    assert theirs.get_json(ME)["plan"] == "PREMIUM"
    answer = put(client, member, plan=plan).data
    expected = (plan, None, None, False)
    names = ("plan", "planExpiresAt", "planProduct", "planAutoRenew")
    assert tuple(answer[name] for name in names) == expected
    session = theirs.get_json(ME)
    assert (session["plan"], session["planExpiresAt"]) == (plan, None)
    gated = theirs.send("GET", "/api/account/tags").status_code
    assert gated == (200 if plan == "PREMIUM" else 403)
    assert AuthSession.objects.get(member=member).plan == plan


def test_plan_by_an_administrator_replaces_one_that_has_expired(
    client: JSONClient,
) -> None:
    member = make_member(
        plan="PREMIUM", plan_expires_at=timezone.now() - timedelta(days=3)
    )
    assert put(client, member, plan="PREMIUM").data["plan"] == "PREMIUM"
    assert client.get_json(f"{MEMBERS}/{member.pk}")["plan"] == "PREMIUM"


@pytest.mark.django_db(transaction=True)
@both_paths
def test_deleting_takes_all_data_and_sessions(
    path: str, client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    make_entry(free_member, tags=("food",), wallet=make_wallet(free_member))
    theirs = client_of(free_member)
    theirs.get_json(ME)
    response = client.send("DELETE", f"{path}/{free_member.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert not any(count_rows_of(free_member).values())
    assert theirs.send("GET", ME).status_code == 401
    assert client.send("DELETE", f"{path}/{free_member.pk}").status_code == 404


def test_every_change_is_in_the_log_without_the_members_name(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    for name, value in CHANGES:
        put(client, free_member, **{name: value})
    client.send("DELETE", f"{MEMBERS}/{free_member.pk}")
    entries = AuditLogEntry.objects.order_by("id")
    texts = ["Role ADMIN.", "Status SUSPENDED.", "Plan PREMIUM.", ""]
    assert [entry.text for entry in entries] == texts
    assert {entry.actor_id for entry in entries} == {administrator.pk}
    assert {entry.target_label for entry in entries} == {f"member {free_member.pk}"}
