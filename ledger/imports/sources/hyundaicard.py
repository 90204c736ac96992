"""현대카드: purchases (encrypted), and the bill of a month."""

from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

HYUNDAICARD = LayoutSource(
    "hyundaicard",
    "현대카드",
    (
        CardLayout(
            marks=("이용일", "카드번호", "가맹점명", "이용 금액", "할부", "상태"),
            merchant="가맹점명",
            amount="이용 금액",
            card="카드번호",
            months="할부",
            statuses=("상태",),
        ),
        CardLayout(
            marks=(
                *("이용일", "이용카드", "이용가맹점", "이용금액", "할부/회차"),
                "결제원금",
            ),
            merchant="이용가맹점",
            amount="이용금액",
            card="이용카드",
            part="할부/회차",
            due="결제원금",
        ),
    ),
)
