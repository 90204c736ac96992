"""One change of many members (spec 7.1)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditLogEntry, AuthSession, Member
from administration import bulk
from tests.support.accounts import MEMBERS
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem

BULK = f"{MEMBERS}/bulk"


def change(client: JSONClient, *ids: int, action: str = "SUSPEND", **body: Any) -> Any:
    return client.send(
        "POST", BULK, {"ids": list(ids), "action": action, "reason": "spam"} | body
    )


def codes_of(response: Any) -> list[Any]:
    assert response.status_code == 200, response.content
    return [each["code"] for each in response.data["results"]]


def test_each_member_gets_a_result_as_the_single_request_answers(
    client: JSONClient, administrator: Member
) -> None:
    one, two = make_member(), make_member(role="ADMIN")
    answer = change(client, one.pk, administrator.pk, 987654321, two.pk)
    assert codes_of(answer) == [None, "SELF_CHANGE", "NOT_FOUND", None]
    assert [each["id"] for each in answer.data["results"]] == [
        *(one.pk, administrator.pk, 987654321, two.pk)
    ]
    assert [each["done"] for each in answer.data["results"]] == [
        *(True, False, False, True)
    ]
    for member in (one, two):
        member.refresh_from_db()
        assert (member.status, member.suspension_reason) == ("SUSPENDED", "spam")
    administrator.refresh_from_db()
    assert administrator.is_active, "the last one stays"
    texts = AuditLogEntry.objects.values_list("text", flat=True)
    assert list(texts) == ["Status SUSPENDED. Reason: spam"] * 2


@pytest.mark.parametrize(
    ("action", "body", "text"),
    [
        ("ACTIVATE", {}, "Status ACTIVE. Reason: spam"),
        ("END_SESSIONS", {}, "Sessions ended. Reason: spam"),
        ("SILENCE", {"until": "2099-01-01T00:00:00Z"}, "Silenced."),
        ("END_SILENCE", {}, "Silence ended. Reason: spam"),
    ],
)
def test_every_action_is_done_and_logged(
    client: JSONClient, action: str, body: Any, text: str
) -> None:
    now = timezone.now()
    is_ending = action == "END_SILENCE"
    until = now + timedelta(days=1) if is_ending else None
    members = [
        make_member(
            status="SUSPENDED" if action == "ACTIVATE" else "ACTIVE",
            silenced_until=until,
        )
        for _ in range(2)
    ]
    if action == "END_SESSIONS":
        for member in members:
            JSONClient(member)
    ids = [member.pk for member in members]
    assert codes_of(change(client, *ids, action=action, **body)) == [None, None]
    for member in members:
        member.refresh_from_db()
        assert member.is_active
        assert member.is_silenced(now) == (action == "SILENCE")
        if action == "SILENCE":
            assert member.silence_reason == "spam"
    assert not AuthSession.objects.filter(member__in=ids).exists()
    assert list(AuditLogEntry.objects.values_list("text", flat=True)) == [text] * 2


def test_suspension_may_end_by_itself(client: JSONClient, free_member: Member) -> None:
    change(client, free_member.pk, until="2099-01-01T00:00:00Z")
    free_member.refresh_from_db()
    assert free_member.suspended_until is not None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ids": list(range(1, 102))}, "ids"),
        ({"ids": []}, "ids"),
        ({"ids": [0]}, "ids.0"),
        ({"action": "DELETE"}, "action"),
        ({"action": "ROLE"}, "action"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 201}, "reason"),
        ({"action": "SILENCE"}, "until"),
        ({"action": "ACTIVATE", "until": "2099-01-01T00:00:00Z"}, "until"),
        ({"until": "2001-01-01T00:00:00Z"}, "until"),
    ],
)
def test_wrong_body_changes_nobody(
    client: JSONClient, free_member: Member, body: Any, field: str
) -> None:
    response = change(client, free_member.pk, **body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert response.data["errors"][0]["field"] == field
    free_member.refresh_from_db()
    assert free_member.is_active
    assert not AuditLogEntry.objects.exists()


def test_hundred_members_are_changed_at_once(client: JSONClient) -> None:
    ids = [make_member().pk for _ in range(100)]
    assert codes_of(change(client, *ids)) == [None] * 100
    assert Member.objects.filter(status="SUSPENDED").count() == 100


def test_member_named_twice_is_changed_once(
    client: JSONClient, free_member: Member
) -> None:
    answer = change(client, free_member.pk, free_member.pk)
    assert codes_of(answer) == [None]
    assert AuditLogEntry.objects.count() == 1


def test_actor_who_is_demoted_in_the_midst_changes_nobody_after_it(
    client: JSONClient, administrator: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [make_member() for _ in range(4)]
    real = bulk.BulkChange.apply

    def apply(self: Any, actor: Member, member_id: int, now: Any) -> None:
        real(self, actor, member_id, now)
        if member_id == members[1].pk:
            Member.objects.filter(pk=actor.pk).update(role="MODERATOR")

    monkeypatch.setattr(bulk.BulkChange, "apply", apply)
    answer = change(
        client,
        *[member.pk for member in members],
        action="SILENCE",
        until="2099-01-01T00:00:00Z",
    )
    assert codes_of(answer) == [None, None, "ADMIN_REQUIRED", "ADMIN_REQUIRED"]
    silenced = Member.objects.filter(silenced_until__isnull=False)
    assert set(silenced) == set(members[:2])


def test_only_administrators_change_members(free_member: Member) -> None:
    for actor in (free_member, make_member(role="MODERATOR")):
        answer = change(JSONClient(actor), free_member.pk)
        assert_problem(answer, 403, "ADMIN_REQUIRED")
