"""Headers, guessed columns and mappings of tables of any columns."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.imports.errors import InvalidMappingError, UnreadableFileError
from ledger.imports.records import ColumnMapping, MappedColumn, Table
from ledger.imports.tables import (
    find_header,
    find_named_header,
    guess_columns,
    header_key,
    is_total_row,
    validate_mapping,
)

BANK = ["거래일시", "적요", "기재내용", "찾으신\n금액", "맡기신금액(원)", "거래후잔액"]
BANK_ROW = ["2026.09.05 13:20:11", "체크카드", "커피", "4,500", "0", "100"]


def make_table(*rows: list[Any], kind: str = "csv") -> Table:
    return Table(kind, "", rows)


def fields_of(*rows: list[Any]) -> dict[str, str]:
    """Return the guessed fields of a table with the names of their columns."""
    mapping = guess_columns(make_table(*rows))
    return {each.field: each.name for each in mapping.columns if each.field}


def test_header_is_found_below_a_title() -> None:
    table = make_table(
        ["○○은행 거래내역"], [], ["조회기간", "2026-09-01 ~ 30"], BANK, BANK_ROW
    )
    header = find_header(table)
    assert header.row == 4
    assert header.names[3] == "찾으신 금액"
    assert header.find("찾으신금액") == 3
    assert header.find("금액") is None


def test_header_is_searched_in_twenty_rows() -> None:
    title = [["조회"]] * 19
    assert find_header(make_table(*title, BANK, BANK_ROW)).row == 20
    with pytest.raises(UnreadableFileError):
        find_header(make_table(*title, [], BANK, BANK_ROW))


def test_header_of_unknown_names_is_the_row_above_the_first_entry() -> None:
    table = make_table(["가", "나", "다"], ["2026-09-05", "커피", "4,500"])
    assert find_header(table).row == 1
    mapping = guess_columns(table)
    assert [each.field for each in mapping.columns] == ["date", None, "out"]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[]],
        [["2026-09-05", "커피", "4,500"], ["2026-09-06", "빵", "2,000"]],
        [["안내문"], ["다른 말"]],
    ],
)
def test_table_without_header_is_an_error(rows: list[list[Any]]) -> None:
    with pytest.raises(UnreadableFileError, match="names the columns"):
        find_header(make_table(*rows))


def test_named_header_has_all_names_in_any_order() -> None:
    table = make_table(["제목"], BANK, BANK_ROW)
    header = find_named_header(table, ["맡기신금액(원)", "거래일시"])
    assert header is not None
    assert header.row == 2
    assert find_named_header(table, ["거래일시", "없는 이름"]) is None


def test_repeated_names_keep_their_columns() -> None:
    rows = ["날짜", "금액", "금액", "메모"], ["2026-09-05", "-1", "-2", "x"]
    mapping = guess_columns(make_table(*rows))
    assert [each.field for each in mapping.columns] == ["date", "amount", None, "memo"]
    # A column without cells is left for the other of its name.
    rows = ["날짜", "금액", "금액", "메모"], ["2026-09-05", "", "-2", "x"]
    mapping = guess_columns(make_table(*rows))
    assert [each.field for each in mapping.columns] == ["date", None, "amount", "memo"]


def test_columns_of_a_bank_are_guessed() -> None:
    assert fields_of(BANK, BANK_ROW) == {
        "date": "거래일시",
        "text": "기재내용",
        "out": "찾으신 금액",
        "in": "맡기신금액(원)",
    }


def test_columns_of_an_app_are_guessed() -> None:
    names = [
        *(
            "날짜",
            "시간",
            "타입",
            "대분류",
            "소분류",
            "내용",
            "금액",
            "화폐",
            "결제수단",
        ),
        *("메모", "태그"),
    ]
    row = [
        *(
            "2026-09-05",
            "13:20",
            "지출",
            "식비",
            "카페",
            "커피",
            -4500.0,
            "KRW",
            "카드",
        ),
        *("", "여행"),
    ]
    assert fields_of(names, row) == dict(
        zip(
            (
                *(
                    "date",
                    "time",
                    "type",
                    "category",
                    "minorCategory",
                    "text",
                    "amount",
                ),
                *("currency", "wallet", "memo", "tags"),
            ),
            names,
            strict=True,
        )
    )


def test_english_columns_are_guessed() -> None:
    names = ["Transaction Date", "Description", "Paid out", "Paid in", "Account"]
    row = ["13/02/2026", "Coffee", "4.50", "", "Main"]
    assert set(fields_of(names, row)) == {"date", "text", "out", "in", "wallet"}
    assert guess_columns(make_table(names, row)).date_order == "dmy"


def test_amount_of_a_card_goes_out() -> None:
    names = ["이용일", "가맹점명", "이용금액", "할부개월"]
    row = ["26.09.05", "옷", "30,000", "03개월"]
    assert fields_of(names, row) == {
        "date": "이용일",
        "text": "가맹점명",
        "out": "이용금액",
        "months": "할부개월",
    }


def test_unsigned_amount_goes_out_and_a_signed_one_is_an_amount() -> None:
    names = ["date", "text", "amount"]
    assert "out" in fields_of(names, ["2026-09-05", "x", "5"])
    assert "amount" in fields_of(names, ["2026-09-05", "x", "-5"])


def test_name_whose_cells_do_not_fit_is_not_that_field() -> None:
    names = ["이용일", "이용구분", "구분", "이용금액"]
    row = ["26.09.05", "신용카드", "국내", "30,000"]
    assert set(fields_of(names, row)) == {"date", "out"}


def test_key_of_a_header_has_no_case_and_no_line_breaks() -> None:
    assert header_key(["Date", "찾으신\n금액"]) == header_key(["DATE", "찾으신 금액"])
    assert header_key(["a", "b"]) != header_key(["b", "a"])
    assert header_key(["ab"]) != header_key(["a", "b"])
    assert len(header_key([])) == 64


@pytest.mark.parametrize(
    "text", ["합계", "총 합계", "소 계", "TOTAL", "Sub total:", "합계(3건)"]
)
def test_total_row_is_known_by_its_word(text: str) -> None:
    assert is_total_row([None, text, 5.0])


def test_other_row_is_no_total() -> None:
    assert not is_total_row(["2026-09-05", "커피", "5"])


TABLE = make_table(
    ["날짜", "내용", "나감", "들어옴", "금액"], ["2026-09-05", "x", "1", "", "1"]
)


def mapped(*fields: str | None, **changes: Any) -> ColumnMapping:
    names = [str(name) for name in TABLE.rows[0]]
    columns = tuple(
        MappedColumn(index, names[index], field) for index, field in enumerate(fields)
    )
    return replace(ColumnMapping(1, columns), **changes)


@pytest.mark.parametrize(
    "fields",
    [
        ("date", "text", "out", "in", None),
        ("date", None, None, None, "amount"),
        ("date", None, "out"),
    ],
)
def test_mapping_with_date_and_amount_is_valid(fields: tuple[str | None, ...]) -> None:
    validate_mapping(TABLE, mapped(*fields))


def column(index: int, name: str, field: str | None) -> dict[str, Any]:
    whole = mapped("date", "text", "out")
    return {"columns": (*whole.columns, MappedColumn(index, name, field))}


@pytest.mark.parametrize(
    ("mapping", "field", "code"),
    [
        (mapped("date", "text"), "amount", "required"),
        (mapped(None, "text", "out"), "date", "required"),
        (mapped("date", "text", "out", "in", "amount"), "amount", "mismatch"),
        (mapped("date", "date", "out"), "date", "repeated"),
        (mapped("date", "price", "out"), "columns[1].field", "unknown"),
        (mapped("date", "text", "out", date_order="myd"), "dateOrder", "invalid"),
        (mapped("date", "text", "out", header_row=0), "headerRow", "invalid"),
        (mapped("date", "text", "out", header_row=3), "headerRow", "invalid"),
        (mapped(**column(5, "없음", "memo")), "columns[3].column", "does_not_exist"),
        (mapped(**column(-1, "금액", "memo")), "columns[3].column", "does_not_exist"),
        (
            mapped(**column(3, "다른 이름", "memo")),
            "columns[3].column",
            "does_not_exist",
        ),
        (mapped(**column(2, "나감", "memo")), "columns[3].column", "repeated"),
    ],
)
def test_wrong_mapping_has_an_error_of_its_field(
    mapping: ColumnMapping, field: str, code: str
) -> None:
    with pytest.raises(InvalidMappingError) as error:
        validate_mapping(TABLE, mapping)
    assert [(each.field, each.code) for each in error.value.errors] == [(field, code)]
    assert all(each.message for each in error.value.errors)


def test_each_wrong_field_has_its_error() -> None:
    mapping = replace(mapped("date", "date"), date_order="x")
    with pytest.raises(InvalidMappingError) as error:
        validate_mapping(TABLE, mapping)
    found = {each.field for each in error.value.errors}
    assert found == {"dateOrder", "date", "amount"}
