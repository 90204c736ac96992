"""Undo of any operation at once gives back equal data, whatever it was (spec 3.27)."""

import random

import pytest

from accounts.models import Member
from tests.support.operations import Phone, dump_ledger
from tests.support.random_operations import ALL, Scene
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
