"""A required document that is published while somebody signs up (spec 2.20)."""

from typing import Any
from unittest import mock

import pytest
from django.utils import timezone

from accounts.legal import consents, documents
from accounts.models import Consent, LegalDocument, Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import call_before

pytestmark = pytest.mark.django_db(transaction=True)

BODY = {
    "loginId": "minji",
    "password": "gimchi-jjigae-42",
    "displayName": "Minji",
    "email": "minji@example.com",
}


def sign_up(**fields: Any) -> Any:
    return JSONClient().send("POST", "/api/auth/signup", BODY | fields)


def publish(kind: str = "TERMS") -> bool:
    """Publish a required document; return whether the new member was there before."""
    values = {"kind": kind, "version": "1", "locale": "en", "title": kind}
    documents.publish_document(
        make_member(role="ADMIN"),
        values | {"body": "x", "effective_at": timezone.now(), "required": True},
    )
    return Member.objects.filter(login_id="minji").exists()


def test_published_document_waits_for_a_sign_up_that_has_not_seen_it() -> None:
    unlocked = mock.patch.object(consents, "advisory_xact_lock")
    with unlocked, call_before('INSERT INTO "member"', publish) as other:
        assert sign_up().status_code == 201
    assert other.result() is False, "a member without consent, written after it"
    Member.objects.all().delete()
    accepted = [LegalDocument.objects.get().pk]

    def publish_privacy() -> bool:
        return publish("PRIVACY")

    with call_before('INSERT INTO "member"', publish_privacy) as other:
        answer = sign_up(consents=accepted)
    assert answer.status_code == 201
    assert other.result() is True
    assert Consent.objects.count() == 1


def test_sign_up_waits_for_a_document_that_is_being_published() -> None:
    with call_before('INSERT INTO "audit_log"', sign_up) as other:
        publish()
    assert other.result().status_code == 400
    assert not Member.objects.filter(login_id="minji").exists()
