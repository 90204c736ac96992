"""Records of tables of any columns."""

from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any

import pytest

from ledger.imports.errors import InvalidMappingError, UnreadableFileError
from ledger.imports.records import (
    BadRow,
    ColumnMapping,
    Direction,
    FileReading,
    MappedColumn,
    ReadContext,
    Record,
    RecordKind,
    Table,
)
from ledger.imports.sources import SOURCES, recognize

CONTEXT = ReadContext(date(2026, 9, 10), "KRW")
DAY = date(2026, 9, 5)
OUT, IN = Direction.OUT, Direction.IN
FLOW, REFUND = RecordKind.FLOW, RecordKind.REFUND


def read(
    rows: Sequence[Sequence[Any]], mapping: ColumnMapping | None = None
) -> FileReading:
    tables = [Table("csv", "", rows)]
    source = recognize(tables)
    assert source is SOURCES["csv"]
    return source.read(tables, mapping, CONTEXT)


def flows(reading: FileReading) -> list[tuple[Direction, int | None, RecordKind]]:
    return [
        (each.direction, each.amount, each.kind)
        for each in reading.records
        if isinstance(each, Record)
    ]


def errors_of(record: Record | BadRow) -> dict[str, str]:
    assert isinstance(record, BadRow)
    return {each.field: each.message for each in record.errors}


def test_bank_with_two_columns_of_amounts() -> None:
    reading = read(
        [
            ["○○은행"],
            ["거래일시", "적요", "출금액(원)", "입금액(원)", "잔액"],
            ["2026.09.05 13:20:11", "커피 \n 가게", "4,500", "0", "1"],
            ["2026.09.06", "월급", "", "3,000,000", "2"],
            [],
            ["합계", "", "4,500", "3,000,000"],
            ["※ 참고용입니다"],
        ]
    )
    assert reading.records == [
        Record(
            3,
            DAY,
            OUT,
            4_500,
            time=time(13, 20, 11),
            text="커피 가게",
            memo="커피 가게",
        ),
        Record(4, date(2026, 9, 6), IN, 3_000_000, text="월급", memo="월급"),
    ]
    assert reading.passed_over == {"empty": 1, "total": 1, "note": 1}
    assert reading.mapping is not None
    assert reading.mapping.header_row == 2


def test_every_field_is_read() -> None:
    reading = read(
        [
            [
                *(
                    "날짜",
                    "시간",
                    "타입",
                    "대분류",
                    "소분류",
                    "내용",
                    "금액",
                    "통화",
                    "결제수단",
                ),
                *("메모", "태그", "할부개월", "거래번호", "외화금액", "환율"),
            ],
            [
                *(
                    "2026-09-05",
                    "13:20",
                    "지출",
                    "여행",
                    "숙박",
                    "호텔",
                    "-130,000",
                    "USD",
                ),
                *("카드", "1박", "휴가, 가족", "3", "T1", "100.00", "1,300"),
            ],
        ]
    )
    assert reading.records == [
        Record(
            2, DAY, OUT, 130_000, time=time(13, 20), wallet="카드", category="여행",
            minor_category="숙박", text="호텔", memo="호텔 · 1박", tags=("휴가", "가족"),
            currency="USD", original_amount=Decimal(100), exchange_rate=Decimal(1300),
            months=3, external_id="T1",
        )
    ]  # fmt: skip


def test_foreign_amount_alone_leaves_the_home_amount_open() -> None:
    rows = [["date", "text", "amount", "currency"], ["2026-09-05", "x", "-1.5", "USD"]]
    record = read(rows).records[0]
    assert isinstance(record, Record)
    assert (record.amount, record.original_amount) == (None, Decimal("1.5"))
    assert record.currency == "USD"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Signed amounts.
        ([["-5"], ["7"]], [(OUT, 5, FLOW), (IN, 7, FLOW)]),
    ],
)
def test_sign_tells_the_direction(rows: Any, expected: Any) -> None:
    table = [["date", "amount"], *(["2026-09-05", *row] for row in rows)]
    assert flows(read(table)) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Expenses without a sign.
        ([["지출", "5"], ["수입", "7"]], [(OUT, 5, FLOW), (IN, 7, FLOW)]),
        # With one: an expense above 0 is money that came back.
        ([["지출", "-5"], ["지출", "2"]], [(OUT, 5, FLOW), (IN, 2, REFUND)]),
        ([["Exp.", "5"], ["Income", "7"]], [(OUT, 5, FLOW), (IN, 7, FLOW)]),
        (
            [["지출", "5"], ["이체", "7"]],
            [(OUT, 5, FLOW), (OUT, 7, RecordKind.TRANSFER)],
        ),
        (
            [["지출", "5"], ["이체입금", "7"]],
            [(OUT, 5, FLOW), (IN, 7, RecordKind.TRANSFER)],
        ),
    ],
)
def test_type_tells_the_direction(rows: Any, expected: Any) -> None:
    table = [["date", "type", "amount"], *(["2026-09-05", *row] for row in rows)]
    assert flows(read(table)) == expected


def test_unknown_type_is_an_error_and_never_a_guess() -> None:
    table = [
        ["date", "type", "amount"],
        ["2026-09-05", "지출", "5"],
        ["2026-09-05", "무엇", "7"],
    ]
    assert set(errors_of(read(table).records[1])) == {"type"}


CARD = ["이용일", "가맹점명", "이용금액", "할부개월", "취소여부"]


def test_cancelled_rows_of_a_card() -> None:
    reading = read(
        [
            CARD,
            ["26.09.05", "마트", "10,000", "일시불", "N"],
            ["26.09.06", "옷", "20,000", "03", "N"],
            # Its purchase stands above.
            ["26.09.07", "옷", "20,000", "03", "취소"],
            # Marked itself: it has never been paid.
            ["26.09.08", "책", "7,000", "일시불", "Y"],
            ["26.09.08", "꽃", "-3,000", "일시불", "취소"],
            ["26.09.08", "물", "3,000", "일시불", "거절"],
        ]
    )
    assert flows(reading) == [
        (OUT, 10_000, FLOW),
        (OUT, 20_000, FLOW),
        (IN, 20_000, RecordKind.CANCELLATION),
        (IN, 3_000, RecordKind.CANCELLATION),
    ]
    assert reading.passed_over == {"cancelled": 1, "declined": 1}


def test_two_wallets_make_a_transfer() -> None:
    rows = [
        ["date", "from account", "to account", "amount"],
        ["2026-09-05", "통장", "저축", "-5"],
    ]
    record = read(rows).records[0]
    assert isinstance(record, Record)
    assert (record.kind, record.wallet, record.other_wallet) == (
        *(RecordKind.TRANSFER, "통장", "저축"),
    )


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (["2026-02-30", "x", "5"], {"date"}),
        (["0000-01-01", "x", "5"], {"date"}),
        (["9999-12-31", "x", "5"], {"date"}),
        (["", "x", "5"], {"date"}),
        (["2026-09-05", "x", "five"], {"out"}),
        (["2026-09-05", "x", ""], {"out"}),
        (["2026-09-05", "x"], {"out"}),
        (["2026-09-05", "x", "1000000000000"], {"out"}),
        (["2026-09-05", "x", "0.2"], {"out"}),
        (["2026-09-05", "a\0b", "5"], {"text"}),
        (["2026-09-05", "\uffff", "5"], {"text"}),
        (["어제", "\x01", "five"], {"date", "text", "out"}),
    ],
)
def test_bad_row_names_its_fields(row: list[str], fields: set[str]) -> None:
    good = ["2026-09-05", "x", "5"]
    records = read([["날짜", "내용", "금액"], good, row, good]).records
    assert [each.row for each in records] == [2, 3, 4]
    assert set(errors_of(records[1])) == fields
    assert all(errors_of(records[1]).values())
    assert isinstance(records[1], BadRow)
    assert "\0" not in "".join(records[1].cells)


def test_rows_of_nothing_are_counted() -> None:
    rows = [
        ["날짜", "내용", "금액"],
        ["2026-09-05", "카드 확인", "0"],
        ["날짜", "내용", "금액"],
    ]
    rows.append(["2026-09-05", "x", "5"])
    reading = read(rows)
    assert reading.passed_over == {"zero": 1, "header": 1}
    assert len(reading.records) == 1


def test_tables_of_one_header_are_read_together() -> None:
    header = ["날짜", "내용", "금액"]
    tables = [
        Table("xlsx", "안내", [["설명"]]),
        Table("xlsx", "8월", [header, ["2026-08-05", "a", "1"]]),
        Table("xlsx", "9월", [["제목"], header, ["2026-09-05", "b", "2"]]),
        Table("xlsx", "예산", [["분류", "금액", "날짜"], ["식비", "5", "2026-09-05"]]),
    ]
    reading = SOURCES["xlsx"].read(tables, None, CONTEXT)
    assert [each.row for each in reading.records] == [3, 6]
    assert [
        name for name in ("안내", "8월", "예산") if name in "".join(reading.left_out)
    ] == [
        *("안내", "예산"),
    ]


def test_mapping_of_the_member_is_used() -> None:
    rows = [["가", "나", "다"], ["05/06/2026", "5", "점심"]]
    columns = tuple(
        MappedColumn(index, name, field)
        for index, (name, field) in enumerate(
            [("가", "date"), ("나", "out"), ("다", "memo")]
        )
    )
    mapping = ColumnMapping(1, columns, "mdy")
    reading = read(rows, mapping)
    assert reading.mapping == mapping
    assert reading.records == [
        Record(2, date(2026, 5, 6), OUT, 5, text="점심", memo="점심")
    ]


def test_mapping_of_a_column_that_is_not_there_is_an_error() -> None:
    mapping = ColumnMapping(
        1, (MappedColumn(0, "날짜", "date"), MappedColumn(7, "금액", "amount"))
    )
    with pytest.raises(InvalidMappingError):
        read([["날짜", "금액"], ["2026-09-05", "5"]], mapping)


def test_file_without_header_is_an_error() -> None:
    with pytest.raises(UnreadableFileError):
        read([["2026-09-05", "5"], ["2026-09-06", "6"]])
    with pytest.raises(UnreadableFileError):
        read([])


def test_file_without_an_amount_waits_for_a_mapping() -> None:
    reading = read([["날짜", "내용", "분류"], ["2026-09-05", "x", "y"]])
    assert (reading.records, len(reading.left_out)) == ([], 1)
    assert reading.mapping is not None
    assert [each.field for each in reading.mapping.columns] == [
        *("date", "text", "category"),
    ]


@pytest.mark.parametrize("name", ["csv", "xlsx", "ofx", "qif", "camt053", "mt940"])
def test_source_refuses_a_file_of_another_kind(name: str) -> None:
    tables = [Table("ledger", "", [["{}"]])]
    with pytest.raises(UnreadableFileError, match="another kind"):
        SOURCES[name].read(tables, None, CONTEXT)
    assert recognize(tables) is SOURCES["ledger"]
    assert recognize([Table("other", "", [["{}"]])]) is None


def test_workbook_may_be_read_as_any_table() -> None:
    tables = [Table("xlsx", "", [["날짜", "금액"], ["2026-09-05", "-5"]])]
    assert flows(SOURCES["csv"].read(tables, None, CONTEXT)) == [(OUT, 5, FLOW)]


def test_decimal_comma_of_a_column_is_for_all_of_its_cells() -> None:
    rows = [["date", "amount"], ["2026-09-05", "-1.234"], ["2026-09-05", "-5,50"]]
    assert flows(read(rows)) == [(OUT, 1234, FLOW), (OUT, 6, FLOW)]


def test_long_memo_is_shortened_and_said() -> None:
    reading = read([["날짜", "내용", "금액"], ["2026-09-05", "가" * 600, "5"]])
    record = reading.records[0]
    assert isinstance(record, Record)
    assert (len(record.memo), len(record.text)) == (500, 600)
    assert len(reading.left_out) == 1
