"""A false booking that is deleted teaches refusal (spec 4.11)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification, TaughtLayout
from tests.support.alert_texts import APPROVAL, ENTRIES, NOTIFICATION, PUSH
from tests.support.clients import JSONClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

LAYOUTS = f"{ENTRIES}/layouts"
FALSE = "[새봄전자] 복지포인트 신한카드 50,000원 승인 11/10 08:31 새봄복지몰"
NEXT = "[새봄전자] 복지포인트 신한카드 72,300원 승인 11/12 19:05 새봄복지몰"
LATER = "[새봄전자] 복지포인트 신한카드 1,900원 승인 11/14 07:11 새봄복지몰"
OTHER = "[새봄전자] 복지포인트 신한카드 8,000원 승인 11/15 12:00 소라분식"


def delete(client: JSONClient, entry_id: int, reason: str | None = "NO_PAYMENT") -> Any:
    query = f"?reason={reason}" if reason else ""
    return client.send("DELETE", f"{ENTRIES}/{entry_id}{query}")


def test_text_of_a_false_booking_is_refused(client: JSONClient, send: Any) -> None:
    assert delete(client, send(FALSE)["entry"]["id"]).status_code == 204
    (layout,) = client.get_json(LAYOUTS)
    assert (layout["kind"], layout["slots"], layout["unsure"]) == ("none", [], False)
    assert "50,000" not in layout["sample"]
    answer = send(NEXT)
    assert (answer["action"], answer["reason"]) == ("IGNORED", "TAUGHT")
    assert answer["entry"] is None
    assert answer["parsed"]["taughtBy"] == layout["id"]
    assert answer["parsed"]["recognized"] is False
    assert client.get_json(LAYOUTS)[0]["uses"] == 1
    assert not Entry.objects.exists()
    parsed = client.send("POST", f"{ENTRIES}/parse", {"text": NEXT}).data
    assert (parsed["reason"], parsed["taughtBy"]) == ("TAUGHT", layout["id"])


def test_other_texts_and_senders_stay(client: JSONClient, send: Any) -> None:
    delete(client, send(FALSE)["entry"]["id"])
    assert send(OTHER)["action"] == "CREATED"
    assert send(NEXT, sender="1588-0000")["action"] == "CREATED"


def test_of_another_member_nothing_is_refused(
    client: JSONClient, send: Any, other_member: Member
) -> None:
    delete(client, send(FALSE)["entry"]["id"])
    other_member.plan = "PREMIUM"
    other_member.save()
    answer = JSONClient(other_member).send("POST", NOTIFICATION, {"text": NEXT})
    assert answer.data["action"] == "CREATED"


def test_plain_deletion_teaches_nothing(client: JSONClient, send: Any) -> None:
    delete(client, send(FALSE)["entry"]["id"], reason=None)
    assert client.get_json(LAYOUTS) == []
    assert send(NEXT)["action"] == "CREATED"


def test_unknown_reason_deletes_nothing(client: JSONClient, send: Any) -> None:
    answer = delete(client, send(FALSE)["entry"]["id"], reason="OTHER")
    assert answer.status_code == 400
    assert answer.data["errors"][0]["field"] == "reason"
    assert Entry.objects.exists()


def test_confirmed_entry_is_deleted_and_teaches_nothing(
    client: JSONClient, send: Any
) -> None:
    entry_id = send(FALSE)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{entry_id}/confirm")
    assert delete(client, entry_id).status_code == 204
    assert client.get_json(LAYOUTS) == []


@pytest.mark.parametrize("is_deleted", [False, True])
def test_layout_that_was_ever_confirmed_is_not_sure_instead(
    client: JSONClient, send: Any, is_deleted: bool
) -> None:
    confirmed = send(OTHER)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{confirmed}/confirm")
    if is_deleted:
        delete(client, confirmed, reason=None)
    delete(client, send(FALSE)["entry"]["id"])
    (layout,) = client.get_json(LAYOUTS)
    assert (layout["kind"], layout["slots"], layout["unsure"]) == ("approval", [], True)
    for text in (NEXT, OTHER.replace("8,000", "8,100")):
        assert send(text)["action"] == "CREATED"


def test_undo_of_the_deletion_forgets_the_refusal(
    client: JSONClient, send: Any
) -> None:
    entry_id = send(FALSE)["entry"]["id"]
    operation = delete(client, entry_id).headers["Operation-Id"]
    undone = client.send("POST", f"/api/account/operations/{operation}/undo", {})
    assert undone.status_code == 200, undone.content
    assert client.get_json(LAYOUTS) == []
    assert client.get_json(f"{ENTRIES}/{entry_id}")["pending"] is True
    assert send(NEXT)["action"] == "CREATED"


def test_forgotten_refusal_refuses_nothing(client: JSONClient, send: Any) -> None:
    delete(client, send(FALSE)["entry"]["id"])
    (layout,) = client.get_json(LAYOUTS)
    client.send("DELETE", f"{LAYOUTS}/{layout['id']}")
    assert send(NEXT)["action"] == "CREATED"


def test_same_refusal_is_stored_once(client: JSONClient, send: Any) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    delete(client, first)
    delete(client, second)
    assert TaughtLayout.objects.count() == 1
    assert send(LATER)["reason"] == "TAUGHT"


def test_correction_replaces_the_refusal(client: JSONClient, send: Any) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    delete(client, first)
    client.send("PATCH", f"{ENTRIES}/{second}", {"memo": "복지포인트"})
    (layout,) = client.get_json(LAYOUTS)
    assert layout["kind"] == "approval"
    assert send(LATER)["action"] == "CREATED"


def confirm(client: JSONClient, entry_id: int) -> None:
    assert client.send("POST", f"{ENTRIES}/{entry_id}/confirm").status_code == 200


def undo(client: JSONClient, response: Any) -> None:
    path = f"/api/account/operations/{response.headers['Operation-Id']}/undo"
    undone = client.send("POST", path, {})
    assert undone.status_code == 200, undone.content


def assert_asked(answer: Any) -> None:
    """Nothing is lost in silence: the entry is there, and not sure."""
    assert answer["action"] == "CREATED", answer
    assert answer["entry"]["doubts"] == ["KIND"]


def test_refusal_yields_to_a_later_confirmation(client: JSONClient, send: Any) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    delete(client, first)
    confirm(client, second)
    assert_asked(send(LATER))


def test_newer_doubt_outweighs_an_older_refusal(client: JSONClient, send: Any) -> None:
    first, second, third = (send(text)["entry"]["id"] for text in (FALSE, NEXT, OTHER))
    delete(client, first)
    confirm(client, third)
    delete(client, second)
    assert_asked(send(LATER))


def test_entry_that_came_back_and_was_confirmed_guards_its_layout(
    client: JSONClient, send: Any
) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    undo(client, delete(client, first))
    confirm(client, first)
    delete(client, second)
    assert_asked(send(LATER))


def test_layout_is_guarded_whatever_was_taught_in_between(
    client: JSONClient, send: Any
) -> None:
    confirm(client, send(FALSE)["entry"]["id"])
    start = OTHER.index("신한카드")
    slots = {
        "merchant": {"start": start, "end": start + 4},
        "amount": {"start": OTHER.index("8,000"), "end": OTHER.index("8,000") + 5},
    }
    body = {"text": OTHER, "kind": "approval", "slots": slots}
    assert client.send("POST", LAYOUTS, body).status_code == 201
    delete(client, send(NEXT)["entry"]["id"])
    answer = send(LATER)
    assert (answer["action"], answer["entry"]["unsure"]) == ("CREATED", True)


def test_each_announcement_of_a_confirmed_payment_guards_its_layout(
    client: JSONClient, send: Any
) -> None:
    confirm(client, send(APPROVAL)["entry"]["id"])
    # It comes after the confirmation.
    assert send(PUSH)["action"] == "DUPLICATE"
    assert Notification.objects.filter(is_confirmed=True).count() == 2
    second = send(PUSH.replace("08:31", "09:31"))["entry"]["id"]
    delete(client, second)
    assert_asked(send(PUSH.replace("08:31", "10:31")))


@pytest.mark.django_db(transaction=True)
def test_undo_of_one_of_two_deletions_leaves_the_refusal(
    client: JSONClient, send: Any
) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    responses = [delete(client, each) for each in (first, second)]
    undo(client, responses[1])
    assert send(LATER)["reason"] == "TAUGHT"
    undo(client, responses[0])
    assert client.get_json(LAYOUTS) == []


def test_undo_leaves_what_was_taught_by_itself(client: JSONClient, send: Any) -> None:
    entry_id = send(FALSE)["entry"]["id"]
    client.send("POST", LAYOUTS, {"text": NEXT, "kind": "none"})
    undo(client, delete(client, entry_id))
    assert send(LATER)["reason"] == "TAUGHT"


def test_correction_of_the_name_leaves_the_doubt(client: JSONClient, send: Any) -> None:
    confirm(client, send(OTHER)["entry"]["id"])
    delete(client, send(FALSE)["entry"]["id"])
    entry_id = send(NEXT)["entry"]["id"]
    client.send("PATCH", f"{ENTRIES}/{entry_id}", {"memo": "복지포인트"})
    assert [row["unsure"] for row in client.get_json(LAYOUTS)] == [False, True]
    assert send(LATER)["entry"]["doubts"] == ["KIND"]


def test_corrected_refusal_is_no_payment_of_any_text(
    client: JSONClient, send: Any
) -> None:
    first, second = (send(text)["entry"]["id"] for text in (FALSE, NEXT))
    delete(client, first)
    client.send("PATCH", f"{ENTRIES}/{second}", {"memo": "복지포인트"})
    assert not TaughtLayout.objects.get().is_complete
