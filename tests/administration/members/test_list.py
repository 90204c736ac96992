"""Members, for administrators: the list, its search and filters, and its count."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.members import search as member_search
from accounts.members.counters import compact_member_counts, count_members
from accounts.models import Member
from tests.support.accounts import MEMBERS
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem


def ids_of(page: Any) -> list[int]:
    return [row["id"] for row in page["results"]]


def find(client: JSONClient, **query: Any) -> list[int]:
    """Return the ids that a list answers, with a count that agrees."""
    page = client.get_json(MEMBERS, **query)
    assert page["count"] == len(page["results"])
    return ids_of(page)


def test_list_is_paged_newest_first_without_profile_images(
    client: JSONClient, administrator: Member
) -> None:
    members = [make_member(profile_image="data:x") for _ in range(4)]
    page = client.get_json(MEMBERS, size=3)
    assert page["count"] == 5
    rows = page["results"] + client.get_json(page["next"])["results"]
    newest_first = [m.pk for m in reversed(members)] + [administrator.pk]
    assert [row["id"] for row in rows] == newest_first
    for row in rows:
        assert not {"profileImage", "password"} & set(row)
        assert {"loginId", "role", "status", "plan", "points"} <= set(row)


def test_page_past_the_end_is_404(client: JSONClient) -> None:
    assert client.send("GET", f"{MEMBERS}?page=2").status_code == 404


@pytest.mark.parametrize(
    "search",
    [
        *("minji.kim", "MINJI", "nji.k", "김민지", "민지"),
        *("지", "MJ", "i.", "ledger.example", "김민 minji"),
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
    page = client.get_json(MEMBERS, search="many", size=2)
    assert page["count"] == 3
    last = client.get_json(page["next"])
    assert (len(last["results"]), last["next"]) == (1, None)


def test_list_is_filtered_by_role_status_and_plan(
    client: JSONClient, administrator: Member
) -> None:
    free, premium = make_member(), make_member(plan="PREMIUM", login_id="minji")
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
    response = client.send("GET", f"{MEMBERS}?{query}")
    assert_problem(response, 400, "VALIDATION_ERROR")


def test_search_can_go_by_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    wanted = member_search.MemberFilter(search="minji")
    plan = member_search.search_members(wanted, timezone.now()).explain()
    assert "Bitmap Index Scan on member_search " in plan


def count_all() -> dict[tuple[str, ...], int]:
    now = timezone.now()
    return {
        (role, status, plan): count_members(now, role=role, status=status, plan=plan)
        for role in Member.Role.values
        for status in Member.Status.values
        for plan in Member.Plan.values
    }


def test_counters_follow_every_way_of_writing_members() -> None:
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
        assert client.get_json(MEMBERS)["count"] == 2
        assert client.get_json(MEMBERS, role="MEMBER", plan="PREMIUM")["count"] == 0


def refuse_count_of_members(
    execute: Any, sql: Any, params: Any, many: Any, context: Any
) -> Any:
    if "COUNT(" in sql and 'FROM "member"' in sql:
        assert '"plan_expires_at" <=' in sql, sql
    return execute(sql, params, many, context)
