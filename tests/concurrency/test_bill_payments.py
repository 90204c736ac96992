"""Payment, texts and import of one bill at once make one transfer (spec 4.12).

Each race is shown first without the ledger's lock, or without what is asked before the
transfer is made.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import cycle, islice
from typing import Any
from unittest import mock

import pytest

from accounts.models import Member
from ledger.base import ledger_write
from ledger.cards import automatic_payments, paying
from ledger.models import Entry
from ledger.notifications import imported
from tests.support.bill_payments import DUE, BillScene, make_client
from tests.support.calendar_oracle import LONG_AGO, travel_to
from tests.support.factories import make_member
from tests.support.imports import IMPORTS, read_file
from tests.support.races import call_before, run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(3, 20)
REQUESTS = 16
CREATE = "account_create_entry"
# Before the rows of a commit are written, after they were judged.
BEFORE_WRITING = "SELECT array_agg(nextval"


@pytest.fixture(autouse=True)
def _payment_date() -> Iterator[None]:
    with travel_to(DUE):
        yield


def make_scene(*, is_group: bool = False) -> BillScene:
    member = make_member(role="ADMIN")
    Member.objects.filter(pk=member.pk).update(premium_since=LONG_AGO)
    return BillScene(make_client(member), is_group=is_group)


@contextmanager
def without_lock() -> Iterator[None]:
    with mock.patch.object(ledger_write, "advisory_xact_lock"):
        yield


@contextmanager
def without_question() -> Iterator[None]:
    """Let the payers not ask for a payment, and texts not look for one."""
    with ExitStack() as stack:
        for module, name in (
            (automatic_payments, "has_payment"),
            (paying, "has_pending_payment"),
        ):
            stack.enter_context(mock.patch.object(module, name, return_value=False))
        find = mock.patch.object(
            imported, "adopt_payment", lambda _, plan, *__: (plan, 0)
        )
        stack.enter_context(find)
        yield


def count_transfers(scene: BillScene) -> int:
    entries = Entry.objects.filter(member=scene.client.member)
    return entries.filter(type="transfer").count()


def commit_call(scene: BillScene) -> Callable[[], Any]:
    found = read_file(scene.client, scene.bank_file(), walletId=scene.bank)
    path = f"{IMPORTS}/{found['id']}/commit"
    return partial(scene.client.send, "POST", path)


@pytest.mark.parametrize(
    ("without", "payer"),
    [
        (without_lock, "pay"),
        (without_lock, "run_job"),
        (without_question, "pay"),
        (without_question, "run_job"),
    ],
)
def test_text_within_a_payment(without: Any, payer: str) -> None:
    def send_while_paying(open_: Any) -> int:
        scene = make_scene()
        with open_(), call_before(CREATE, scene.send) as sent:
            getattr(scene, payer)()
            sent.result()
        return count_transfers(scene)

    assert send_while_paying(without) == 2
    assert send_while_paying(nullcontext) == 1


@pytest.mark.parametrize("without", [without_lock, without_question])
@pytest.mark.parametrize("payer", ["pay", "run_job"])
def test_payment_within_a_text(without: Any, payer: str) -> None:
    def pay_while_sending(open_: Any) -> int:
        scene = make_scene()
        with open_(), call_before(CREATE, getattr(scene, payer)) as paid:
            scene.send()
            paid.result()
        return count_transfers(scene)

    assert pay_while_sending(without) == 2
    assert pay_while_sending(nullcontext) == 1


@pytest.mark.parametrize("payer", ["pay", "run_job"])
def test_payment_within_a_commit(payer: str) -> None:
    def pay_while_committing(open_: Any) -> int:
        scene = make_scene()
        commit = commit_call(scene)
        with open_(), call_before(BEFORE_WRITING, getattr(scene, payer)) as paid:
            assert commit().status_code == 200
            paid.result()
        return count_transfers(scene)

    assert pay_while_committing(without_lock) == 2
    assert pay_while_committing(nullcontext) == 1


@pytest.mark.parametrize("is_group", [False, True])
def test_all_at_once_leave_one_transfer(is_group: bool) -> None:
    for number in range(ROUNDS):
        scene = make_scene(is_group=is_group)
        calls = [scene.pay, scene.send, commit_call(scene), scene.run_job]
        turned = calls[number % len(calls) :] + calls[: number % len(calls)]
        run_concurrently(list(islice(cycle(turned), REQUESTS)))
        scene.assert_paid_once()
    assert_rollups_are_right()
