"""카카오뱅크: the list that is sent by mail, encrypted with a birth date."""

from ledger.imports.sources.banks import BankLayout
from ledger.imports.sources.layouts import LayoutSource

KAKAOBANK = LayoutSource(
    "kakaobank",
    "카카오뱅크",
    (
        BankLayout(
            marks=("거래일시", "구분", "거래금액", "거래 후 잔액", "거래구분", "내용"),
            texts=("내용", "거래구분"),
            kind="구분",
            amount="거래금액",
            balance="거래 후 잔액",
            notes=("메모",),
        ),
    ),
)
