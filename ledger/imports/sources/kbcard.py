"""KB국민카드: purchases, and the bill of a month with its header in two rows."""

from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

KBCARD = LayoutSource(
    "kbcard",
    "KB국민카드",
    (
        CardLayout(
            marks=("이용일", "이용하신곳", "국내이용금액", "결제방법", "상태"),
            time="이용 시간",
            merchant="이용하신곳",
            amount="국내이용금액",
            card="이용카드명",
            months="결제방법",
            statuses=("상태",),
            foreign="해외이용금액",
            foreign_currency="USD",
        ),
        CardLayout(
            marks=(
                *("이용일자", "이용카드", "이용하신 가맹점", "이용금액", "할부개월"),
                *("회차", "원금"),
            ),
            merchant="이용하신 가맹점",
            amount="이용금액",
            card="이용카드",
            months="할부개월",
            part="회차",
            due="원금",
            header_rows=2,
        ),
    ),
)
