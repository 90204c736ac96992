"""Members, for administrators: list, role, status, plan, delete."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts import member_search
from accounts.member_counters import compact_member_counts, count_members
from accounts.models import AuditLogEntry, AuthSession, Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_entry, make_member, make_wallet
from tests.support.races import run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db

PATH = "/api/admin/members"
ME = "/api/auth/session"
CHANGES = [("role", "ADMIN"), ("status", "SUSPENDED"), ("plan", "PREMIUM")]


@pytest.fixture
def client(administrator: Member, client_of: ClientOf) -> JSONClient:
    return client_of(administrator)


def put(client: JSONClient, member: Member, **body: Any) -> Any:
    (name,) = body
    return client.send("PUT", f"{PATH}/{member.pk}/{name}", body)


def ids_of(page: Any) -> list[int]:
    return [row["id"] for row in page["results"]]


def find(client: JSONClient, **query: Any) -> list[int]:
    """Return the ids that a list answers, with a count that agrees."""
    page = client.get_json(PATH, **query)
    assert page["count"] == len(page["results"])
    return ids_of(page)


# --- The list -----------------------------------------------------------------


def test_list_is_paged_newest_first_without_profile_images(
    client: JSONClient, administrator: Member
) -> None:
    members = [make_member(profile_image="data:x") for _ in range(4)]
    page = client.get_json(PATH, size=3)
    assert page["count"] == 5
    rows = page["results"] + client.get_json(page["next"])["results"]
    newest_first = [m.pk for m in reversed(members)] + [administrator.pk]
    assert [row["id"] for row in rows] == newest_first
    for row in rows:
        assert not {"profileImage", "password"} & set(row)
        assert {"loginId", "role", "status", "plan", "points"} <= set(row)


@pytest.mark.parametrize(
    ("search", "size", "queries"),
    [(None, 100, 2), ("member", 1, 2), ("member", 100, 1)],
)
def test_list_takes_the_same_queries_for_any_number_of_members(
    client: JSONClient,
    django_assert_num_queries: Any,
    search: str | None,
    size: int,
    queries: int,
) -> None:
    client.get_json(PATH)
    for count in (1, 50):
        for _ in range(count):
            make_member(profile_image="data:x" * 10)
        with django_assert_num_queries(queries):
            client.get_json(PATH, size=size, search=search)


def test_page_past_the_end_is_404(client: JSONClient) -> None:
    assert client.send("GET", f"{PATH}?page=2").status_code == 404


@pytest.mark.parametrize(
    "search",
    [
        "minji.kim",
        "MINJI",
        "nji.k",
        "김민지",
        "민지",
        "지",
        "MJ",
        "i.",
        "ledger.example",
        "김민 minji",
    ],
)
def test_search_finds_what_login_id_name_or_email_contain(
    client: JSONClient, search: str
) -> None:
    found = make_member(
        login_id="minji.kim", display_name="김민지", email="mj@ledger.example"
    )
    make_member(login_id="somebody", display_name="박서준")
    assert find(client, search=search) == [found.pk]


@pytest.mark.parametrize(
    "search", ["%", "__", "%%", "_____", "\\", "nobody here", "민지 박", "지민", "jn"]
)
def test_search_is_no_pattern_and_every_word_counts(
    client: JSONClient, search: str
) -> None:
    make_member(login_id="minji", display_name="김민지")
    assert find(client, search=search) == []


def test_search_counts_no_further_than_its_limit(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member_search, "MAX_COUNTED_HITS", 3)
    for _ in range(5):
        make_member(display_name="Many")
    page = client.get_json(PATH, search="many", size=2)
    assert page["count"] == 3
    last = client.get_json(page["next"])
    assert (len(last["results"]), last["next"]) == (1, None)


def test_list_is_filtered_by_role_status_and_plan(
    client: JSONClient, administrator: Member
) -> None:
    free, premium = make_member(), make_member(plan="PREMIUM")
    suspended = make_member(status="SUSPENDED", plan="PREMIUM")
    assert find(client, role="ADMIN") == [administrator.pk]
    assert find(client, role="MEMBER", plan="FREE") == [free.pk]
    assert find(client, status="SUSPENDED") == [suspended.pk]
    assert find(client, status="ACTIVE", plan="PREMIUM") == [premium.pk]
    assert find(client, plan="PREMIUM") == [suspended.pk, premium.pk]
    assert find(client, plan="PREMIUM", search=premium.login_id) == [premium.pk]
    assert find(client, role="ADMIN", plan="PREMIUM") == []


def test_plan_that_has_expired_is_free_in_filter_and_count(
    client: JSONClient, administrator: Member
) -> None:
    now = timezone.now()
    kinds: dict[str, dict[str, Any]] = {
        "expired": {"plan_expires_at": now - timedelta(1)},
        "runs": {"plan_expires_at": now + timedelta(1)},
        "renews": {"plan_expires_at": now - timedelta(1), "plan_auto_renew": True},
        "permanent": {},
    }
    made = {name: make_member(plan="PREMIUM", **k).pk for name, k in kinds.items()}
    expired = made.pop("expired")
    assert find(client, plan="FREE") == [expired, administrator.pk]
    assert sorted(find(client, plan="PREMIUM")) == sorted(made.values())


@pytest.mark.parametrize(
    "query",
    ["role=KING", "status=GONE", "plan=GOLD", "role=admin", "page=0", "search=a%00b"],
)
def test_filter_that_does_not_exist_is_400(client: JSONClient, query: str) -> None:
    response = client.send("GET", f"{PATH}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")


def test_search_can_go_by_an_index(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    wanted = member_search.MemberFilter(search="minji")
    plan = member_search.search_members(wanted, timezone.now()).explain()
    assert "Bitmap Index Scan on member_search " in plan


# --- The count ----------------------------------------------------------------


def count_all() -> dict[tuple[str, ...], int]:
    now = timezone.now()
    return {
        (role, status, plan): count_members(now, role=role, status=status, plan=plan)
        for role in Member.Role.values
        for status in Member.Status.values
        for plan in Member.Plan.values
    }


def test_counters_follow_every_way_of_writing_members(db: None) -> None:
    made = [make_member(), make_member(plan="PREMIUM"), make_member(role="ADMIN")]
    Member.objects.bulk_create(
        [Member(login_id=f"bulk{n}", email="x@example.com") for n in range(5)]
    )
    Member.objects.filter(pk=made[0].pk).update(status="SUSPENDED", points=3)
    Member.objects.filter(login_id__startswith="bulk").update(plan="PREMIUM")
    Member.objects.get(login_id="bulk0").delete()
    for _ in range(2):
        truth = dict.fromkeys(count_all(), 0)
        for member in Member.objects.all():
            truth[member.role, member.status, member.plan] += 1
        assert count_all() == truth
        assert count_members(timezone.now()) == 7
        compact_member_counts()


def test_list_without_a_search_counts_no_members(client: JSONClient) -> None:
    make_member()
    with connection.execute_wrapper(refuse_count_of_members):
        assert client.get_json(PATH)["count"] == 2
        assert client.get_json(PATH, role="MEMBER", plan="PREMIUM")["count"] == 0


def refuse_count_of_members(
    execute: Any, sql: Any, params: Any, many: Any, context: Any
) -> Any:
    if "COUNT(" in sql and 'FROM "member"' in sql:
        assert '"plan_expires_at" <=' in sql, sql
    return execute(sql, params, many, context)


# --- One member ---------------------------------------------------------------


def test_one_member_is_answered_whole(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    member = client.get_json(f"{PATH}/{free_member.pk}")
    # The second factor is the member's own affair.
    own = client_of(free_member).get_json("/api/auth/profile")
    assert member | {"secondFactor": False} == own


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
@pytest.mark.parametrize("number", ["987654321", "0", "9" * 30, "-1", "x"])
def test_member_that_does_not_exist_is_404(
    client: JSONClient, method: str, number: str
) -> None:
    paths = [f"{PATH}/{number}"]
    if method == "PUT":
        paths = [f"{PATH}/{number}/{name}" for name, _ in CHANGES]
    for path in paths:
        response = client.send(method, path, {})
        assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_change_is_answered_with_the_member_and_stays(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    for _ in range(2):
        response = put(client, free_member, **{name: value})
        assert (response.status_code, response.data[name]) == (200, value)
        assert client.get_json(f"{PATH}/{free_member.pk}")[name] == value


@pytest.mark.parametrize(("name", "value"), CHANGES)
@pytest.mark.parametrize("wrong", ["", None, 1, "x", [], {}, "lower"])
def test_value_that_does_not_exist_is_400(
    client: JSONClient, free_member: Member, name: str, value: str, wrong: Any
) -> None:
    wrong = value.lower() if wrong == "lower" else wrong
    for body in ({name: wrong}, {}):
        path = f"{PATH}/{free_member.pk}/{name}"
        response = client.send("PUT", path, body)
        assert (response.status_code, response.data["code"]) == (
            400,
            "VALIDATION_ERROR",
        )
        assert response.data["errors"][0]["field"] == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *CHANGES,
        ("role", "MEMBER"),
        ("status", "ACTIVE"),
        ("plan", "FREE"),
        ("plan", "nonsense"),
    ],
)
def test_administrators_do_not_change_their_own_account(
    client: JSONClient, administrator: Member, name: Any, value: Any
) -> None:
    response = put(client, administrator, **{name: value})
    assert (response.status_code, response.data["code"]) == (400, "SELF_CHANGE")
    administrator.refresh_from_db()
    assert (administrator.role, administrator.status) == ("ADMIN", "ACTIVE")
    assert administrator.plan == "FREE"


def test_administrators_do_not_delete_themselves(
    client: JSONClient, administrator: Member
) -> None:
    response = client.send("DELETE", f"{PATH}/{administrator.pk}")
    assert (response.status_code, response.data["code"]) == (400, "SELF_CHANGE")
    assert client.get_json(ME)["id"] == administrator.pk


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_only_administrators_change_members_even_unknown_ones(
    premium_member: Member,
    anonymous: JSONClient,
    client_of: ClientOf,
    name: str,
    value: str,
) -> None:
    for pk in (premium_member.pk, 987_654_321):
        path = f"{PATH}/{pk}/{name}"
        assert anonymous.send("PUT", path, {name: value}).status_code == 401
        response = client_of(premium_member).send("PUT", path, {name: value})
        assert (response.status_code, response.data["code"]) == (403, "ADMIN_REQUIRED")


# --- What a change means ------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_role_counts_at_once_in_live_sessions(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    theirs = client_of(free_member)
    assert theirs.send("GET", PATH).status_code == 403
    put(client, free_member, role="ADMIN")
    assert theirs.send("GET", PATH).status_code == 200
    put(client, free_member, role="MEMBER")
    assert theirs.send("GET", PATH).status_code == 403


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
        response = anonymous.send("POST", "/api/auth/login", body)
        assert response.status_code == answer


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
    assert client.get_json(f"{PATH}/{member.pk}")["plan"] == "PREMIUM"


@pytest.mark.django_db(transaction=True)
def test_deleting_takes_all_data_and_sessions(
    client: JSONClient, free_member: Member, client_of: ClientOf
) -> None:
    make_entry(free_member, tags=("food",), wallet=make_wallet(free_member))
    theirs = client_of(free_member)
    theirs.get_json(ME)
    response = client.send("DELETE", f"{PATH}/{free_member.pk}")
    assert (response.status_code, response.content) == (204, b"")
    assert not any(count_rows_of(free_member).values())
    assert theirs.send("GET", ME).status_code == 401
    assert client.send("DELETE", f"{PATH}/{free_member.pk}").status_code == 404


def test_every_change_is_in_the_log_without_the_members_name(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    for name, value in CHANGES:
        put(client, free_member, **{name: value})
    client.send("DELETE", f"{PATH}/{free_member.pk}")
    entries = AuditLogEntry.objects.order_by("id")
    assert [entry.text for entry in entries] == [
        "Role ADMIN.",
        "Status SUSPENDED.",
        "Plan PREMIUM.",
        "",
    ]
    assert {entry.actor_id for entry in entries} == {administrator.pk}
    assert {entry.target_label for entry in entries} == {f"member {free_member.pk}"}


# --- Two administrators at once -----------------------------------------------

ROUNDS = 15


def race(method: str, path: str, body: Any, one: Member, two: Member) -> list[int]:
    """Let each change the other at once; return the two status codes."""
    calls = [
        partial(JSONClient(actor).send, method, path.format(other.pk), body)
        for actor, other in ((one, two), (two, one))
    ]
    return sorted_statuses(run_concurrently(calls))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "body", [{"role": "MEMBER"}, {"status": "SUSPENDED"}], ids=["role", "status"]
)
def test_two_administrators_who_change_each_other_leave_one(
    body: dict[str, Any],
) -> None:
    for _ in range(ROUNDS):
        one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
        statuses = race("PUT", f"{PATH}/{{}}/{next(iter(body))}", body, one, two)
        assert statuses in ([200, 403], [200, 401]), statuses
        pair = Member.objects.filter(pk__in=[one.pk, two.pk])
        assert pair.filter(role="ADMIN", status="ACTIVE").count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", [PATH, "/api/users"])
def test_two_administrators_who_delete_each_other_leave_one(path: Any) -> None:
    for _ in range(ROUNDS):
        one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
        statuses = race("DELETE", path + "/{}", None, one, two)
        assert statuses in ([204, 403], [204, 401]), statuses
        assert Member.objects.filter(pk__in=[one.pk, two.pk]).count() == 1


@pytest.mark.django_db(transaction=True)
def test_three_administrators_in_a_circle_leave_one() -> None:
    for _ in range(ROUNDS):
        trio = [make_member(role="ADMIN") for _ in range(3)]
        clients = [JSONClient(member) for member in trio]
        run_concurrently(
            [
                partial(put, client, trio[(place + 1) % 3], role="MEMBER")
                for place, client in enumerate(clients)
            ]
        )
        left = Member.objects.filter(pk__in=[m.pk for m in trio], role="ADMIN")
        assert left.exists()


@pytest.mark.django_db(transaction=True)
def test_without_the_lock_both_administrators_would_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Show the race without the lock: both are read as administrators first."""
    from administration import members

    def read_unlocked(actor: Any, member_id: Any) -> Any:
        return Member.objects.get(pk=member_id)

    monkeypatch.setattr(members, "lock_actor_and_target", read_unlocked)
    one, two = make_member(role="ADMIN"), make_member(role="ADMIN")
    members.set_member_role(one, two.pk, "MEMBER")
    members.set_member_role(two, one.pk, "MEMBER")
    assert not Member.objects.filter(role="ADMIN").exists()
