"""The names that columns have, by the field that they are read as.

Names are compared without case, spaces and what stands in brackets, so that 출금액(원)
is 출금액.
"""

import re
from functools import lru_cache

from ledger.imports.texts import normalize_text

# The fields of a mapping, each with its names; the better name stands first.
_NAMES: dict[str, tuple[str, ...]] = {
    "date": (
        *("거래일시", "거래일자", "거래일", "이용일시", "이용일자", "이용일", "날짜"),
        *("일자", "일시", "승인일시", "승인일자", "승인일", "사용일자", "사용일"),
        *("기간", "매출일자", "매출일", "date", "transaction date", "posting date"),
        *("booking date", "posted date", "trans date", "datetime", "date time"),
        *("timestamp", "day", "buchungstag", "fecha"),
    ),
    "time": (
        *("거래시간", "거래시각", "이용시간", "승인시간", "시간", "시각"),
        *("time", "transaction time"),
    ),
    "amount": (
        *(
            "금액",
            "거래금액",
            "이용금액",
            "승인금액",
            "사용금액",
            "결제금액",
            "매출금액",
        ),
        *("이용금액합계", "국내이용금액", "amount", "transaction amount", "sum"),
        *("total amount", "value", "krw", "betrag", "importe", "money"),
    ),
    "out": (
        *("출금액", "출금금액", "출금", "찾으신금액", "지급액", "지급금액", "지출금액"),
        *("지출", "보낸금액", "인출금액", "withdrawal", "withdrawals", "debit", "out"),
        *("outflow", "paid out", "money out", "debit amount", "expense", "spent"),
    ),
    "in": (
        *("입금액", "입금금액", "입금", "맡기신금액", "수입금액", "수입", "받은금액"),
        *("deposit", "deposits", "credit", "in", "inflow", "paid in", "money in"),
        *("credit amount", "income", "received"),
    ),
    "type": (
        *("수입/지출", "구분", "거래구분", "타입", "유형", "거래유형", "입출금구분"),
        *("type", "transaction type", "income/expense", "debit/credit", "kind"),
    ),
    "text": (
        *("거래내용", "기재내용", "내용", "가맹점명", "가맹점", "이용가맹점", "사용처"),
        *("이용하신곳", "이용처", "상호", "거래처", "받는분", "보낸분", "적요"),
        *("description", "payee", "merchant", "details", "transaction details"),
        *("narrative", "counterparty", "name", "title"),
    ),
    "memo": (
        "메모",
        "비고",
        "송금메모",
        "통장메모",
        "memo",
        "note",
        "notes",
        "comment",
    ),
    "category": (
        *("대분류", "분류", "카테고리", "category", "main category"),
        *("category group", "group"),
    ),
    "minorCategory": (
        *(
            "소분류",
            "세부분류",
            "중분류",
            "subcategory",
            "sub category",
            "sub-category",
        ),
        "minor category",
    ),
    "wallet": (
        *("자산", "결제수단", "지갑", "계좌", "계좌번호", "카드", "카드명", "이용카드"),
        *(
            "카드구분",
            "account",
            "accounts",
            "wallet",
            "account name",
            "source account",
        ),
        *("asset", "payment method", "from account"),
    ),
    "toWallet": (
        *("입금계좌", "받는계좌", "상대계좌", "받는지갑", "to account", "towallet"),
        *("to wallet", "destination account", "transfer account", "account2"),
    ),
    "currency": ("통화", "화폐", "통화코드", "currency", "currency code", "ccy"),
    "originalAmount": (
        *("외화금액", "현지금액", "현지이용금액", "해외이용금액", "외화거래금액"),
        *("original amount", "foreign amount", "originalamount"),
    ),
    "exchangeRate": (
        *("환율", "적용환율", "exchange rate", "exchangerate", "rate", "fx rate"),
    ),
    "months": (
        *("할부개월", "할부기간", "할부개월수", "할부", "이용구분", "결제방법"),
        *("installments", "installment", "months"),
    ),
    "status": (
        *(
            "상태",
            "취소여부",
            "승인구분",
            "처리상태",
            "거래상태",
            "매입상태",
            "취소상태",
        ),
        *("status", "state"),
    ),
    "tags": ("태그", "해시태그", "tags", "tag", "labels", "label"),
    "id": (
        *("거래번호", "승인번호", "거래고유번호", "id", "transaction id", "fitid"),
        *("reference", "external id", "uuid"),
    ),
}
FIELDS = frozenset(_NAMES)

_BRACKETS = re.compile(r"[(\[{<][^)\]}>]*[)\]}>]")


def plain_name(name: str) -> str:
    """Return a name for comparing: without case, spaces and brackets."""
    normalized = normalize_text(name)
    return _BRACKETS.sub("", normalized) or normalized


_FIELDS_BY_NAME: dict[str, list[tuple[str, int]]] = {}
for _field, _names in _NAMES.items():
    for _rank, _name in enumerate(_names):
        _FIELDS_BY_NAME.setdefault(plain_name(_name), []).append((_field, _rank))

# Names of what a card has been used for: above 0 where money goes out.
SPENT_NAMES = frozenset(
    map(
        plain_name,
        (
            *("이용금액", "승인금액", "사용금액", "결제금액", "매출금액"),
            *("이용금액합계", "국내이용금액"),
        ),
    )
)
# Rows of sums begin with these, if they have no date.
TOTAL_NAMES = tuple(
    map(
        normalize_text,
        (
            *("합계", "총계", "소계", "총합계", "총 합계", "누계", "총액", "총건수"),
            *("total", "subtotal", "sub total", "grand total", "sum"),
        ),
    )
)


@lru_cache(maxsize=2_000)
def fields_named(name: str) -> tuple[tuple[str, int], ...]:
    """Return the fields that a column of this name can be, with the name's rank."""
    return tuple(_FIELDS_BY_NAME.get(plain_name(name), ()))
