"""What support sees of a member, and who learns of it (spec 7.13)."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from accounts.models import (
    AuditLogEntry,
    AuthSession,
    Consent,
    LegalDocument,
    Member,
    SecurityLogEntry,
)
from administration.members import set_member_plan
from tests.support.accounts import MEMBERS
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member, make_wallet
from tests.support.problems import assert_problem
from tests.support.purchases import make_purchase
from tests.support.second_factors import SEED, give_recovery_codes, give_totp

SECRETS = ("My bank", "110-222-333444", "lunch with Kim", "token-of-the-store", SEED)


def read(client: JSONClient, member: Member, reason: str = "lost phone") -> Any:
    query = urlencode({"reason": reason})
    return client.send("GET", f"{MEMBERS}/{member.pk}/support?{query}")


def add_data(member: Member, *, rows: int = 1) -> None:
    """Add rows to everything that the answer tells of."""
    now = timezone.now()
    wallet = make_wallet(member, name="My bank")
    for number in range(rows):
        make_entry(member, wallet=wallet, memo="lunch with Kim")
        make_purchase(member, f"GPA.{member.pk}-{number}")
        document = LegalDocument.objects.create(
            kind="TERMS",
            version=f"{member.pk}-{number}",
            locale="ko",
            title="이용 약관",
            body="서로 존중해요.",
            effective_at=now,
            required=False,
        )
        Consent.objects.create(member=member, document=document, accepted=True)
        AuthSession.objects.create(
            key_hash=f"{member.pk:032}{number:032}",
            kind="TOKEN",
            scopes=["ledger:read"],
            name=f"Tablet {number}",
            member=member,
            created_at=now + timedelta(seconds=number),
            expires_at=now + timedelta(9),
        )
        SecurityLogEntry.objects.create(member=member, kind="LOGIN")
        JSONClient(member)


def test_support_sees_what_it_needs_and_nothing_of_the_ledger(
    client: JSONClient, administrator: Member
) -> None:
    member = make_member(status="ACTIVE", silence_reason="insults")
    give_totp(member)
    give_recovery_codes(member)
    add_data(member, rows=2)
    set_member_plan(administrator, member.pk, "PREMIUM")
    answer = read(client, member).data
    assert answer["member"]["loginId"] == member.login_id
    assert answer["factors"]["totp"] is True
    assert answer["factors"]["recoveryCodesLeft"] == 10
    assert [each["name"] for each in answer["tokens"]] == ["Tablet 1", "Tablet 0"]
    assert len(answer["sessions"]) == 2
    assert answer["consents"][0]["version"].endswith("-1")
    assert answer["purchases"][0]["orderId"] == f"GPA.{member.pk}-1"
    texts = [each["text"] for each in answer["staffActions"]]
    assert texts == ["Support view. Reason: lost phone", "Plan PREMIUM."]
    assert (answer["ledgerRows"]["entries"], answer["ledgerRows"]["wallets"]) == (2, 1)
    assert answer["securityEvents"][0]["kind"] == "SUPPORT_VIEWED"
    text = json.dumps(answer, default=str, ensure_ascii=False)
    for secret in (*SECRETS, member.password, "0" * 31):
        assert secret not in text


def test_reading_is_logged_with_its_reason_and_seen_by_the_member(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    assert read(client, free_member, "order GPA.1 is missing").status_code == 200
    entry = AuditLogEntry.objects.get()
    assert (entry.actor_id, entry.action) == (administrator.pk, "READ")
    assert entry.target_id == str(free_member.pk)
    assert entry.text == "Support view. Reason: order GPA.1 is missing"
    events = JSONClient(free_member).get_json("/api/auth/security-events")["results"]
    (event,) = [each for each in events if each["kind"] == "SUPPORT_VIEWED"]
    assert event["byStaff"] is True
    # Nothing of staff but that they read it.
    assert (event["address"], event["client"], event["detail"]) == (None, "", "")


@pytest.mark.parametrize("query", [{}, {"reason": ""}, {"reason": "x" * 201}])
def test_without_a_reason_nothing_is_read(
    client: JSONClient, free_member: Member, query: Any
) -> None:
    path = f"{MEMBERS}/{free_member.pk}/support?{urlencode(query)}"
    response = client.send("GET", path)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert response.data["errors"][0]["field"] == "reason"
    assert not AuditLogEntry.objects.exists()
    assert not SecurityLogEntry.objects.filter(kind="SUPPORT_VIEWED").exists()


def test_reason_may_be_as_long_as_said(client: JSONClient, free_member: Member) -> None:
    assert read(client, free_member, "x" * 200).status_code == 200


def test_member_that_does_not_exist_is_404(client: JSONClient) -> None:
    path = f"{MEMBERS}/987654321/support"
    assert_problem(client.send("GET", path), 404, "NOT_FOUND")


def test_only_administrators_read(free_member: Member, other_member: Member) -> None:
    for reader in (free_member, make_member(role="MODERATOR")):
        answer = read(JSONClient(reader), other_member)
        assert_problem(answer, 403, "ADMIN_REQUIRED")
    assert not AuditLogEntry.objects.exists()


def test_number_of_statements_is_the_same_for_one_row_and_twenty(
    client: JSONClient, django_assert_num_queries: Any
) -> None:
    few, many = make_member(), make_member()
    add_data(few)
    add_data(many, rows=25)
    read(client, few)
    for member in (few, many):
        with django_assert_num_queries(17):
            answer = read(client, member).data
        assert len(answer["purchases"]) == (1 if member == few else 20)
