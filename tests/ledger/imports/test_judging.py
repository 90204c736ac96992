"""What rows of a file are to a ledger (spec 3.29). Pure."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from ledger.cards.existing_payments import BillsOfCards
from ledger.imports.judging import (
    JudgedRow,
    KnownEntry,
    KnownKey,
    KnownLedger,
    Reason,
    judge,
    separate_rows,
)
from ledger.imports.keys import number_rows
from ledger.imports.records import Direction, Record, RecordKind
from ledger.models.imports import ImportAction, ImportStatus

BANK, CARD = 1, 2
DAY = datetime.date(2026, 9, 10)


def day(offset: int) -> datetime.date:
    return DAY + datetime.timedelta(offset)


def out(amount: int, offset: int = 0, wallet: Any = BANK, **more: Any) -> Any:
    return wallet, Record(
        more.pop("row", 0), day(offset), Direction.OUT, amount, **more
    )


def come(amount: int, offset: int = 0, wallet: Any = BANK, **more: Any) -> Any:
    return wallet, Record(more.pop("row", 0), day(offset), Direction.IN, amount, **more)


def run(
    placed: Sequence[Any],
    entries: Sequence[KnownEntry] = (),
    keys: Any = None,
    others: dict[int, Any] | None = None,
) -> list[JudgedRow]:
    placed = [(record, wallet) for wallet, record in placed]
    rows = [
        JudgedRow(record, wallet, (others or {}).get(number), digests)
        for number, ((record, wallet), digests) in enumerate(
            zip(placed, number_rows(placed), strict=True)
        )
    ]
    judge(rows, KnownLedger(keys or {}, entries))
    return rows


def entry(amount: int, offset: int = 0, **more: Any) -> KnownEntry:
    values: dict[str, Any] = {
        "id": 7,
        "type": "expense",
        "amount": amount,
        "date": day(offset),
        "time": None,
        "wallet_id": BANK,
        "to_wallet_id": None,
        "pending": False,
        "has_category": False,
        "is_notified": False,
        "is_half": True,
        "memo": "",
        "currency": None,
        "original_amount": None,
        "keyed": (),
    }
    return KnownEntry(**(values | more))


def statuses(rows: Sequence[JudgedRow]) -> list[str]:
    return [row.status.value for row in rows]


def test_unknown_rows_are_new() -> None:
    rows = run([out(5), come(6)])
    assert statuses(rows) == ["NEW", "NEW"]
    assert [row.action for row in rows] == [ImportAction.IMPORT] * 2


def test_equal_rows_have_different_keys_and_the_same_in_the_next_file() -> None:
    first, second = run([out(5, text="Coffee"), out(5, text="Coffee")])
    assert first.digests != second.digests
    keys = {first.digests[0]: [KnownKey(frozenset({BANK}), 7, False)]}
    # The next file has two of them again: one is new.
    assert statuses(
        run([out(5, text="coffee "), out(5, text="Coffee")], keys=keys)
    ) == [
        "DUPLICATE",
        "NEW",
    ]


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"text": " COFFEE"}, True),
        ({"text": "Tea"}, False),
        ({"time": datetime.time(9)}, False),
        ({"memo": "mine", "text": "Coffee"}, True),
    ],
)
def test_key_is_of_date_time_amount_and_text(
    change: dict[str, Any], is_same: bool
) -> None:
    (row,) = run([out(5, text="Coffee")])
    (other,) = run([out(5, **({"text": "Coffee"} | change))])
    assert (row.digests == other.digests) is is_same


def test_either_key_is_enough() -> None:
    # Banks change their ids.
    (row,) = run([out(5, text="Coffee", external_id="A1")])
    for digest in row.digests:
        keys = {digest: [KnownKey(frozenset({BANK}), 7, False)]}
        (found,) = run([out(5, text="Coffee", external_id="A1")], keys=keys)
        assert (found.status, found.entry_id) == ("DUPLICATE", 7)


def test_key_of_another_wallet_is_none_of_the_row() -> None:
    (row,) = run([out(5)])
    keys = {row.digests[0]: [KnownKey(frozenset({CARD}), 7, False)]}
    assert statuses(run([out(5)], keys=keys)) == ["NEW"]
    moved = {row.digests[0]: [KnownKey(frozenset({99, BANK}), 7, False)]}
    assert statuses(run([out(5)], keys=moved)) == ["DUPLICATE"]


def test_new_name_of_a_wallet_that_was_deleted_is_known_by_half_of_its_rows() -> None:
    placed = [out(5, wallet="Old"), out(6, wallet="Old"), out(7, wallet="Old")]
    digests = [row.digests[0] for row in run(placed)]
    moved = KnownKey(frozenset({99, BANK}), 7, False, is_moved=True)
    for count, found in ((1, 0), (2, 2), (3, 3)):
        keys = {digest: [moved] for digest in digests[:count]}
        expected = ["DUPLICATE"] * found + ["NEW"] * (3 - found)
        assert statuses(run(placed, keys=keys)) == expected


def test_row_whose_entry_was_deleted_stays_out_until_it_is_wanted() -> None:
    (row,) = run([out(5)])
    keys = {row.digests[0]: [KnownKey(frozenset({BANK}), None, True)]}
    (found,) = run([out(5)], keys=keys)
    assert (found.status, found.reason) == ("DUPLICATE", Reason.KNOWN_DELETED)
    assert found.action == ImportAction.SKIP
    found.chosen = ImportAction.IMPORT
    assert found.action == ImportAction.IMPORT.value


def test_living_duplicate_is_never_imported() -> None:
    # "Show duplicates" also imported them.
    (row,) = run([out(5)])
    keys = {row.digests[0]: [KnownKey(frozenset({BANK}), 7, False)]}
    (found,) = run([out(5)], keys=keys)
    found.chosen = ImportAction.IMPORT
    assert found.action is ImportAction.SKIP


@pytest.mark.parametrize(("offset", "is_found"), [(0, True), (3, True), (4, False)])
def test_entry_of_three_days_around_is_a_likely_duplicate(
    offset: int, is_found: bool
) -> None:
    for sign in (1, -1):
        (row,) = run([out(5)], [entry(5, sign * offset)])
        assert row.status == ("LIKELY_DUPLICATE" if is_found else "NEW")
        assert row.entry_id == (7 if is_found else None)


@pytest.mark.parametrize(
    "other",
    [
        {"amount": 6},
        {"wallet_id": CARD, "has_category": True},
        {"type": "income", "has_category": True},
        {"keyed": (BANK,)},
    ],
)
def test_other_entries_are_no_duplicates(other: dict[str, Any]) -> None:
    (row,) = run([out(5)], [entry(**({"amount": 5} | other))])
    assert row.status == "NEW"


def test_payments_of_other_minutes_are_two() -> None:
    nine, ten = datetime.time(9), datetime.time(10)
    for is_notified, time, status in (
        (True, ten, "NEW"),
        (True, datetime.time(9, 4), "LIKELY_DUPLICATE"),
        (True, None, "LIKELY_DUPLICATE"),
        # A person types in about the time.
        (False, ten, "LIKELY_DUPLICATE"),
    ):
        known = entry(5, time=time, is_notified=is_notified)
        assert statuses(run([out(5, time=nine)], [known])) == [status]


def test_an_entry_is_matched_once_and_the_nearest_first() -> None:
    rows = run([out(5, 2), out(5, 0), out(5, 1)], [entry(5, 0), entry(5, 2, id=8)])
    assert [row.entry_id for row in rows] == [8, 7, None]


def test_foreign_entry_is_found_by_its_original_amount() -> None:
    known = entry(13_000, currency="USD", original_amount=Decimal(10), pending=True)
    row = out(13_120, currency="USD", original_amount=Decimal(10))
    assert statuses(run([row], [known])) == ["LIKELY_DUPLICATE"]


def test_two_opposite_rows_are_one_transfer() -> None:
    rows = run([out(5), come(5, 4, CARD)])
    assert statuses(rows) == ["TRANSFER", "PAIRED"]
    assert (rows[0].other, rows[1].other) == (CARD, BANK)
    assert rows[1].action is ImportAction.MERGE


@pytest.mark.parametrize(
    "second",
    [
        come(5, -1, CARD),  # Money that arrives before it left.
        come(5, 5, CARD),
        come(5, 0, BANK),
        come(6, 0, CARD),
        out(5, 0, CARD),
        come(5, 0, CARD, category="Salary"),
    ],
)
def test_other_rows_are_no_transfer(second: Any) -> None:
    assert statuses(run([out(5), second])) == ["NEW", "NEW"]


def test_rows_that_say_transfer_go_first_with_each_other() -> None:
    told: dict[str, Any] = {"kind": RecordKind.TRANSFER}
    rows = run([out(5), come(5, 1, CARD, **told), out(5, 1, **told)])
    assert statuses(rows) == ["NEW", "PAIRED", "TRANSFER"]


def test_many_transfers_of_one_amount_pair_by_minute() -> None:
    told: dict[str, Any] = {"kind": RecordKind.TRANSFER, "text": "이체"}
    minutes = [datetime.time(9, minute) for minute in range(40)]
    outs = [out(5, time=minute, **told) for minute in minutes]
    ins = [come(5, 0, CARD, time=minute, **told) for minute in reversed(minutes)]
    rows = run([*outs, *ins])
    assert statuses(rows) == ["TRANSFER"] * 40 + ["PAIRED"] * 40
    for row in rows[:40]:
        assert row.other_row is not None
        assert row.other_row.record.time == row.record.time


def test_named_counterpart_must_be_the_other_wallet() -> None:
    told: dict[str, Any] = {"kind": RecordKind.TRANSFER}
    rows = run([out(5, **told), come(5, 0, CARD, **told)], others={0: 3})
    assert statuses(rows) == ["TRANSFER", "UNPAIRED"]


def test_row_with_both_wallets_is_a_transfer_alone() -> None:
    (row,) = run([out(5, kind=RecordKind.TRANSFER)], others={0: CARD})
    assert (row.status, row.reason) == ("TRANSFER", Reason.BOTH_WALLETS)
    (alone,) = run([out(5, kind=RecordKind.TRANSFER)])
    assert alone.status == "UNPAIRED"


def test_row_and_entry_of_another_wallet_are_one_transfer() -> None:
    known = entry(5, 2, type="income", wallet_id=CARD)
    (row,) = run([out(5)], [known])
    assert (row.status, row.reason, row.other) == (
        ImportStatus.PAIRED,
        Reason.WITH_ENTRY,
        CARD,
    )
    (late,) = run([come(5, 0, CARD)], [entry(5, -2)])
    assert late.reason is Reason.WITH_ENTRY


@pytest.mark.parametrize(
    "other",
    [{"date": day(-1)}, {"has_category": True}, {"is_half": False}, {"amount": 6}],
)
def test_other_entries_of_another_wallet_are_no_transfer(other: Any) -> None:
    known = entry(**({"amount": 5, "type": "income", "wallet_id": CARD} | other))
    assert statuses(run([out(5)], [known])) == ["NEW"]


def test_second_side_of_a_transfer_finds_it() -> None:
    known = entry(5, type="transfer", to_wallet_id=CARD, is_half=False, keyed=(BANK,))
    (row,) = run([come(5, 2, CARD)], [known])
    assert (row.status, row.reason) == ("LIKELY_DUPLICATE", Reason.SIDE_OF_TRANSFER)
    both = known._replace(keyed=(BANK, CARD))
    assert statuses(run([come(5, 2, CARD)], [both])) == ["NEW"]


def test_cancellation_takes_its_purchase_with_it() -> None:
    cancel = come(5, 2, kind=RecordKind.CANCELLATION, memo="Shop")
    rows = run([out(5, memo="Shop"), cancel, out(5, 1, memo="Other")])
    assert [row.reason for row in rows] == [
        Reason.CANCELLED,
        Reason.CANCELLED,
        Reason.NEW,
    ]
    assert [row.action for row in rows[:2]] == [ImportAction.SKIP] * 2


def test_cancellation_of_an_imported_purchase_is_its_refund() -> None:
    (purchase,) = run([out(5, memo="Shop")])
    keys = {purchase.digests[0]: [KnownKey(frozenset({BANK}), 7, False)]}
    cancel = come(5, 2, kind=RecordKind.CANCELLATION, memo="Shop")
    rows = run([out(5, memo="Shop"), cancel], keys=keys)
    assert statuses(rows) == ["DUPLICATE", "REFUND"]
    assert rows[1].entry_id == 7
    # Without its purchase it is a refund of nothing that is known.
    (alone,) = run([cancel])
    assert (alone.status, alone.entry_id) == ("REFUND", None)


def test_pair_that_the_member_separates_becomes_two_rows() -> None:
    rows = run([out(5), come(5, 0, CARD)])
    rows[1].chosen = ImportAction.IMPORT
    separate_rows(rows)
    assert statuses(rows) == ["NEW", "NEW"]
    assert rows[0].other is None
    rows = run([out(5), come(5, 0, CARD)])
    rows[0].chosen = ImportAction.SKIP
    separate_rows(rows)
    assert [row.action for row in rows] == [ImportAction.SKIP] * 2


def test_steps_stay_linear_for_equal_amounts() -> None:
    wallets = [BANK, CARD, 3]
    rows = run([out(5, n % 5, wallets[n % 3], text=str(n)) for n in range(20_000)])
    assert len(rows) == 20_000


def test_row_that_is_no_entry_cannot_be_merged() -> None:
    (row,) = run([come(5, kind=RecordKind.REFUND)])
    row.chosen = ImportAction.MERGE
    assert (row.status, row.action) == ("REFUND", ImportAction.IMPORT)
    row.target = 7
    assert row.action is ImportAction.MERGE


def paid_bill(*shares: tuple[int, int], **more: Any) -> KnownEntry:
    """Return the transfer that has paid the bill of cards 2 and 3."""
    to_wallet = None if shares else CARD
    values = {"to_wallet_id": to_wallet, "shares": shares, "is_half": False} | more
    return entry(58_000, type="transfer", **values)


SHARES = ((CARD, 50_000), (3, 8_000))
BILLS = BillsOfCards({3: CARD})


def run_bills(placed: Sequence[Any], *entries: KnownEntry) -> list[JudgedRow]:
    records = [(record, wallet) for wallet, record in placed]
    rows = [
        JudgedRow(record, wallet, None, digests)
        for (record, wallet), digests in zip(records, number_rows(records), strict=True)
    ]
    judge(rows, KnownLedger({}, entries, BILLS))
    return rows


@pytest.mark.parametrize("shares", [(), SHARES])
@pytest.mark.parametrize("wallet", [CARD, 3])
@pytest.mark.parametrize(
    ("offset", "is_same"), [(-2, False), (-1, True), (4, True), (5, False)]
)
def test_whole_payment_on_a_card_of_the_bill(
    shares: tuple[tuple[int, int], ...], wallet: int, offset: int, is_same: bool
) -> None:
    (row,) = run_bills([come(58_000, offset, wallet)], paid_bill(*shares))
    reason = Reason.SIDE_OF_TRANSFER if is_same else Reason.NEW
    assert (row.reason, row.entry_id) == (reason, 7 if is_same else None)


@pytest.mark.parametrize("keyed", [(), (CARD,), (3,)])
def test_payment_of_a_bill_has_one_whole_row_or_its_shares(
    keyed: tuple[int, ...],
) -> None:
    placed = [come(50_000, 0, CARD), come(8_000, 0, 3), come(58_000, 0, CARD)]
    rows = run_bills(placed, paid_bill(*SHARES, keyed=keyed))
    expected = [CARD not in keyed, 3 not in keyed, False]
    assert [row.reason is Reason.SIDE_OF_TRANSFER for row in rows] == expected


def test_lines_of_another_split_are_no_sides() -> None:
    split = paid_bill()._replace(to_wallet_id=None)
    for row in run_bills([come(8_000, 0, 3), come(58_000, 0, CARD)], split):
        assert row.reason is Reason.NEW


def test_move_between_cards_of_a_bill_is_no_payment() -> None:
    moved = paid_bill(wallet_id=3, keyed=(CARD,))
    (row,) = run_bills([come(58_000, 0, 3)], moved)
    assert row.reason is Reason.NEW


def test_wallet_without_a_bill_is_no_card_of_it() -> None:
    (row,) = run_bills([come(58_000, 0, 4)], paid_bill(*SHARES))
    assert row.reason is Reason.NEW
