"""Rules of single sources that no sample shows."""

from collections.abc import Sequence
from typing import Any

import pytest

from ledger.imports.records import (
    BadRow,
    Direction,
    FileReading,
    ReadContext,
    Record,
    RecordKind,
    Table,
)
from ledger.imports.sources import SOURCES
from ledger.imports.sources.card_bills import find_card_issuer, is_card_bill
from tests.support.import_tables import CONTEXT, describe_record

BANKSALAD = (
    *("날짜", "시간", "타입", "대분류", "소분류", "내용", "금액", "화폐", "결제수단"),
    "메모",
)
ACTUAL = (
    *("Account", "Date", "Payee", "Notes", "Category", "Amount", "Split_Amount"),
    "Cleared",
)
YNAB = (
    *("Account", "Flag", "Check Number", "Date", "Payee", "Category"),
    *("Master Category", "Sub Category", "Memo", "Outflow", "Inflow", "Cleared"),
    "Running Balance",
)
FIREFLY = (
    *("group_id", "journal_id", "group_title", "type", "currency_code", "amount"),
    *("description", "date", "source_name", "source_type", "destination_name"),
    *("destination_type", "category"),
)


def read(
    source: str, *rows: Sequence[Any], context: ReadContext = CONTEXT
) -> FileReading:
    return SOURCES[source].read([Table("csv", "", rows)], None, context)


def records_of(reading: FileReading) -> list[Record]:
    return [each for each in reading.records if isinstance(each, Record)]


@pytest.mark.parametrize(
    ("texts", "issuer"),
    [
        (["삼성카드"], "삼성카드"),
        (["삼성카드(주)", "자동이체"], "삼성카드"),
        (["㈜신한카드"], "신한카드"),
        (["CMS공동", "현대카드 09월분"], "현대카드"),
        (["국민카드결제대금"], "KB국민카드"),
        (["KB카드출금", "FBS출금"], "KB국민카드"),
        (["우리카드 결제"], "우리카드"),
        (["비씨카드대금"], "BC카드"),
        (["NH농협카드"], "NH농협카드"),
        (["카드대금"], None),
        (["카드 이용대금", "대체"], None),
    ],
)
def test_bill_of_a_card_is_known_by_the_whole_text(
    texts: list[str], issuer: str | None
) -> None:
    assert is_card_bill(texts)
    assert find_card_issuer(texts) == issuer


@pytest.mark.parametrize(
    "texts",
    [
        ["커피 가게", "체크카드"],
        ["신한카드", "체크카드"],
        ["우리카드 스타벅스"],
        ["삼성전자"],
        ["교통카드충전"],
        ["카드"],
        ["대금"],
        ["9월"],
        [],
    ],
)
def test_purchase_is_no_bill_of_a_card(texts: list[str]) -> None:
    assert not is_card_bill(texts)
    assert find_card_issuer(texts) is None


def pay_bill(*cards: str) -> Record:
    """Return the payment of a bill from a file with purchases of some cards."""
    purchases = [
        ["2026-09-01", "12:00", "지출", "식비", "", "밥", -1, "KRW", card, ""]
        for card in cards
    ]
    bill = [
        "2026-09-02",
        "07:00",
        "이체",
        "카드대금",
        "",
        "삼성카드",
        -9,
        "KRW",
        "통장",
        "",
    ]
    return records_of(read("banksalad", BANKSALAD, *purchases, bill))[-1]


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([], "삼성카드"),
        (["현대카드 M"], "삼성카드"),
        (["삼성카드 taptap", "현대카드 M"], "삼성카드 taptap"),
        (["삼성카드 taptap", "삼성카드 iD"], None),
    ],
)
def test_bill_goes_to_the_only_card_of_the_issuer(
    cards: list[str], expected: str | None
) -> None:
    record = pay_bill(*cards)
    assert record.kind is RecordKind.TRANSFER
    assert record.other_wallet == expected


def test_money_manager_may_count_in_another_currency() -> None:
    names = ("Period", "Accounts", "Category", "Note", "INR", "Income/Expense")
    header = (*names, "Amount", "Currency")
    reading = read(
        "easymoney",
        header,
        ["2026-09-05", "Cash", "Food", "Tea", "1500.50", "Exp.", "1500.50", "INR"],
        ["2026-09-05", "Cash", "Food", "Rice", "310", "Exp.", "5000", "KRW"],
    )
    assert [describe_record(each)[3:] for each in records_of(reading)] == [
        [
            None,
            {
                "wallet": "Cash", "category": "Food", "text": "Tea", "memo": "Tea",
                "currency": "INR", "original_amount": "1500.50",
            },
        ],
        [5000, {"wallet": "Cash", "category": "Food", "text": "Rice", "memo": "Rice"}],
    ]  # fmt: skip


def test_dates_of_an_english_edition_tell_their_order() -> None:
    header = ("Date", "Account", "Category", "Note", "Amount", "Income/Expense")
    days = ("25/08/2026", "05/09/2026")
    rows = [[day, "Cash", "Food", "Tea", "10", "Expense"] for day in days]
    dates = [str(each.date) for each in records_of(read("easymoney", header, *rows))]
    assert dates == ["2026-08-25", "2026-09-05"]


def split_in_actual(*amounts: int, total: int) -> FileReading:
    count = len(amounts)
    parts = [
        ["Bank", "2026-09-03", "Shop", f"(SPLIT {n} OF {count}) p", "Food", each, 0, ""]
        for n, each in enumerate(amounts, 1)
    ]
    notes = f"(SPLIT INTO {count}) whole"
    parent = ["Bank", "2026-09-03", "Shop", notes, "", 0, total, ""]
    return read("actual", ACTUAL, parent, *parts)


def test_parts_that_do_not_add_up_leave_their_entry_whole() -> None:
    reading = split_in_actual(-3, -4, total=-8)
    (record,) = records_of(reading)
    assert (record.amount, record.lines, record.memo) == (8, (), "Shop · whole")
    assert reading.passed_over["part"] == 2
    assert "Parts that do not add up" in reading.left_out[0]


def test_part_may_take_from_the_others() -> None:
    (record,) = records_of(split_in_actual(-10, 2, total=-8))
    assert record.direction is Direction.OUT
    assert [line.amount for line in record.lines] == [10, -2]


def test_parts_of_nothing_stay_apart() -> None:
    reading = split_in_actual(-5, 5, total=0)
    assert [each.lines for each in records_of(reading)] == [(), ()]


def test_two_splits_of_a_day_keep_their_own_parts() -> None:
    rows: list[list[Any]] = []
    for total, parts in ((-3, (-1, -2)), (-7, (-3, -4))):
        rows.append(["Bank", "2026-09-03", "Shop", "(SPLIT INTO 2) ", "", 0, total, ""])
        for number, part in enumerate(parts, 1):
            notes = f"(SPLIT {number} OF 2) "
            rows.append(["Bank", "2026-09-03", "Shop", notes, "Food", part, 0, ""])
    records = records_of(read("actual", ACTUAL, *rows))
    assert [[line.amount for line in each.lines] for each in records] == [
        [1, 2],
        [3, 4],
    ]


def test_income_of_a_category_is_no_refund() -> None:
    rows = [
        ["Bank", "2026-09-01", "Hanbit", "", "Wage", 100, 0, ""],
        ["Bank", "2026-09-02", "Shop", "", "Food", -5, 0, ""],
        ["Bank", "2026-09-02", "Shop", "", "Food", -5, 0, ""],
        ["Bank", "2026-09-03", "Shop", "", "Food", 5, 0, ""],
    ]
    kinds = [each.kind for each in records_of(read("actual", ACTUAL, *rows))]
    flow = RecordKind.FLOW
    assert kinds == [flow, flow, flow, RecordKind.REFUND]


def test_register_of_the_old_ynab_is_read() -> None:
    rows = [
        ["Bank", "", "", "31/08/2026", "Shop", "Food:Coffee", "Food", "Coffee", "",
         "€4.500,00", "€0,00", "C", "€1,00"],
        ["Bank", "", "", "01/09/2026", "Transfer : Cash", "", "", "", "", "€50,00",
         "€0,00", "C", "€1,00"],
    ]  # fmt: skip
    first, second = records_of(read("ynab", YNAB, *rows))
    assert (str(first.date), first.amount) == ("2026-08-31", 4500)
    assert (first.category, first.minor_category) == ("Food", "Coffee")
    assert (second.kind, second.other_wallet) == (RecordKind.TRANSFER, "Cash")


def test_split_without_its_last_part_stays_apart() -> None:
    rows = [
        ["Bank", "", "", "2026-09-03", "Shop", "", "Food", "Tea", f"Split ({n}/3) x",
         "5", "0", "C", ""]
        for n in (1, 2)
    ]  # fmt: skip
    records = records_of(read("ynab", YNAB, *rows))
    assert [(each.amount, each.lines, each.memo) for each in records] == [
        (5, (), "Shop · x"),
        (5, (), "Shop · x"),
    ]


def firefly_row(journal: int, amount: Any, **changes: str) -> list[Any]:
    row = {
        "group_id": "1", "journal_id": str(journal), "group_title": "Market",
        "type": "Withdrawal", "currency_code": "KRW", "amount": amount,
        "description": f"part {journal}", "date": "2026-09-03",
        "source_name": "Bank", "source_type": "Asset account",
        "destination_name": "Shop", "destination_type": "Expense account",
        "category": "Food", **changes,
    }  # fmt: skip
    return [row[name] for name in FIREFLY]


def test_group_with_an_unreadable_part_stays_apart() -> None:
    rows = [firefly_row(1, "-5"), firefly_row(2, "five"), firefly_row(3, "-7")]
    first, second, third = read("firefly", FIREFLY, *rows).records
    assert isinstance(second, BadRow)
    for record, amount in ((first, 5), (third, 7)):
        assert isinstance(record, Record)
        assert (record.amount, record.lines) == (amount, ())


def test_group_of_two_wallets_stays_apart() -> None:
    rows = [firefly_row(1, "-5"), firefly_row(2, "-6", source_name="Card")]
    records = records_of(read("firefly", FIREFLY, *rows))
    assert [(each.wallet, each.amount) for each in records] == [
        ("Bank", 5),
        ("Card", 6),
    ]


def test_group_may_pay_a_loan_besides() -> None:
    loan = {"destination_name": "Loan", "destination_type": "Mortgage", "category": ""}
    rows = [firefly_row(1, "-5"), firefly_row(2, "-6", **loan)]
    (record,) = records_of(read("firefly", FIREFLY, *rows))
    assert (record.amount, record.text, record.memo) == (11, "Market", "Market · Shop")
    assert [(line.amount, line.wallet) for line in record.lines] == [
        (5, None),
        (6, "Loan"),
    ]


def test_group_of_more_parts_than_an_entry_may_have_stays_apart() -> None:
    rows = [firefly_row(number, "-1") for number in range(51)]
    assert len(records_of(read("firefly", FIREFLY, *rows))) == 51


def test_accounts_of_others_alone_are_no_entry() -> None:
    row = firefly_row(1, "-5", source_type="Revenue account")
    (bad,) = read("firefly", FIREFLY, row).records
    assert isinstance(bad, BadRow)
    assert bad.errors[0].field == "type"


def test_months_beyond_those_of_an_entry_are_said() -> None:
    header = ("이용일", "카드번호", "가맹점명", "이용 금액", "할부", "상태")
    reading = read(
        "hyundaicard", header, ["2026-09-05", "1", "차", "36,000", "36", "정상"]
    )
    (record,) = records_of(reading)
    assert (record.amount, record.months) == (36_000, None)
    assert reading.left_out == ["Installments over 24 months are read as one payment."]


def test_list_of_two_sheets_is_read_whole() -> None:
    home = ("승인일자", "승인시각", "가맹점명", "승인금액(원)", "할부개월", "취소여부")
    abroad = ("승인일자", "승인시각", "가맹점명", "승인금액(USD)", "취소구분")
    tables = [
        Table("xlsx", "■ 국내이용내역", [home, ["2026.09.05", "", "밥", "5", "", "N"]]),
        Table("xlsx", "■ 해외이용내역", [abroad, ["2026.09.05", "", "Inn", "9.5", ""]]),
    ]
    reading = SOURCES["samsungcard"].read(tables, None, CONTEXT)
    found = [(each.row, each.amount, each.currency) for each in records_of(reading)]
    assert found == [(2, 5, None), (4, None, "USD")]


def test_memo_is_shortened_and_said() -> None:
    header = ("이용일", "카드번호", "가맹점명", "이용 금액", "할부", "상태")
    row = ["2026-09-05", "1", "가" * 600, "5", "", ""]
    reading = read("hyundaicard", header, row)
    (record,) = records_of(reading)
    assert (len(record.memo), len(record.text)) == (500, 600)
    assert reading.left_out == ["Memos are shortened to 500 characters."]


def test_numbers_of_another_firefly_are_not_the_same() -> None:
    header = (*FIREFLY, "created_at")
    first = [*firefly_row(1, "-5"), "2026-09-03T10:00:00+09:00"]
    second = [*firefly_row(1, "-5", group_id="2"), "2026-09-04T10:00:00+09:00"]
    ids = {
        each.external_id for each in records_of(read("firefly", header, first, second))
    }
    assert len(ids) == 2
    without = records_of(read("firefly", FIREFLY, firefly_row(1, "-5")))
    assert without[0].external_id is None


@pytest.mark.parametrize(
    ("part", "expected"), [("3/1", [90]), ("3/2", []), ("1/1", [90]), ("", [90])]
)
def test_bill_has_a_purchase_in_its_first_part_alone(
    part: str, expected: list[int]
) -> None:
    header = ("이용일", "이용카드", "이용가맹점", "이용금액", "할부/회차", "결제원금")
    reading = read("hyundaicard", header, ["2026-09-01", "M", "책방", 90, part, 30])
    assert [each.amount for each in records_of(reading)] == expected
    assert reading.passed_over.get("part", 0) == 1 - len(expected)


@pytest.mark.parametrize(("balances", "latest"), [([30, 20], 20), ([20, 30], 30)])
@pytest.mark.parametrize("is_descending", [False, True])
def test_balance_is_that_of_the_last_row_of_the_last_moment(
    balances: list[int], latest: int, is_descending: bool
) -> None:
    header = ("거래일시", "보낸분/받는분", "출금액", "입금액", "잔액")
    rows = [["2026-09-01", "밥", 5, 0, 40]]
    rows += [["2026-09-02", "밥", 5, 0, balance] for balance in balances]
    reading = read("kbbank", header, *(rows[::-1] if is_descending else rows))
    assert [each.amount for each in reading.balances] == [latest]


def test_rows_of_further_sheets_count_on() -> None:
    header = ("이용일", "카드번호", "가맹점명", "이용 금액", "할부", "상태")
    tables = [
        Table("xlsx", name, [header, ["2026-09-05", "1", name, 5, "", ""]])
        for name in ("8월", "9월")
    ]
    reading = SOURCES["hyundaicard"].read(tables, None, CONTEXT)
    assert [each.row for each in reading.records] == [2, 4]


def test_decimal_mark_of_a_register_is_that_of_all_its_rows() -> None:
    rows = [
        ["Bank", "", "", "2026-09-03", "Shop", "", "Food", "Tea", "", out, "", "C", ""]
        for out in ("4.500", "5,50")
    ]
    assert [each.amount for each in records_of(read("ynab", YNAB, *rows))] == [4500, 6]
