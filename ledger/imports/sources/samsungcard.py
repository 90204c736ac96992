"""삼성카드: purchases at home and abroad, and the bill of a month."""

from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

SAMSUNGCARD = LayoutSource(
    "samsungcard",
    "삼성카드",
    (
        CardLayout(
            marks=(
                *("승인일자", "승인시각", "가맹점명", "승인금액(원)", "할부개월"),
                "취소여부",
            ),
            time="승인시각",
            merchant="가맹점명",
            amount="승인금액(원)",
            card="카드번호",
            months="할부개월",
            statuses=("취소여부",),
        ),
        CardLayout(
            marks=("승인일자", "승인시각", "가맹점명", "승인금액(USD)", "취소구분"),
            time="승인시각",
            merchant="가맹점명",
            amount="승인금액(원)",
            card="카드번호",
            statuses=("취소구분",),
            foreign="승인금액(USD)",
            foreign_currency="USD",
        ),
        CardLayout(
            marks=(
                *("이용일", "이용구분", "가맹점", "이용금액", "총할부금액", "개월"),
                *("회차", "원금"),
            ),
            merchant="가맹점",
            amount="이용금액",
            card="이용구분",
            months="개월",
            part="회차",
            due="원금",
        ),
    ),
)
