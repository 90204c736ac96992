"""Statements in standard formats, from their bytes to records."""

from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest

from ledger.imports.formats.cells import InvalidFileError
from ledger.imports.formats.contents import read_contents
from ledger.imports.records import (
    BadRow,
    ColumnMapping,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    RecordLine,
    Table,
    WalletBalance,
)
from ledger.imports.sources import recognize
from tests.support.import_samples import CAMT, MT940, OFX_1, OFX_2, QIF

OUT, IN = Direction.OUT, Direction.IN


def read(
    data: str | bytes, home: str = "KRW", mapping: ColumnMapping | None = None
) -> FileReading:
    encoded = data.encode() if isinstance(data, str) else data
    tables = [
        Table(kind, name, list(rows))
        for kind, name, rows in read_contents(encoded, None)
    ]
    source = recognize(tables)
    assert source is not None
    assert source.name == tables[0].kind
    return source.read(tables, mapping, ReadContext(date(2026, 9, 30), home))


def day(number: int) -> date:
    return date(2026, 9, number)


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_ofx_of_a_bank(encoding: str) -> None:
    reading = read(OFX_1.encode(encoding))
    text = "커피 & 빵 · 강남점"
    assert reading.records == [
        Record(2, day(5), OUT, 4_500, wallet="110-1", text=text, memo=text, external_id="F1"),
        Record(
            3, day(6), IN, 3_000_000, wallet="110-1", text="월급", memo="월급",
            external_id="F2",
        ),
        Record(
            4, day(7), OUT, 13_000, time=time(9, 30), wallet="110-1", text="Book",
            memo="Book", external_id="F3", currency="USD", original_amount=Decimal(10),
            exchange_rate=Decimal(1300),
        ),
    ]  # fmt: skip
    assert reading.balances == [WalletBalance("110-1", 2_982_500, day(30), "BANK")]


def test_ofx_of_a_card() -> None:
    reading = read(OFX_2)
    assert reading.records == [
        Record(
            2,
            day(5),
            OUT,
            4_500,
            wallet="9410",
            text="커피",
            memo="커피",
            external_id="C1",
        )
    ]
    assert reading.balances == [WalletBalance("9410", -4_500, day(30), "CARD")]


def test_ofx_in_a_western_code_page() -> None:
    data = OFX_1.replace("커피 &amp; 빵", "Café é").replace("강남점", "")
    data = data.replace("월급", "Gehalt")
    record = read(data.encode("cp1252")).records[0]
    assert isinstance(record, Record)
    assert record.text == "Café é"


def test_element_of_ofx_may_be_empty() -> None:
    records = read(OFX_1.replace("<MEMO>강남점", "<MEMO>\n<CHECKNUM>")).records
    assert [each.row for each in records] == [2, 3, 4]
    assert isinstance(records[0], Record)
    assert (records[0].text, records[0].external_id) == ("커피 & 빵", "F1")


def test_corrected_row_of_ofx_is_passed_over() -> None:
    data = OFX_1.replace("<FITID>F2", "<FITID>F2<CORRECTFITID>F1<CORRECTACTION>REPLACE")
    reading = read(data)
    assert [each.row for each in reading.records] == [3, 4]
    assert reading.passed_over == {"corrected": 1}


def test_foreign_account_has_original_amounts_alone() -> None:
    record = read(OFX_2.replace("KRW", "USD")).records[0]
    assert isinstance(record, Record)
    assert (record.amount, record.currency) == (None, "USD")
    assert record.original_amount == Decimal(4500)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("-4500.00", "four", "amount"),
        ("-4500.00", "-9999999999999", "amount"),
        ("20260905120000", "00000101", "date"),
        ("20260905120000", "99991231", "date"),
        ("강남점", "강남\0점", "text"),
        ("<CURSYM>USD", "<CURSYM>XXQ", "currency"),
    ],
)
def test_bad_row_of_ofx_names_its_field(old: str, new: str, field: str) -> None:
    bad = [
        each
        for each in read(OFX_1.replace(old, new)).records
        if isinstance(each, BadRow)
    ]
    assert [error.field for each in bad for error in each.errors] == [field]


def test_qif_with_accounts_splits_and_transfers() -> None:
    reading = read(QIF)
    assert reading.records == [
        Record(
            2, day(1), IN, 1_000_000, RecordKind.OPENING, wallet="통장",
            text="Opening Balance", memo="Opening Balance",
        ),
        Record(
            3, day(13), OUT, 12_000, wallet="통장", text="마트", memo="마트",
            lines=(
                RecordLine(10_000, "Food", "Groceries", "쌀"),
                RecordLine(2_000, wallet="저금통"),
            ),
        ),
        Record(
            4, day(14), OUT, 50_000, RecordKind.TRANSFER, wallet="통장",
            other_wallet="카드", text="이체", memo="이체",
        ),
        Record(
            5, day(16), OUT, 4_500, wallet="카드", category="Food", minor_category="Cafe",
            text="커피", memo="커피 · 진한 것",
        ),
    ]  # fmt: skip
    assert reading.mapping is not None
    assert reading.mapping.date_order == "mdy"
    assert len(reading.left_out) == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("9/5'26", day(5)), ("9/ 5'26", day(5)), ("09/05/26", day(5)), ("9/5/2026", day(5)),
        ("5.9.2026", day(5)), ("2026-09-05", day(5)), ("9/5/99", date(1999, 9, 5)),
        ("1/2' 5", date(2005, 1, 2)),
    ],
)  # fmt: skip
def test_dates_of_qif(written: str, expected: date) -> None:
    record = read(f"!Type:Bank\nD{written}\nT-5\nPx\n^\n").records[0]
    assert isinstance(record, Record)
    assert record.date == expected


def test_date_order_of_qif_can_be_told() -> None:
    record = read(
        "!Type:Bank\nD9/5/2026\nT-5\n^\n", mapping=ColumnMapping(1, (), "dmy")
    ).records[0]
    assert isinstance(record, Record)
    assert record.date == date(2026, 5, 9)


def test_parts_of_qif_that_do_not_add_up_are_an_error() -> None:
    record = read("!Type:Bank\nD9/5/2026\nT-5\nSFood\n$-4\n^\n").records[0]
    assert isinstance(record, BadRow)
    assert record.errors[0].field == "amount"


def test_rounded_parts_of_qif_add_up() -> None:
    data = "!Type:Bank\nD9/5/2026\nT-5.00\nSA\n$-1.50\nSB\n$-3.50\n^\n"
    record = read(data).records[0]
    assert isinstance(record, Record)
    assert [line.amount for line in record.lines] == [2, 3]
    assert record.amount == 5


def test_camt_with_pending_batch_and_reversal() -> None:
    reading = read(CAMT, "EUR")
    text = "Café Müller · Rechnung 7"
    assert reading.records == [
        Record(
            2, day(5), OUT, 12, wallet="DE02", text=text, memo=text, external_id="R1"
        ),
        Record(4, day(7), OUT, 10, wallet="DE02", text="a", memo="a"),
        Record(5, day(7), OUT, 20, wallet="DE02", text="b", memo="b"),
        Record(6, day(8), IN, 3, RecordKind.REFUND, wallet="DE02"),
    ]
    assert reading.passed_over == {"pending": 1}
    assert reading.balances == [WalletBalance("DE02", 88, day(30))]


def test_camt_in_another_currency() -> None:
    reading = read(CAMT)
    record = reading.records[0]
    assert isinstance(record, Record)
    assert (record.amount, record.currency) == (None, "EUR")
    assert record.original_amount == Decimal("12.34")
    assert (reading.balances, len(reading.left_out)) == ([], 1)


def test_mt940_with_two_accounts() -> None:
    reading = read(MT940, "EUR")
    texts: dict[str, Any] = {"text": "Kaffee am Markt", "memo": "Kaffee am Markt"}
    assert reading.records == [
        Record(2, day(5), OUT, 12, wallet="DE02/1234", external_id="B1", **texts),
        Record(
            3, day(7), IN, 3, RecordKind.REFUND, wallet="DE02/1234", text="Storno",
            memo="Storno",
        ),
        Record(
            4, day(8), IN, 5, wallet="DE03/9", text="Zinsen", memo="Zinsen",
            external_id="B2",
        ),
    ]  # fmt: skip
    assert reading.balances == [
        WalletBalance("DE02/1234", 91, day(30)),
        WalletBalance("DE03/9", 5, day(30)),
    ]


@pytest.mark.parametrize(
    "data",
    [
        OFX_1[: OFX_1.index("<NAME>월급")],
        OFX_1.replace("</STMTTRN>", "</WRONG>"),
        OFX_1[: OFX_1.index("<OFX>")],
        "<OFX></OFX>",
        CAMT[:900],
        CAMT.replace("</Ntry>", "</Entry>"),
        CAMT.replace("Stmt>", "Other>"),
        MT940.replace("2609050905D12,34", "2699990905D12,34"),
        MT940.replace("C260901EUR100,00", "nonsense"),
        "!Type:",
        "!Nothing\nD1\n^\n",
    ],
)
def test_damaged_statement_is_an_error(data: str) -> None:
    with pytest.raises(InvalidFileError):
        read(data)
