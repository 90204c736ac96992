"""Writes the entries of a family into the files of every source.

Each writer returns the bytes of a file and the names of what the format cannot hold
(`tests.support.import_family.reduce_to`). Writers of banks and card issuers write one
wallet.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from openpyxl import Workbook

from ledger.imports.texts import join_memo
from tests.support.import_family import BANK, CARD, OPENINGS, FamilyEntry, split_up

Rows = list[list[Any]]


class Written(NamedTuple):
    data: bytes
    lost: tuple[str, ...]


def write_csv(rows: Iterable[Sequence[Any]], encoding: str = "utf-8") -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode(encoding)


def write_xlsx(name: str, rows: Iterable[Sequence[Any]]) -> bytes:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet(name)
    for row in rows:
        sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def _list_flat(entries: Iterable[FamilyEntry]) -> Iterator[FamilyEntry]:
    """Yield the entries with parts as entries of their own, without first balances."""
    for each in entries:
        if each.kind != "opening":
            yield from split_up(each) if each.lines else (each,)


def write_easymoney(entries: Iterable[FamilyEntry]) -> Written:
    """Write every second transfer with the row of its other side too."""
    header = (
        *("기간", "자산", "분류", "소분류", "내용", "KRW", "수입/지출", "메모", "금액"),
        *("화폐", "자산"),
    )
    rows: Rows = [list(header)]
    for number, each in enumerate(_list_flat(entries)):
        if each.kind != "transfer":
            word = "수입" if each.kind == "income" else "지출"
            rows.append(_make_easymoney_row(each, word, each.wallet, each.category))
            continue
        word = "이체지출" if number % 2 else "이체출금"
        rows.append(_make_easymoney_row(each, word, each.wallet, each.other))
        if not number % 2:
            rows.append(_make_easymoney_row(each, "이체입금", each.other, each.wallet))
    return Written(write_csv(rows), ("openings", "splits", "months", "tags"))


def _make_easymoney_row(
    entry: FamilyEntry, word: str, wallet: str | None, name: str | None
) -> list[Any]:
    at = f"{entry.date:%Y. %m. %d.} {entry.time:%H:%M:%S}"
    amount = -entry.amount if entry.kind == "refund" else entry.amount
    text = entry.payee or entry.memo
    return [
        *(at, wallet, name, entry.minor, text, amount, word, entry.memo),
        *(amount, "KRW", amount),
    ]


def write_banksalad(entries: Iterable[FamilyEntry]) -> Written:
    header = (
        *("날짜", "시간", "타입", "대분류", "소분류", "내용", "금액", "화폐"),
        *("결제수단", "메모"),
    )
    rows: Rows = [list(header)]
    for each in _list_flat(entries):
        if each.kind == "transfer":
            rows.append(_make_banksalad_row(each, "이체", each.wallet, -each.amount))
            rows.append(_make_banksalad_row(each, "이체", each.other, each.amount))
        else:
            word = "수입" if each.kind == "income" else "지출"
            rows.append(_make_banksalad_row(each, word, each.wallet, each.signed))
    data = write_xlsx("가계부 내역", rows)
    return Written(data, ("openings", "splits", "months", "tags"))


def _make_banksalad_row(
    entry: FamilyEntry, word: str, wallet: str | None, amount: int
) -> list[Any]:
    category, minor = entry.category or "내계좌이체", entry.minor or "미분류"
    text = entry.payee or entry.memo
    return [
        *(entry.date, f"{entry.time:%H:%M}", word, category, minor, text, amount),
        *("KRW", wallet, entry.memo),
    ]


FIREFLY_HEADER = (
    *("user_id", "group_id", "journal_id", "created_at", "updated_at", "group_title"),
    *("type", "currency_code", "amount", "foreign_currency_code", "foreign_amount"),
    *("description", "date", "source_name", "source_type", "destination_name"),
    *("destination_type", "reconciled", "category", "budget", "bill", "tags", "notes"),
)


def write_firefly(entries: Iterable[FamilyEntry]) -> Written:
    """Write a group for each entry; those of one group must be of one type."""
    rows: Rows = [list(FIREFLY_HEADER)]
    for group, each in enumerate(_list_groups(entries), 1):
        for part in each:
            rows.append(_make_firefly_row(group, len(rows), part, len(each) > 1))
    return Written(write_csv(rows), ("mixedLines", "months", "majors"))


def _list_groups(entries: Iterable[FamilyEntry]) -> Iterator[list[FamilyEntry]]:
    for each in entries:
        parts = list(split_up(each)) if each.lines else [each]
        if any(part.kind != "expense" for part in parts):
            yield from ([part] for part in parts)
        else:
            yield parts


def _make_firefly_row(
    group: int, journal: int, entry: FamilyEntry, is_part: bool
) -> list[Any]:
    own = "Asset account"
    out, into = (entry.wallet, own), (entry.other or "", own)
    shop = entry.payee or "(no name)"
    match entry.kind:
        case "opening":
            type_, source = "Opening balance", ("Initial", "Initial balance account")
            target = out
        case "transfer":
            type_, source, target = "Transfer", out, into
        case "income" | "refund":
            type_, source, target = "Deposit", (shop, "Revenue account"), out
        case _:
            type_, source, target = "Withdrawal", out, (shop, "Expense account")
    amount = entry.signed
    if type_ == "Transfer":
        amount = entry.amount
    at = f"{entry.date}T{entry.time or '00:00:00'}+09:00"
    text = entry.memo if is_part else entry.payee or entry.memo
    return [
        1, group, journal, at, at, entry.payee if is_part else "", type_, "KRW",
        f"{amount}.00", "", "", text, at, *source, *target, "",
        entry.minor or entry.category, "", "", ",".join(entry.tags),
        "" if is_part else entry.memo,
    ]  # fmt: skip


def write_ezbookkeeping(entries: Iterable[FamilyEntry]) -> Written:
    header = (
        *("Time", "Timezone", "Type", "Category", "Sub Category", "Account"),
        *("Account Currency", "Amount", "Account2", "Account2 Currency"),
        *("Account2 Amount", "Geographic Location", "Tags", "Description"),
    )
    types = {"income": "Income", "transfer": "Transfer"}
    rows: Rows = [list(header)]
    for each in entries:
        for part in split_up(each) if each.lines else (each,):
            amount = -part.amount if part.kind == "refund" else part.amount
            other = [part.other, "KRW", f"{amount}.00"] if part.other else [""] * 3
            type_ = types.get(part.kind, "Expense")
            if part.kind == "opening":
                type_ = "Balance Modification"
            rows.append(
                [
                    f"{part.date} {part.time or '00:00:00'}", "+09:00", type_,
                    part.category, part.minor or part.category, part.wallet, "KRW",
                    f"{amount}.00", *other, "", ";".join(part.tags),
                    join_memo(part.payee, part.memo),
                ]
            )  # fmt: skip
    return Written(write_csv(rows), ("splits", "months"))


def write_ynab(entries: Iterable[FamilyEntry]) -> Written:
    header = (
        *("Account", "Flag", "Date", "Payee", "Category Group/Category"),
        *("Category Group", "Category", "Memo", "Outflow", "Inflow", "Cleared"),
    )
    rows: Rows = [list(header)]

    def add(
        entry: FamilyEntry, wallet: str, payee: str, memo: str, signed: int
    ) -> None:
        group, category = entry.category or "", entry.minor or entry.category or ""
        if entry.kind in {"income", "opening"}:
            group, category = "Inflow", "Ready to Assign"
        # A category that has none below it stands in a group of its own name.
        both = f"{group}: {category}" if group else ""
        out, into = max(-signed, 0), max(signed, 0)
        rows.append(
            [
                wallet, "", f"{entry.date:%m/%d/%Y}", payee, both, group, category,
                memo, f"₩{out:,}", f"₩{into:,}", "Cleared",
            ]
        )  # fmt: skip

    for each in entries:
        parts = list(split_up(each))
        for number, part in enumerate(parts or [each], 1):
            memo = f"Split ({number}/{len(parts)}) {part.memo}" if parts else part.memo
            payee = "Starting Balance" if part.kind == "opening" else part.payee
            if part.other:
                payee = f"Transfer : {part.other}"
            add(part, part.wallet, payee, memo, part.signed)
        for part in parts or [each]:
            if part.other:
                payee = f"Transfer : {part.wallet}"
                add(part, part.other, payee, part.memo, part.amount)
    return Written(write_csv(rows), ("months", "times", "tags", "incomeCategories"))


def write_actual(entries: Iterable[FamilyEntry]) -> Written:
    header = ("Account", "Date", "Payee", "Notes", "Category", "Amount")
    rows: Rows = [[*header, "Split_Amount", "Cleared"]]
    for each in entries:
        parts = list(split_up(each))
        if parts:
            notes = f"(SPLIT INTO {len(parts)}) "
            rows.append(
                [each.wallet, each.date, each.payee, notes, "", 0, each.signed, ""]
            )
        for number, part in enumerate(parts or [each], 1):
            notes = f"(SPLIT {number} OF {len(parts)}) {part.memo}"
            payee = "Starting Balance" if part.kind == "opening" else part.payee
            category = part.minor or part.category or ""
            rows.append(
                [
                    part.wallet, part.date, part.other or payee,
                    notes if parts else part.memo, category, part.signed, 0, "Cleared",
                ]
            )  # fmt: skip
        for part in parts or [each]:
            if part.other:
                row = [part.other, part.date, part.wallet, part.memo, "", part.amount]
                rows.append([*row, 0, "Cleared"])
    return Written(write_csv(rows), ("months", "times", "tags", "majors"))


APPS: dict[str, Callable[[Iterable[FamilyEntry]], Written]] = {
    "easymoney": write_easymoney,
    "banksalad": write_banksalad,
    "firefly": write_firefly,
    "ezbookkeeping": write_ezbookkeeping,
    "ynab": write_ynab,
    "actual": write_actual,
}


class Move(NamedTuple):
    """What an entry does to one wallet, and the balance behind it."""

    entry: FamilyEntry
    amount: int
    balance: int

    @property
    def text(self) -> str:
        entry = self.entry
        return " ".join((entry.payee or entry.memo or "이체").split())

    @property
    def at(self) -> str:
        return f"{self.entry.date:%Y.%m.%d} {self.entry.time:%H:%M:%S}"


def list_moves(entries: Iterable[FamilyEntry], wallet: str) -> list[Move]:
    """Return what changes a wallet, in the order of time, after the first balance."""
    moves = []
    balance = OPENINGS.get(wallet, 0)
    for each in entries:
        amounts = [each.signed] if each.wallet == wallet else []
        amounts += [each.amount] if each.other == wallet else []
        amounts += [line.amount for line in each.lines if line.wallet == wallet]
        for amount in amounts if each.kind != "opening" else ():
            balance += amount
            moves.append(Move(each, amount, balance))
    return moves


def _won(amount: int) -> str:
    return f"{amount:,}"


def _make_tossbank_row(move: Move) -> list[Any]:
    kind = "출금" if move.amount < 0 else "입금"
    return [move.at, move.text, kind, "", "", _won(move.amount), _won(move.balance), ""]


def _make_kakaobank_row(move: Move) -> list[Any]:
    kind = "출금" if move.amount < 0 else "입금"
    amounts = [_won(abs(move.amount)), _won(move.balance)]
    return ["", move.at, kind, *amounts, "이체", move.text, ""]


def _make_kbbank_row(move: Move) -> list[Any]:
    out, into = max(-move.amount, 0), max(move.amount, 0)
    amounts = [_won(out), _won(into), _won(move.balance)]
    return [move.at, "이체", move.text, "", *amounts, "본점", ""]


def _make_shinhanbank_row(move: Move) -> list[Any]:
    day, at = move.at.split()
    out, into = max(-move.amount, 0), max(move.amount, 0)
    return [day, at, "모바일", _won(out), _won(into), move.text, _won(move.balance), ""]


def _make_ibk_row(move: Move) -> list[Any]:
    out, into = max(-move.amount, 0), max(move.amount, 0)
    amounts = [_won(out), _won(into), _won(move.balance)]
    return ["", move.at, *amounts, move.text, "", "", "", "", "0", "", ""]


class ListFormat(NamedTuple):
    """What stands above the rows of a bank or card issuer, and how a row looks."""

    head: Rows
    make_row: Callable[[Move], list[Any]]


BANKS = {
    "tossbank": ListFormat(
        [["토스뱅크 거래내역"], ["거래 일시", "적요", "거래 유형", "거래 기관", "계좌번호",
         "거래 금액", "거래 후 잔액", "메모"]],
        _make_tossbank_row,
    ),
    "kakaobank": ListFormat(
        [["", "거래일시", "구분", "거래금액", "거래 후 잔액", "거래구분", "내용", "메모"]],
        _make_kakaobank_row,
    ),
    "kbbank": ListFormat(
        [["거래일시", "적요", "보낸분/받는분", "송금메모", "출금액", "입금액", "잔액",
          "거래점", "구분"]],
        _make_kbbank_row,
    ),
    "shinhanbank": ListFormat(
        [["거래일자", "거래시간", "적요", "출금(원)", "입금(원)", "내용", "잔액(원)", "거래점"]],
        _make_shinhanbank_row,
    ),
    "ibk": ListFormat(
        [["", "거래일시", "출금", "입금", "거래후 잔액", "거래내용", "상대계좌번호", "상대은행",
          "메모", "거래구분", "수표어음금액", "CMS코드", "상대계좌예금주명"]],
        _make_ibk_row,
    ),
}  # fmt: skip


def _make_samsungcard_row(move: Move) -> list[Any]:
    day, at = move.at.split()
    months = move.entry.months or ""
    return [
        "1234", "본인", day, at, move.text, _won(-move.amount),
        "할부" if months else "일시불", months, "", "Y" if move.amount > 0 else "N",
    ]  # fmt: skip


def _make_shinhancard_row(move: Move) -> list[Any]:
    months = move.entry.months
    kind = f"할부 {months}개월" if months else "일시불"
    state = "취소" if move.amount > 0 else ""
    return [move.at, "본인 1*", move.text, _won(abs(move.amount)), kind, "", "", state]


def _make_kbcard_row(move: Move) -> list[Any]:
    day, at = move.at.split()
    months = move.entry.months
    kind = f"할부({months})" if months else "일시불"
    state = "승인취소" if move.amount > 0 else "정상"
    return [day, at, "탄탄", move.text, _won(abs(move.amount)), "", kind, state, "0012"]


def _make_hyundaicard_row(move: Move) -> list[Any]:
    months = move.entry.months or "일시불"
    state = "취소" if move.amount > 0 else "정상"
    amount = _won(abs(move.amount))
    return [move.at, "*1234", move.text, amount, "0", "본인", months, state]


def _make_wooricard_row(move: Move) -> list[Any]:
    cancelled = f"{move.entry.date}" if move.amount > 0 else "-"
    amount, months = _won(abs(move.amount)), move.entry.months or ""
    return [
        "",
        "본인",
        "1111",
        "",
        "",
        move.at,
        amount,
        months,
        "",
        cancelled,
        move.text,
        "",
    ]


CARDS = {
    "samsungcard": ListFormat(
        [["카드번호", "본인가족구분", "승인일자", "승인시각", "가맹점명", "승인금액(원)",
          "일시불할부구분", "할부개월", "승인번호", "취소여부"]],
        _make_samsungcard_row,
    ),
    "shinhancard": ListFormat(
        [["거래일", "이용카드", "가맹점명", "금액", "이용구분", "승인번호", "매입구분",
          "취소상태"]],
        _make_shinhancard_row,
    ),
    "kbcard": ListFormat(
        [["이용일", "이용 시간", "이용카드명", "이용하신곳", "국내이용\n금액\n(원)",
          "해외이용\n금액\n($)", "결제방법", "상태", "승인번호"]],
        _make_kbcard_row,
    ),
    "hyundaicard": ListFormat(
        [["현대카드 이용내역"], ["이용일", "카드번호", "가맹점명", "이용 금액", "부가세", "관계",
         "할부", "상태"]],
        _make_hyundaicard_row,
    ),
    "wooricard": ListFormat(
        [["국내 거래승인내역(정상)"], ["No", "회원", "카드", "요청방식", "승인번호", "승인일자",
         "승인금액", "할부", "접수일", "취소일", "가맹점", "사업자번호"]],
        _make_wooricard_row,
    ),
}  # fmt: skip


def write_bank(source: str, entries: Iterable[FamilyEntry]) -> bytes:
    """Return the list of the family's bank account, in CP949."""
    form = BANKS[source]
    rows = [form.make_row(move) for move in list_moves(entries, BANK)]
    return write_csv([*form.head, *rows], "cp949")


def list_card_moves(entries: Iterable[FamilyEntry]) -> list[Move]:
    """Return purchases and refunds of the family's card; bills are paid elsewhere."""
    moves = list_moves(entries, CARD)
    return [move for move in moves if move.entry.kind != "transfer"]


def write_card(source: str, entries: Iterable[FamilyEntry]) -> bytes:
    """Return the list of the family's card, in CP949."""
    form = CARDS[source]
    rows = [form.make_row(move) for move in list_card_moves(entries)]
    return write_csv([*form.head, *rows], "cp949")
