"""Five years of a family, written into every format and read back: nothing is lost."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

import pytest

from ledger.imports.records import (
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
)
from ledger.imports.sources import SOURCES, recognize
from ledger.imports.texts import join_memo
from tests.support.import_family import (
    BANK,
    ENTRY_COUNT,
    FamilyEntry,
    balances_of,
    make_family,
    reduce_to,
    split_up,
    sums_of,
)
from tests.support.import_files import (
    APPS,
    BANKS,
    CARDS,
    Move,
    list_card_moves,
    list_moves,
    write_bank,
    write_card,
)
from tests.support.import_tables import read_tables

CONTEXT = ReadContext(date(2026, 9, 10), "KRW")
KINDS = {
    (RecordKind.FLOW, Direction.OUT): "expense",
    (RecordKind.FLOW, Direction.IN): "income",
    (RecordKind.REFUND, Direction.IN): "refund",
    (RecordKind.TRANSFER, Direction.OUT): "transfer",
    (RecordKind.OPENING, Direction.IN): "opening",
}


def read(source: str, data: bytes) -> FileReading:
    tables = read_tables(data)
    assert recognize(tables) is SOURCES[source]
    return SOURCES[source].read(tables, None, CONTEXT)


def records_of(reading: FileReading) -> list[Record]:
    records = [each for each in reading.records if isinstance(each, Record)]
    assert len(records) == len(reading.records)
    return records


def clean(text: str) -> str:
    return " ".join(text.split())


def describe_entry(entry: FamilyEntry) -> tuple[Any, ...]:
    """Return what a record of the entry says; a first balance says little."""
    is_opening = entry.kind == "opening"
    lines = [
        (line.amount, line.category, line.minor, line.memo, line.wallet)
        for line in entry.lines
    ]
    return (
        entry.kind, entry.date, entry.time, entry.amount, entry.wallet, entry.other,
        entry.category, entry.minor,
        "" if is_opening else join_memo(clean(entry.payee), clean(entry.memo)),
        entry.tags, entry.months, lines,
    )  # fmt: skip


def describe_record(record: Record, other: str | None) -> tuple[Any, ...]:
    is_opening = record.kind is RecordKind.OPENING
    lines = [
        (line.amount, line.category, line.minor_category, line.memo, line.wallet)
        for line in record.lines
    ]
    return (
        KINDS[record.kind, record.direction], record.date,
        None if is_opening else record.time, record.amount, record.wallet, other,
        record.category, record.minor_category, "" if is_opening else record.memo,
        record.tags, record.months, lines,
    )  # fmt: skip


def describe_records(records: Iterable[Record]) -> Iterator[tuple[Any, ...]]:
    """Describe records; both rows of a transfer are one."""
    waiting: Record | None = None
    for record in records:
        if record.kind is RecordKind.TRANSFER and record.direction is Direction.IN:
            assert waiting is not None
            assert waiting.other_wallet in {None, record.wallet}
            assert record.other_wallet in {None, waiting.wallet}
            assert (waiting.amount, waiting.date) == (record.amount, record.date)
            yield describe_record(waiting, record.wallet)
            waiting = None
            continue
        if waiting is not None:
            yield describe_record(waiting, waiting.other_wallet)
        waiting = None
        if record.kind is RecordKind.TRANSFER:
            waiting = record
        else:
            yield describe_record(record, record.other_wallet)
    if waiting is not None:
        yield describe_record(waiting, waiting.other_wallet)


@pytest.mark.parametrize("source", APPS)
def test_file_of_an_app_has_every_entry(source: str) -> None:
    family = make_family()
    written = APPS[source](family)
    reading = read(source, written.data)
    expected = list(map(describe_entry, reduce_to(family, written.lost)))
    assert list(describe_records(records_of(reading))) == expected


def test_family_has_what_imports_get_wrong() -> None:
    family = make_family()
    assert len(family) == ENTRY_COUNT + 3
    assert len({each.wallet for each in family}) == 4
    assert {each.kind for each in family} == {
        *("opening", "expense", "income", "refund", "transfer"),
    }
    lines = [line for each in family for line in each.lines]
    assert any(line.amount < 0 for line in lines)
    assert any(line.wallet for line in lines)
    assert any(each.months for each in family)
    assert any(set(',"\n') & set(each.payee + each.memo) for each in family)
    assert sum(balances_of(family).values()) == _net_worth(family)


def _net_worth(family: Iterable[FamilyEntry]) -> int:
    """Return first balances and incomes less expenses: transfers change nothing."""
    openings = sum(each.amount for each in family if each.kind == "opening")
    put_aside = sum(
        line.amount for each in family for line in each.lines if line.wallet
    )
    flows = sum(
        each.signed for each in family if each.kind in {"income", "expense", "refund"}
    )
    return openings + flows + put_aside


@pytest.mark.parametrize("lost", [("splits",), ("mixedLines",), ("majors", "times")])
def test_what_a_format_loses_changes_no_balance(lost: tuple[str, ...]) -> None:
    family = make_family()
    assert balances_of(reduce_to(family, lost)) == balances_of(family)
    assert sums_of(reduce_to(family, lost)) == sums_of(family)


def test_parts_of_an_entry_add_up_to_it() -> None:
    for entry in make_family():
        if entry.lines:
            assert sum(part.signed for part in split_up(entry)) == entry.signed


def signed(record: Record) -> int:
    amount = record.amount or 0
    return amount if record.direction is Direction.IN else -amount


@pytest.mark.parametrize("source", BANKS)
def test_list_of_a_bank_has_every_move(source: str) -> None:
    family = make_family()
    reading = read(source, write_bank(source, family))
    found = [(each.date, each.time, signed(each)) for each in records_of(reading)]
    moves = list_moves(family, BANK)
    assert found == [(m.entry.date, m.entry.time, m.amount) for m in moves]
    (balance,) = reading.balances
    assert balance.amount == balances_of(family)[BANK]
    assert balance.date == moves[-1].entry.date


def describe_purchase(move: Move) -> tuple[Any, ...]:
    is_back = move.amount > 0
    kind = RecordKind.CANCELLATION if is_back else RecordKind.FLOW
    months = None if is_back else move.entry.months
    return kind, move.entry.date, move.entry.time, move.amount, months, move.text


@pytest.mark.parametrize("source", CARDS)
def test_list_of_a_card_has_every_purchase(source: str) -> None:
    family = make_family()
    reading = read(source, write_card(source, family))
    found = [
        (each.kind, each.date, each.time, signed(each), each.months, each.memo)
        for each in records_of(reading)
    ]
    assert found == list(map(describe_purchase, list_card_moves(family)))
