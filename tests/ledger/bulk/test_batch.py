"""Several writes of entries as one request (spec 3.25)."""

import uuid
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, Ledger, Tag
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry
from tests.support.factories import make_category, make_entry, make_tag, make_wallet
from tests.support.fakes import FakeRates
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

BATCH = f"{ENTRIES}/batch"
IDS = [str(uuid.UUID(int=number)) for number in range(1, 9)]


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def send(client: JSONClient, *operations: Any, **more: Any) -> Any:
    return client.send("POST", BATCH, {"operations": operations} | more)


def create(number: int | None = None, **values: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {"op": "create", "entry": PLAIN | values}
    if number is not None:
        operation["clientId"] = IDS[number]
    return operation


def run(client: JSONClient, *operations: Any, **more: Any) -> list[Any]:
    """Return the results; each write must show in the totals."""
    answer = send(client, *operations, **more)
    assert answer.status_code == 200, answer.content
    assert_rollups_are_right()
    results: list[Any] = answer.data["results"]
    assert [each["index"] for each in results] == list(range(len(operations)))
    return results


def test_new_entries_are_those_that_single_requests_make(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    other = JSONClient(other_member)
    bodies = []
    for member in (premium_member, other_member):
        wallets = [make_wallet(member, name=f"w{number}").pk for number in range(2)]
        food, tag = make_category(member, name="Food"), make_tag(member, name="out")
        lines = [{"amount": 3, "categoryId": food.pk}, {"amount": 2, "memo": "m"}]
        moved = {"type": "transfer", "walletId": wallets[0], "toWalletId": wallets[1]}
        bodies.append(
            [
                PLAIN | {"memo": "a", "category": "Food", "tags": ["out"]},
                PLAIN | {"categoryId": food.pk, "tagIds": [tag.pk], "time": "09:05"},
                PLAIN | {"amount": 5, "lines": lines, "walletId": wallets[0]},
                PLAIN | moved,
                PLAIN
                | {"type": "income", "category": "Food", "excluded": True}
                | {"categoryType": "expense"},
                PLAIN
                | {"amount": None, "currency": "USD", "originalAmount": "2.5"}
                | {"exchangeRate": "1300"},
                # These need more than their shape.
                PLAIN | {"category": "New", "tags": ["new", "out"]},
                PLAIN | {"category": "New", "memo": "after it"},
            ]
        )
    results = run(client, *({"op": "create", "entry": body} for body in bodies[0]))
    assert {each["status"] for each in results} == {201}
    for body in bodies[1]:
        assert other.send("POST", ENTRIES, body).status_code == 201
    lists = []
    for each in (client, other):
        rows = each.get_json(ENTRIES, size=100)["results"]
        lists.append([strip(row) for row in rows])
    assert lists[0] == lists[1]
    versions = {row["version"] for row in client.get_json(ENTRIES)["results"]}
    assert versions == {each["version"] for each in results}
    assert versions == {Ledger.objects.get(member=premium_member).revision}


def strip(value: Any) -> Any:
    """Return an entry without what differs between two ledgers."""
    if isinstance(value, list):
        return [strip(each) for each in value]
    if not isinstance(value, dict):
        return value
    left_out = {"id", "walletId", "toWalletId", "categoryId", "tagIds", "version"}
    left_out |= {"createdAt", "updatedAt"}
    return {name: strip(v) for name, v in value.items() if name not in left_out}


def test_operations_see_what_earlier_ones_have_done(client: JSONClient) -> None:
    results = run(
        client,
        create(0, memo="first"),
        create(1),
        {"op": "update", "clientId": IDS[0], "entry": {"memo": "second"}},
        {"op": "delete", "clientId": IDS[1]},
        create(0),
        create(2),
        {"op": "confirm", "clientId": IDS[2]},
    )
    statuses = [each["status"] for each in results]
    assert statuses == [201, 201, 200, 204, 200, 201, 200]
    assert [each["clientId"] for each in results] == [
        IDS[number] for number in (0, 1, 0, 1, 0, 2, 2)
    ]
    assert results[0]["id"] == results[2]["id"] == results[4]["id"]
    assert (results[1]["version"], results[3]["version"]) == (None, None)
    rows = client.get_json(ENTRIES)["results"]
    assert {row["memo"] for row in rows} == {"second", ""}
    # All of it again, as after a lost answer.
    assert send(client, create(0), create(1)).status_code == 400
    results = run(client, create(0), create(1), create(2), atomic=False)
    assert [each["status"] for each in results] == [200, 409, 200]
    assert results[1]["error"]["code"] == "DELETED"


def test_pending_entry_is_confirmed_with_corrections(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member, pending=True)
    (result,) = run(client, {"op": "confirm", "id": entry.pk, "entry": {"memo": "x"}})
    entry.refresh_from_db()
    assert (entry.pending, entry.memo) == (False, "x")
    assert result["version"] == entry.version


def test_all_or_nothing(client: JSONClient, premium_member: Member) -> None:
    entry = make_entry(premium_member)
    before = Ledger.objects.get(member=premium_member).revision
    for bad, field, code in (
        ({"op": "delete", "id": entry.pk + 9}, "id", "NOT_FOUND"),
        ({"op": "delete", "clientId": IDS[7]}, "clientId", "NOT_FOUND"),
        ({"op": "delete", "id": entry.pk, "ifVersion": 99}, "", "VERSION_CONFLICT"),
        (create(category="New", walletId=entry.pk + 9), "walletId", "does_not_exist"),
        (create(lines=[{"amount": 1}, {"amount": 2}]), "lines", "mismatch"),
    ):
        answer = send(client, create(0, tags=["new"]), bad)
        name = ".".join(filter(None, ("operations.1", field)))
        assert_invalid(answer, name)
        assert answer.data["errors"][0]["code"] == code
    assert list(Entry.objects.all()) == [entry]
    assert not Tag.objects.exists()
    assert Ledger.objects.get(member=premium_member).revision == before


def test_each_for_itself(client: JSONClient, premium_member: Member) -> None:
    entry = make_entry(premium_member)
    results = run(
        client,
        create(0, memo="a"),
        create(amount=0),
        {"op": "update", "id": entry.pk, "entry": {"type": "x"}},
        {"op": "update", "id": entry.pk, "entry": {"amount": 7}},
        {"op": "delete", "id": entry.pk, "ifVersion": 0},
        create(lines=[{"amount": 1}, {"amount": 2}]),
        create(1, category="New"),
        create(2, category="New"),
        atomic=False,
    )
    statuses = [each["status"] for each in results]
    assert statuses == [201, 400, 400, 200, 412, 400, 201, 201]
    errors = [each["error"] for each in results]
    assert errors[1]["errors"][0]["field"] == "amount"
    assert errors[4]["code"] == "VERSION_CONFLICT"
    assert errors[4]["current"]["amount"] == 7
    assert errors[5]["code"] == "LINES_MISMATCH"
    entry.refresh_from_db()
    assert (entry.amount, Entry.objects.count()) == (7, 4)
    assert Category.objects.count() == 1


def test_own_changes_are_no_conflict(
    client: JSONClient, premium_member: Member
) -> None:
    path = f"{ENTRIES}/{make_entry(premium_member).pk}"
    row = client.get_json(path)
    update = {"op": "update", "id": row["id"], "ifVersion": row["version"]}
    run(client, update | {"entry": {"memo": "a"}}, update | {"entry": {"amount": 2}})
    changed = client.get_json(path)
    assert (changed["memo"], changed["amount"]) == ("a", 2)


@pytest.mark.parametrize(
    ("operations", "fields"),
    [
        ([], ["operations"]),
        ([create()] * 501, ["operations"]),
        (None, ["operations"]),
        ([{"op": "move", "id": 1}], ["operations.0.op"]),
        ([{"id": 1}], ["operations.0.op"]),
        (["create"], ["operations.0"]),
        ([create() | {"id": 1}], ["operations.0.id"]),
        ([create() | {"ifVersion": 1}], ["operations.0.ifVersion"]),
        ([create() | {"clientId": "x"}], ["operations.0.clientId"]),
        ([create(0, clientId=IDS[1])], ["operations.0.clientId"]),
        ([create(amont=1)], ["operations.0.amont"]),
        ([create() | {"memo": "x"}], ["operations.0.memo"]),
        ([{"op": "create"}], ["operations.0.entry"]),
        ([{"op": "create", "entry": []}], ["operations.0.entry"]),
        ([{"op": "update", "id": 1}], ["operations.0.entry"]),
        ([{"op": "update", "entry": {}}], ["operations.0.id"]),
        ([{"op": "delete", "id": 2**63}], ["operations.0.id"]),
        ([{"op": "delete", "id": "1"}], ["operations.0.id"]),
        ([{"op": "delete", "id": 1, "ifVersion": -1}], ["operations.0.ifVersion"]),
        ([{"op": "delete", "id": 1, "entry": {}}], ["operations.0.entry"]),
        (
            [{"op": "delete", "id": 1, "clientId": IDS[0]}],
            ["operations.0.clientId"],
        ),
        # A later operation makes it.
        (
            [{"op": "delete", "clientId": IDS[0]}, create(0)],
            ["operations.0.clientId"],
        ),
        (
            [create(amount=-1), create(), create(date="x", type=None)],
            ["operations.0.amount", "operations.2.date", "operations.2.type"],
        ),
    ],
)
def test_bad_batches_are_refused(
    operations: Any, fields: list[str], client: JSONClient
) -> None:
    answer = client.send("POST", BATCH, {"operations": operations})
    assert_invalid(answer, *fields)
    assert not Entry.objects.exists()


def test_rows_of_another_member_are_unknown(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_entry(other_member)
    category, wallet = make_category(other_member), make_wallet(other_member)
    results = run(
        client,
        {"op": "delete", "id": theirs.pk},
        {"op": "update", "id": theirs.pk, "entry": {"memo": "x"}},
        {"op": "confirm", "id": theirs.pk},
        create(categoryId=category.pk),
        create(walletId=wallet.pk),
        atomic=False,
    )
    assert [each["status"] for each in results] == [404, 404, 404, 400, 400]
    assert list(Entry.objects.values_list("pk", "memo")) == [(theirs.pk, theirs.memo)]


def test_batch_under_a_key_is_written_once(client: JSONClient) -> None:
    body = {"operations": [create(), create(category="New")]}
    answers = [
        client.send("POST", BATCH, body, HTTP_IDEMPOTENCY_KEY="key") for _ in range(2)
    ]
    assert answers[0].data == answers[1].data
    assert Entry.objects.count() == 2


def test_all_missing_rates_are_looked_up_first(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390", "2026-11-01")
    days = [f"2026-11-{day:02}" for day in range(1, 9)]
    foreign: dict[str, Any] = {"amount": None, "currency": "USD", "originalAmount": "2"}
    results = run(client, *(create(None, date=day, **foreign) for day in days))
    assert {each["status"] for each in results} == {201}
    assert len(fx_source.calls) == len(days)
    # Each of these needs another rate, which only its turn shows.
    updates = [
        {"op": "update", "id": each["id"], "entry": {"currency": "EUR"}}
        for each in results
    ]
    fx_source.quote("EUR", "KRW", "1600", "2026-11-01")
    results = run(client, *updates)
    assert {each["status"] for each in results} == {200}


def test_rate_that_is_unavailable_fails_its_operation(
    client: JSONClient, fx_source: FakeRates
) -> None:
    foreign = create(None, amount=None, currency="USD", originalAmount="2")
    results = run(client, foreign, create(), atomic=False)
    assert [each["status"] for each in results] == [502, 201]
    assert_problem(send(client, create(), foreign), 502, "PROVIDER_UNAVAILABLE")
    assert Entry.objects.count() == 1


def test_full_ledger_takes_as_many_as_there_is_room_for(
    client: JSONClient, premium_member: Member
) -> None:
    Ledger.objects.owned_by(premium_member).update(income_count=499_999)
    three = [create(), create(), create(0)]
    answer = send(client, *three)
    assert_invalid(answer, "operations.1")
    assert answer.data["errors"][0]["code"] == "LIMIT_REACHED"
    results = send(client, *three, atomic=False).data["results"]
    assert [each["status"] for each in results] == [201, 409, 409]
    assert results[2]["error"]["code"] == "LIMIT_REACHED"
    assert Entry.objects.count() == 1


def test_full_ledger_gives_no_id_twice(
    client: JSONClient, premium_member: Member
) -> None:
    for operations, statuses in (
        ([create(), create(0), create(0)], [201, 409, 409]),
        ([create(1), create(1), create()], [201, 200, 409]),
        ([create(), create(category="New"), create(2)], [201, 409, 409]),
    ):
        Ledger.objects.owned_by(premium_member).update(income_count=499_999)
        Entry.objects.owned_by(premium_member).delete()
        Ledger.objects.owned_by(premium_member).update(
            income_count=499_999, expense_count=0
        )
        results = send(client, *operations, atomic=False).data["results"]
        assert [each["status"] for each in results] == statuses
        (entry_id,) = Entry.objects.values_list("pk", flat=True)
        ids = {each["id"] for each in results if each["status"] < 300}
        assert ids == {entry_id}


def test_failure_does_not_take_what_waited_with_it(client: JSONClient) -> None:
    results = run(
        client,
        create(memo="a"),
        create(refundOf=10**6),
        create(memo="b"),
        {"op": "delete", "id": 10**6},
        atomic=False,
    )
    assert [each["status"] for each in results] == [201, 400, 201, 404]
    memos = Entry.objects.order_by("pk").values_list("memo", flat=True)
    assert list(memos) == ["a", "b"]


def test_what_follows_an_entry_is_no_conflict(client: JSONClient) -> None:
    expense = create_entry(client, PLAIN | {"category": "A"})
    path = f"{ENTRIES}/{expense['id']}/refund"
    refund = client.send("POST", path, {"amount": 1}).data
    expense = client.get_json(f"{ENTRIES}/{expense['id']}")
    first = {"op": "update", "id": expense["id"], "entry": {"category": "B"}}
    second = {"op": "update", "id": refund["id"], "entry": {"memo": "mine"}}
    run(
        client,
        first | {"ifVersion": expense["version"]},
        second | {"ifVersion": refund["version"]},
    )
    refund = client.get_json(f"{ENTRIES}/{refund['id']}")
    assert (refund["category"], refund["memo"]) == ("B", "mine")


def test_row_is_judged_before_its_new_values(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member)
    bad = {"entry": {"amount": "x"}}
    results = run(
        client,
        {"op": "update", "id": entry.pk + 9, **bad},
        {"op": "update", "id": entry.pk, "ifVersion": 99, **bad},
        {"op": "update", "id": entry.pk, **bad},
        atomic=False,
    )
    assert [each["status"] for each in results] == [404, 412, 400]


def test_statements_of_mixed_batches(
    client: JSONClient, premium_member: Member, django_assert_max_num_queries: Any
) -> None:
    entries = [make_entry(premium_member) for _ in range(20)]
    operations: list[dict[str, Any]] = []
    for number, entry in enumerate(entries):
        operations.append(create(memo=str(number)))
        operations.append({"op": "update", "id": entry.pk, "entry": {"memo": "x"}})
    # Names are not read again for each of them.
    with django_assert_max_num_queries(19 * 20 + 30):
        run_only(client, *operations)


def run_only(client: JSONClient, *operations: Any) -> None:
    assert send(client, *operations).status_code == 200
