"""Files of apps, banks and card issuers: samples, damaged ones, and all the others."""

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ledger.imports.errors import UnreadableFileError
from ledger.imports.records import BadRow, FileReading, Record, Table
from ledger.imports.sources import SOURCES, recognize
from tests.support.import_tables import (
    CONTEXT,
    describe,
    list_samples,
    read_expected,
    read_tables,
    source_of,
)

SAMPLES = list_samples()
TEXTS = [each for each in SAMPLES if each.suffix != ".xlsx"]
NAMED = sorted({source_of(sample) for sample in SAMPLES})
NONSENSE: list[Any] = [
    *("nonsense", "", "-", "12,34,5", "1e9", "\uffff", "=1+1", "9" * 30, "x" * 1_000),
    *(
        None,
        True,
        -1,
        0,
        1.5,
        1e300,
        46_000,
        "2026-13-45",
        "00:99",
        "Transfer : ",
        "3/",
    ),
    *("Split (1/9) x", "(SPLIT INTO 99) x", "(SPLIT 1 OF 2) x", "카드대금", "취소"),
]


def name_of(sample: Path) -> str:
    return sample.name


def read_as(sample: Path, tables: Sequence[Table]) -> FileReading:
    return SOURCES[source_of(sample)].read(tables, None, CONTEXT)


def change_row(tables: Sequence[Table], number: int, cells: list[Any]) -> list[Table]:
    """Return the tables with another row; the entries stand in the last table."""
    *others, last = tables
    rows = [*last.rows[: number - 1], cells, *last.rows[number:]]
    return [*others, Table(last.kind, last.name, rows)]


def list_entry_rows(sample: Path) -> list[int]:
    return [record[0] for record in read_expected(sample)["records"]]


def test_every_named_source_has_a_sample() -> None:
    generic = {"csv", "xlsx", "xls", "html", "ofx", "qif", "camt053", "mt940", "ledger"}
    assert set(SOURCES) - generic == set(NAMED)


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_sample_is_read_as_written_by_hand(sample: Path) -> None:
    tables = read_tables(sample.read_bytes())
    assert describe(read_as(sample, tables)) == read_expected(sample)


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_sample_is_recognized_by_its_own_source_alone(sample: Path) -> None:
    tables = read_tables(sample.read_bytes())
    found = [name for name in NAMED if SOURCES[name].recognizes(tables)]
    assert found == [source_of(sample)]
    assert recognize(tables) is SOURCES[source_of(sample)]


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_sample_is_refused_by_every_other_source(sample: Path) -> None:
    tables = read_tables(sample.read_bytes())
    for name in NAMED:
        if name != source_of(sample):
            with pytest.raises(UnreadableFileError, match="columns of this source"):
                SOURCES[name].read(tables, None, CONTEXT)


@pytest.mark.parametrize("sample", TEXTS, ids=name_of)
def test_korean_encoding_gives_the_same_records(sample: Path) -> None:
    text = sample.read_text()
    if not text.isascii() and "₩" not in text:
        tables = read_tables(text.encode("cp949"))
        assert describe(read_as(sample, tables)) == read_expected(sample)


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_mapping_names_fields_of_the_columns(sample: Path) -> None:
    reading = read_as(sample, read_tables(sample.read_bytes()))
    assert reading.mapping is not None
    fields = [each.field for each in reading.mapping.columns if each.field]
    assert "date" in fields
    assert {"amount", "out", "originalAmount"} & set(fields)
    assert len(fields) == len(set(fields))


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_cut_row_is_a_bad_one(sample: Path) -> None:
    """A row that ends behind its date is kept, with a reason."""
    tables = read_tables(sample.read_bytes())
    mapping = read_as(sample, tables).mapping
    assert mapping is not None
    date = next(each.column for each in mapping.columns if each.field == "date")
    for number in list_entry_rows(sample):
        cells = list(tables[-1].rows[number - 1][: date + 1])
        reading = read_as(sample, change_row(tables, number, cells))
        found = [each for each in reading.records if each.row == number]
        assert [type(each) for each in found] == [BadRow]


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_amounts_of_nonsense_make_bad_rows_and_no_others(sample: Path) -> None:
    tables = read_tables(sample.read_bytes())
    whole = read_as(sample, tables)
    assert whole.mapping is not None
    amounts = [
        each.column
        for each in whole.mapping.columns
        if each.field in {"amount", "out", "in", "originalAmount"}
    ]
    first, *_ = [each for each in whole.records if isinstance(each, Record)]
    cells = list(tables[-1].rows[first.row - 1])
    for column in amounts:
        if column < len(cells):
            cells[column] = "nonsense"
    reading = read_as(sample, change_row(tables, first.row, cells))
    bad = [each for each in reading.records if isinstance(each, BadRow)]
    assert first.row in {each.row for each in bad}
    damaged = next(each for each in bad if each.row == first.row)
    assert damaged.errors[0].field in {"amount", "out", "in", "originalAmount"}
    assert "nonsense" in damaged.errors[0].message
    assert "nonsense" in damaged.cells
    rest = [each for each in whole.records if each is not first]
    assert [each for each in reading.records if each.row != first.row] == rest


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_any_cell_may_hold_nonsense(sample: Path) -> None:
    """Reading ends with records or bad rows, each row once, whatever stands in it."""
    tables = read_tables(sample.read_bytes())
    chance = random.Random(sample.name)  # the same on each run
    for number, nonsense in product(list_entry_rows(sample), NONSENSE):
        cells = list(tables[-1].rows[number - 1])
        cells[chance.randrange(len(cells))] = nonsense
        reading = read_as(sample, change_row(tables, number, cells))
        rows = [each.row for each in reading.records]
        assert len(rows) == len(set(rows))


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_file_that_ends_early_keeps_what_stands_before(sample: Path) -> None:
    *others, last = read_tables(sample.read_bytes())
    whole = read_as(sample, [*others, last])
    assert whole.mapping is not None
    for length in range(whole.mapping.header_row, len(last.rows)):
        table = Table(last.kind, last.name, last.rows[:length])
        reading = read_as(sample, [*others, table])
        assert all(each.row <= length for each in reading.records)


def test_row_of_a_bank_says_why_it_is_none() -> None:
    tables = read_tables((SAMPLES[0].parent / "shinhanbank.csv").read_bytes())
    bad = SOURCES["shinhanbank"].read(tables, None, CONTEXT).records[2]
    assert isinstance(bad, BadRow)
    assert bad.errors[0].message == "Either goes out or comes in, not both."
    assert bad.cells[:3] == ("2026-09-03", "07:00:00", "펌뱅킹")
