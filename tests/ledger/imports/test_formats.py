"""Each format by its content, in every encoding and encryption that is read."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.imports.formats import archives, cells
from ledger.imports.formats.cells import InvalidFileError, PasswordError
from ledger.imports.formats.contents import MAX_JSON_BYTES, read_contents
from tests.support.import_samples import (
    HEADER,
    MT940,
    OFX_1,
    QIF,
    ROWS,
    TEXT_ROWS,
    encrypt_xlsx,
    make_aes_zip,
    make_csv,
    make_html,
    make_ods,
    make_xlsx,
    make_zip,
    make_zip_crypto,
)

SAMPLES = Path(__file__).parents[2] / "samples" / "imports"
PASSWORD = "900101"
CSV = make_csv().encode()
WORKBOOK_ROWS = [
    HEADER,
    ["2026-09-05T13:20:00", "커피 가게", 4500.0, 0.0],
    ["2026-09-06T09:00:00", "월급", 0.0, 3_000_000.0],
]
# Written as text, and so sent as text.
XLSX_ROWS = [HEADER, *([row[0], row[1], float(row[2]), float(row[3])] for row in ROWS)]


def read(data: bytes, password: str | None = None) -> list[tuple[str, str, list[Any]]]:
    return [
        (kind, name, list(rows)) for kind, name, rows in read_contents(data, password)
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separated_values_are_read(encoding: str, mark: str) -> None:
    assert read(make_csv(mark=mark).encode(encoding)) == [("csv", "", TEXT_ROWS)]


def test_cells_of_separated_values_may_hold_quotes_and_line_breaks() -> None:
    text = 'date,text,amount\n2026-09-05,"a, ""b""\nc",5\n2026-09-05,5" pipe,6\n'
    assert read(text.encode())[0][2] == [
        ["date", "text", "amount"],
        ["2026-09-05", 'a, "b"\nc', "5"],
        ["2026-09-05", '5" pipe', "6"],
    ]


def test_separated_values_that_break_the_rules_of_quotes_are_read() -> None:
    text = 'date,text,amount\n2026-09-05,"a" b,5\n2026-09-05,c,6\n'
    assert read(text.encode())[0][2][1:] == [
        ["2026-09-05", "a b", "5"],
        ["2026-09-05", "c", "6"],
    ]


@pytest.mark.parametrize(
    ("data", "kind", "name", "rows"),
    [
        (make_xlsx(), "xlsx", "거래내역", XLSX_ROWS),
        ((SAMPLES / "bank.xls").read_bytes(), "xls", "거래내역", WORKBOOK_ROWS),
        (make_ods(), "xlsx", "Sheet1", TEXT_ROWS),
        (make_html().encode(), "html", "1", TEXT_ROWS),
        (make_html().encode("cp949"), "html", "1", TEXT_ROWS),
        (make_html().encode("utf-8-sig"), "html", "1", TEXT_ROWS),
        (make_html().encode("utf-16"), "html", "1", TEXT_ROWS),
    ],
)
def test_table_is_read_by_its_content(
    data: bytes, kind: str, name: str, rows: list[Any]
) -> None:
    assert read(data) == [(kind, name, rows)]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (OFX_1.encode(), "ofx"),
        (OFX_1.encode("cp949"), "ofx"),
        (OFX_1.encode("utf-8-sig"), "ofx"),
        (OFX_1[OFX_1.index("<OFX>") :].encode(), "ofx"),
        (QIF.encode(), "qif"),
        (QIF.encode("cp949"), "qif"),
        (MT940.encode("utf-16"), "mt940"),
    ],
)
def test_statement_is_known_by_its_content(data: bytes, kind: str) -> None:
    assert {table[0] for table in read(data)} == {kind}


def test_own_export_of_an_archive_is_bounded_too() -> None:
    data = b'{"a": "' + Random(0).randbytes(MAX_JSON_BYTES // 2).hex().encode() + b'"}'
    with pytest.raises(InvalidFileError) as error:
        read(make_zip({"a.json": data}))
    assert error.value.name == "size"


def test_own_export_is_passed_on_as_one_text() -> None:
    data = ' {"entries": [], "note": "가"}'
    assert read(data.encode()) == [("ledger", "", [[data]])]
    assert read(make_zip({"a.json": data.encode()})) == [("ledger", "", [[data]])]


ENCRYPTED: dict[str, Callable[[], bytes]] = {
    "OOXML": lambda: encrypt_xlsx(make_xlsx(), PASSWORD),
    "BIFF": (SAMPLES / "bank_encrypted.xls").read_bytes,
    "AES zip": lambda: make_aes_zip({"가계부.csv": CSV}, PASSWORD),
    "ZipCrypto": lambda: make_zip_crypto("a.csv", CSV, PASSWORD),
    "workbook in a zip": lambda: make_zip({"a": encrypt_xlsx(make_xlsx(), PASSWORD)}),
}


@pytest.mark.parametrize("name", ENCRYPTED)
def test_encrypted_file_is_read_with_its_password(name: str) -> None:
    data = ENCRYPTED[name]()
    with pytest.raises(PasswordError) as error:
        read(data)
    assert not error.value.is_wrong
    for wrong in ("900102", "비밀번호", "x" * 300):
        with pytest.raises(PasswordError) as error:
            read(data, wrong)
        assert error.value.is_wrong
    table = read(data, PASSWORD)[0][2]
    assert [row[1] for row in table] == ["내용", "커피 가게", "월급"]


def test_password_of_a_file_without_encryption_is_ignored() -> None:
    for data in (CSV, make_xlsx(), make_zip({"a.csv": CSV})):
        assert read(data, "1") == read(data)


def test_workbook_protected_against_changes_needs_no_password() -> None:
    data = encrypt_xlsx(make_xlsx(), "VelvetSweatshop")
    assert read(data)[0][2] == XLSX_ROWS


def test_korean_password_is_encoded_as_programs_do() -> None:
    for encoding in ("utf-8", "cp949"):
        data = make_zip_crypto("a.csv", CSV, "비밀".encode(encoding))
        assert read(data, "비밀")[0][2] == TEXT_ROWS


def test_archive_is_read_past_what_systems_add() -> None:
    files = {"__MACOSX/._a.csv": b"x", "dir/.DS_Store": b"x", "dir/a.csv": CSV}
    assert read(make_zip(files)) == read(CSV)


def test_one_readable_file_of_an_archive_is_read() -> None:
    assert read(make_zip({"readme.pdf": b"%PDF-1", "a.csv": CSV})) == read(CSV)


def damaged(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("empty", lambda: b""),
        ("empty", lambda: b" \r\n\t "),
        ("empty", lambda: make_zip({})),
        ("kind", lambda: b"hello world"),
        ("kind", lambda: b"%PDF-1.7\n" + bytes(100)),
        ("kind", lambda: b"[1]"),
        ("kind", lambda: b"{not json}"),
        ("kind", lambda: b'<?xml version="1.0"?><note/>'),
        ("kind", lambda: make_zip({"a.zip": make_zip({"a.csv": CSV})})),
        ("kind", lambda: make_zip({"a.pdf": b"%PDF-1", "b.pdf": b"%PDF-1"})),
        ("encoding", lambda: bytes(range(1, 256)) * 10),
        ("encoding", lambda: "é,ü\n".encode("latin-1") * 10),
        ("encoding", lambda: make_csv().encode("utf-16-le")),
        ("encoding", lambda: b"\xff\xfe\x00"),
        ("damaged", lambda: damaged(make_xlsx())),
        ("damaged", lambda: damaged((SAMPLES / "bank.xls").read_bytes())),
        ("damaged", lambda: damaged(encrypt_xlsx(make_xlsx(), PASSWORD))),
        ("damaged", lambda: damaged(make_aes_zip({"a.csv": CSV}, PASSWORD))),
        ("damaged", lambda: make_html([]).encode()),
        ("damaged", lambda: b'a,b\n1,"2\n3,4\n'),
        ("damaged", lambda: make_zip({"[Content_Types].xml": b"<x/>"})),
        ("several", lambda: make_zip({"a.csv": CSV, "b.csv": CSV})),
        ("files", lambda: make_zip({f"{n}.csv": CSV for n in range(21)})),
        ("encryption", lambda: make_ods(is_encrypted=True)),
    ],
)
def test_unreadable_file_has_its_reason(name: str, make: Callable[[], bytes]) -> None:
    with pytest.raises(InvalidFileError) as error:
        read(make(), PASSWORD)
    assert error.value.name == name


def test_rows_are_bounded() -> None:
    rows = ["날짜,금액\n", *["2026-09-05,1\n"] * cells.MAX_ROWS]
    assert len(read("".join(rows).encode())[0][2]) == cells.MAX_ROWS + 1
    with pytest.raises(InvalidFileError) as error:
        read("".join([*rows, "2026-09-05,1\n"]).encode())
    assert (error.value.name, error.value.values) == ("rows", {"limit": cells.MAX_ROWS})


def test_columns_and_cells_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = ",".join("x" * cells.MAX_COLUMNS)
    assert len(read(f"{wide},,,\n".encode())[0][2][0]) == cells.MAX_COLUMNS
    for data in (
        f"{wide},x\n".encode(),
        make_xlsx([["x"] * 65]),
        make_html([["x"] * 65]).encode(),
    ):
        with pytest.raises(InvalidFileError, match="columns"):
            read(data)
    monkeypatch.setattr(cells, "MAX_CELLS", 5)
    with pytest.raises(InvalidFileError, match="cells"):
        read(b"a,b\n1,2\n3,4\n")


def test_cell_is_shortened_and_holds_no_nul() -> None:
    row = read(f"a,b\n{'x' * 2000},1\0 2\n".encode() + CSV)[0][2][1]
    assert row == ["x" * 1000, "1\uffff 2"]


def test_empty_rows_keep_their_numbers_and_empty_ends_are_cut() -> None:
    assert read(b"a,b\n\n,\n1,\n\n\n")[0][2] == [["a", "b"], [], [], ["1"]]
    assert read(make_xlsx([["a", "b"], [], [None, "1"]]))[0][2] == [
        *(["a", "b"], [], ["", "1"]),
    ]


def test_cells_over_rows_and_columns_of_html() -> None:
    page = (
        "<table><tr><th rowspan=2>날짜<th colspan=2>금액<th rowspan='2'>메모</tr>"
        "<tr><th>나감<br>원<th>들어옴</tr>"
        "<tr><td rowspan=2>09/05<td>1<td>&nbsp;<td>a&amp;b<tr><td>2<td>3<td>c"
        "<tr><td>09/06<td colspan=x>4</table><table></table>"
    )
    assert read(page.encode())[0][2] == [
        ["날짜", "금액", None, "메모"],
        ["날짜", "나감\n원", "들어옴", "메모"],
        ["09/05", "1", "", "a&b"],
        ["09/05", "2", "3", "c"],
        ["09/06", "4"],
    ]


def test_nested_tables_and_scripts_of_html() -> None:
    page = (
        "<html><head><style>td{}</style><script>'<table>'</script></head><body>"
        "<table><tr><td>바깥<table><tr><td>안<td>1</table></td></tr></table>"
    )
    tables = read(page.encode())
    assert [rows for _, _, rows in tables] == [[["바깥"]], [["안", "1"]]]


def test_declared_size_of_a_bomb_is_refused() -> None:
    with pytest.raises(InvalidFileError) as error:
        read(make_zip({"a.csv": b"0" * 10_000_000}))
    assert error.value.name == "size"


def test_file_that_is_larger_than_declared_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 20)
    with pytest.raises(InvalidFileError) as error:
        read(make_zip({"a.csv": CSV}))
    assert error.value.name == "size"


def test_changed_byte_of_an_archive_is_an_error() -> None:
    data = bytearray(make_zip({"a.csv": CSV}))
    data[60] ^= 0xFF
    with pytest.raises(InvalidFileError) as error:
        read(bytes(data))
    assert error.value.name == "damaged"
