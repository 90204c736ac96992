"""신한은행: the lists of its web pages and of SOL."""

from ledger.imports.sources.banks import BankLayout
from ledger.imports.sources.layouts import LayoutSource

SHINHANBANK = LayoutSource(
    "shinhanbank",
    "신한은행",
    (
        BankLayout(
            marks=("거래일자", "거래시간", "적요", "출금", "입금", "내용", "잔액"),
            time="거래시간",
            texts=("내용", "적요"),
            out="출금",
            into="입금",
            balance="잔액",
        ),
        BankLayout(
            marks=("거래일시", "적요", "입금액", "출금액", "내용", "잔액", "거래점명"),
            texts=("내용", "적요"),
            out="출금액",
            into="입금액",
            balance="잔액",
        ),
    ),
)
