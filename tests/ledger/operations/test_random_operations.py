"""Undo of any operation at once gives back equal data, whatever it was (spec 3.27)."""

import json
import random
from typing import Any

import pytest

from accounts.models import Member
from tests.support.operations import OPERATIONS, Phone, dump_ledger
from tests.support.random_operations import ALL, ENTRIES, Scene, restore
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("seed", range(scaled(3, 60)))
def test_ledger_is_as_before(seed: int, premium_member: Member) -> None:
    draw = random.Random(seed)
    phone = Phone(premium_member)
    scene = Scene(phone, premium_member, draw)
    scene.fill(40)
    done = 0
    for _ in range(scaled(2, 12)):
        for operate in draw.sample(ALL, len(ALL)):
            send = operate(scene)
            before = dump_ledger(premium_member)
            answer = send and send()
            if answer is None or answer.status_code >= 300:
                continue
            after = dump_ledger(premium_member)
            operation_id = answer.headers.get("Operation-Id")
            if operation_id is None:
                assert after == before, operate
                continue
            assert_rollups_are_right()
            undone = phone.undo(operation_id)
            assert undone["keptCount"] == 0, (operate, undone)
            assert dump_ledger(premium_member) == before, operate
            redone = phone.undo(undone["operationId"])
            assert redone["keptCount"] == 0, (operate, redone)
            assert dump_ledger(premium_member) == after, operate
            if draw.random() < 0.7:
                phone.undo(redone["operationId"])
                assert dump_ledger(premium_member) == before, operate
            done += 1
    assert done > 10


def rows_by_id(rows: list[str]) -> dict[int, Any]:
    return {row["id"]: row for row in map(json.loads, rows)}


def edit_some(scene: Scene, ids: list[int]) -> None:
    """Edit or delete some of the entries that an operation has written."""
    for entry_id in scene.random.sample(ids, min(len(ids), 4)):
        path = f"{ENTRIES}/{entry_id}"
        if scene.random.random() < 0.4:
            scene.phone.send("DELETE", path)
        else:
            scene.phone.send("PATCH", path, {"memo": "edited", "tags": ["edited"]})


@pytest.mark.parametrize("seed", range(scaled(3, 60)))
def test_ledger_is_as_before_but_for_what_was_kept(
    seed: int, premium_member: Member
) -> None:
    draw = random.Random(1_000 + seed)
    scene = Scene(Phone(premium_member), premium_member, draw)
    scene.fill(40)
    done = 0
    for operate in draw.sample(ALL, len(ALL)) * scaled(1, 4):
        send = operate(scene)
        before = rows_by_id(dump_ledger(premium_member)["Entry"])
        answer = send and send()
        if operate is restore or answer is None or answer.status_code >= 300:
            continue
        operation_id = answer.headers.get("Operation-Id")
        if operation_id is None:
            continue
        page = scene.phone.get_json(f"{OPERATIONS}/{operation_id}", size=100)["rows"]
        written = [row["id"] for row in page["results"] if row["kind"] == "entry"]
        edit_some(scene, written)
        edited = rows_by_id(dump_ledger(premium_member)["Entry"])
        path = f"{OPERATIONS}/{operation_id}/undo"
        undone = scene.phone.send("POST", path, {})
        assert_rollups_are_right()
        if undone.status_code != 200:
            # A wallet was deleted with its last entry.
            assert undone.data["code"] in {"REFERENCE_GONE", "NOT_UNDOABLE"}
            continue
        after = rows_by_id(dump_ledger(premium_member)["Entry"])
        kept = {row["id"] for row in undone.data["kept"] if row["kind"] == "entry"}
        for entry_id in before.keys() | edited.keys() | after.keys():
            is_undone = entry_id in written and entry_id not in kept
            expected = (before if is_undone else edited).get(entry_id)
            found = after.get(entry_id)
            assert without_links(found) == without_links(expected), (operate, entry_id)
        done += 1
    assert done


def without_links(row: Any) -> Any:
    """Leave out what follows from another entry: the expense of a refund."""
    return row and {
        name: value for name, value in row.items() if name != "refund_of_id"
    }
