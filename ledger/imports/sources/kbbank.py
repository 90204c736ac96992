"""KB국민은행: the lists of its web pages, in four editions."""

from ledger.imports.sources.banks import BankLayout
from ledger.imports.sources.layouts import LayoutSource

KBBANK = LayoutSource(
    "kbbank",
    "KB국민은행",
    (
        BankLayout(
            marks=("거래일시", "보낸분/받는분", "출금액", "입금액", "잔액"),
            texts=("보낸분/받는분", "적요"),
            out="출금액",
            into="입금액",
            balance="잔액",
            notes=("송금메모", "내 통장 표시"),
        ),
        BankLayout(
            marks=(
                *("거래일시", "적요", "기재내용", "찾으신금액", "맡기신금액"),
                *("잔액", "거래점"),
            ),
            texts=("기재내용", "적요"),
            out="찾으신금액",
            into="맡기신금액",
            balance="잔액",
        ),
    ),
)
