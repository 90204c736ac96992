"""토스뱅크: the list of a certificate, encrypted with a birth date."""

from ledger.imports.sources.banks import BankLayout
from ledger.imports.sources.layouts import LayoutSource

TOSSBANK = LayoutSource(
    "tossbank",
    "토스뱅크",
    (
        BankLayout(
            marks=("거래 일시", "적요", "거래 유형", "거래 금액", "거래 후 잔액"),
            # The second name is that of another edition.
            texts=("적요", "거래 기록사항", "거래 유형"),
            kind="거래 유형",
            amount="거래 금액",
            balance="거래 후 잔액",
            notes=("메모",),
        ),
    ),
)
