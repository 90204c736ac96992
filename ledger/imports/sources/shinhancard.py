"""신한카드: purchases, and the bill of a month (an HTML page in CP949 named .xls)."""

from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

SHINHANCARD = LayoutSource(
    "shinhancard",
    "신한카드",
    (
        CardLayout(
            marks=("거래일", "이용카드", "가맹점명", "금액", "이용구분", "취소상태"),
            merchant="가맹점명",
            amount="금액",
            card="이용카드",
            months="이용구분",
            statuses=("취소상태",),
            currency="거래통화",
            foreign="해외이용금액",
        ),
        CardLayout(
            marks=(
                *("이용일자", "이용카드", "이용가맹점", "이용금액", "할부기간/회차"),
                "이번달내실금액",
            ),
            merchant="이용가맹점",
            amount="이용금액",
            card="이용카드",
            part="할부기간/회차",
            due="이번달내실금액",
            statuses=("구분/상태",),
            header_rows=2,
        ),
    ),
)
