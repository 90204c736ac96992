"""Reminders of marketing consents (spec 2.20)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.legal import reminders
from accounts.legal.reminders import (
    _LIST_DUE,
    LATE,
    DueConsent,
    _remind,
    remind_of_marketing_consents,
)
from accounts.models import (
    Consent,
    ConsentReminder,
    InboxItem,
    LegalDocument,
    Member,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.mail import read_waiting_mails

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TWO_YEARS_AGO = NOW.replace(year=2024)


@pytest.fixture
def marketing() -> LegalDocument:
    return LegalDocument.objects.create(
        kind="MARKETING",
        version="1",
        locale="en",
        title="Marketing",
        body="News.",
        effective_at=NOW - timedelta(days=4_000),
        required=False,
    )


def agree(
    member: Member, document: LegalDocument, at: datetime, *, accepted: bool = True
) -> None:
    Consent.objects.create(member=member, document=document, at=at, accepted=accepted)


def test_consent_of_two_years_is_reminded_of_once(
    free_member: Member, marketing: LegalDocument, mail_folder: Path
) -> None:
    agree(free_member, marketing, TWO_YEARS_AGO)
    assert remind_of_marketing_consents(NOW - timedelta(days=1)) == 0
    assert remind_of_marketing_consents(NOW) == 1
    for days in (0, 1, 6, 7, 61, 700):
        assert remind_of_marketing_consents(NOW + timedelta(days=days)) == 0
    phone = JSONClient(free_member)
    (item,) = phone.get_json("/api/inbox")["results"]
    assert item["kind"] == "CONSENT"
    assert "take it back" in item["text"]
    (mail,) = read_waiting_mails()
    day = timezone.localtime(TWO_YEARS_AGO)
    assert f"{day:%Y-%m-%d}" in mail.text


def test_consent_is_reminded_of_again_after_four_years(
    free_member: Member, marketing: LegalDocument
) -> None:
    agree(free_member, marketing, TWO_YEARS_AGO)
    assert remind_of_marketing_consents(NOW) == 1
    # The inbox keeps items for 90 days.
    InboxItem.objects.all().delete()
    later = NOW.replace(year=2028)
    assert remind_of_marketing_consents(later - timedelta(days=1)) == 0
    assert remind_of_marketing_consents(later) == 1


def test_member_who_deletes_the_notice_is_not_told_again(
    free_member: Member, marketing: LegalDocument
) -> None:
    agree(free_member, marketing, TWO_YEARS_AGO)
    for day in range(8):
        remind_of_marketing_consents(NOW + timedelta(days=day))
        InboxItem.objects.all().delete()
    assert ConsentReminder.objects.count() == 1


def test_however_many_are_due_all_are_reminded(
    marketing: LegalDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reminders, "BATCH_SIZE", 2)
    for _ in range(5):
        agree(make_member(), marketing, TWO_YEARS_AGO)
    assert remind_of_marketing_consents(NOW) == 5


def test_consent_that_is_taken_back_meanwhile_is_not_reminded_of(
    free_member: Member, marketing: LegalDocument
) -> None:
    agree(free_member, marketing, TWO_YEARS_AGO)
    consent = Consent.objects.get()
    due = DueConsent(consent.pk, free_member.pk, marketing.pk, TWO_YEARS_AGO, 1)
    agree(free_member, marketing, NOW, accepted=False)
    assert not _remind(due)
    assert not InboxItem.objects.exists()


def test_due_consents_are_found_by_their_day(marketing: LegalDocument) -> None:
    with connection.cursor() as cursor:
        # The members are not there.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO consent (member_id, document_id, accepted, at) SELECT g, %s,"
            " true, %s - g * interval '1 hour' FROM generate_series(1, 20000) g",
            [marketing.pk, NOW],
        )
        cursor.execute("ANALYZE consent")
        values: dict[str, Any] = {
            "now": NOW,
            "years": 2,
            "most": 20,
            "late": LATE,
            "batch": 10,
        }
        cursor.execute(f"EXPLAIN {_LIST_DUE}", values | {"after": 0})
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "consent_by_day" in plan
    assert "Seq Scan on consent " not in plan


def test_run_that_failed_is_made_up_for(
    free_member: Member, marketing: LegalDocument
) -> None:
    agree(free_member, marketing, TWO_YEARS_AGO)
    assert remind_of_marketing_consents(NOW + timedelta(days=59)) == 1


@pytest.mark.parametrize("kind", ["taken back", "renewed", "refused", "other"])
def test_only_a_standing_marketing_consent_is_reminded_of(
    free_member: Member, marketing: LegalDocument, kind: str
) -> None:
    document = marketing
    if kind == "other":
        document = LegalDocument.objects.create(
            kind="TERMS",
            version="1",
            locale="en",
            title="Terms",
            body="Be kind.",
            effective_at=TWO_YEARS_AGO,
            required=True,
        )
    agree(free_member, document, TWO_YEARS_AGO, accepted=kind != "refused")
    if kind in {"taken back", "renewed"}:
        agree(free_member, document, NOW, accepted=kind == "renewed")
    assert remind_of_marketing_consents(NOW) == 0


def test_each_member_is_reminded_and_one_who_left_is_not(
    free_member: Member, marketing: LegalDocument
) -> None:
    leaving = make_member()
    for member in (free_member, leaving, make_member()):
        agree(member, marketing, TWO_YEARS_AGO)
    delete_account(leaving)
    assert remind_of_marketing_consents(NOW) == 2
