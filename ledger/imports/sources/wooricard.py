"""우리카드: approvals sent by mail, and the bill of a month with two header rows."""

from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

WOORICARD = LayoutSource(
    "wooricard",
    "우리카드",
    (
        CardLayout(
            marks=(
                "승인일자",
                "카드",
                "요청방식",
                "승인금액",
                "할부",
                "취소일",
                "가맹점",
            ),
            merchant="가맹점",
            amount="승인금액",
            card="카드",
            months="할부",
            cancelled_on="취소일",
        ),
        CardLayout(
            marks=(
                *("이용일자", "이용카드", "매출구분", "이용가맹점(은행)명", "이용금액"),
                *("할부개월", "회차", "원금"),
            ),
            merchant="이용가맹점(은행)명",
            amount="이용금액",
            card="이용카드",
            months="할부개월",
            part="회차",
            due="원금",
            statuses=("매출구분",),
            abroad="국외",
            benefit="차감",
            header_rows=2,
        ),
    ),
)
