"""Texts that are booked or taught at the same time count once."""

from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, TaughtLayout, UnsureText
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_member, make_unsure_text
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(3, 12)
LAYOUTS = f"{ENTRIES}/layouts"
TAUGHT = {
    "text": "[식권] 7890 소라분식 에서 8,000냥 썼어요",
    "kind": "approval",
    "slots": {"amount": {"start": 18, "end": 23}, "merchant": {"start": 10, "end": 14}},
}


def book(client: JSONClient, text_id: int) -> Any:
    return client.send("POST", f"{NOTIFICATION}/{text_id}/book", {})


def begin(**fields: Any) -> tuple[Member, JSONClient]:
    member = make_member(plan="PREMIUM", **fields)
    return member, JSONClient(member)


def test_text_that_is_booked_at_the_same_time_is_one_entry() -> None:
    for _ in range(ROUNDS):
        member, client = begin()
        text_id = make_unsure_text(member).pk
        answers = run_concurrently([partial(book, client, text_id)] * 8)
        assert sorted_statuses(answers) == [201, *[409] * 7]
        assert Entry.objects.owned_by(member).count() == 1
        assert TaughtLayout.objects.owned_by(member).count() == 1


def test_text_that_is_taught_at_the_same_time_is_one_layout() -> None:
    for _ in range(ROUNDS):
        member, client = begin()
        calls = [partial(client.send, "POST", LAYOUTS, TAUGHT)] * 8
        assert sorted_statuses(run_concurrently(calls)) == [201] * 8
        assert TaughtLayout.objects.owned_by(member).count() == 1


def test_booking_beside_the_deletion_of_the_account_leaves_nothing() -> None:
    for _ in range(ROUNDS):
        member, client = begin()
        text_id = make_unsure_text(member).pk
        booked, deleted = run_concurrently(
            [
                partial(book, client, text_id),
                partial(client.send, "DELETE", "/api/auth/me"),
            ]
        )
        assert deleted.status_code in {200, 204}, deleted.content
        assert booked.status_code in {201, 401, 404, 409}, booked.content
        assert not UnsureText.objects.filter(member_id=member.pk).exists()
        assert not any(count_rows_of(member).values())


def test_refusal_beside_the_confirmation_loses_no_payment() -> None:
    text = "[새봄전자] 복지포인트 신한카드 50,000원 승인 11/10 08:31 복지몰"
    for _ in range(ROUNDS):
        member, client = begin()
        entry = client.send("POST", NOTIFICATION, {"text": text}).data["entry"]
        path = f"{ENTRIES}/{entry['id']}"
        deleted, confirmed = run_concurrently(
            [
                partial(client.send, "DELETE", f"{path}?reason=NO_PAYMENT"),
                partial(client.send, "POST", f"{path}/confirm"),
            ]
        )
        assert deleted.status_code == 204
        is_refused = TaughtLayout.objects.owned_by(member).exists()
        assert is_refused == (confirmed.status_code == 404)
