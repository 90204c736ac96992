"""IBK기업은행: the list of an account, and the printed list of a card's approvals."""

from ledger.imports.sources.banks import BankLayout
from ledger.imports.sources.cards import CardLayout
from ledger.imports.sources.layouts import LayoutSource

IBK = LayoutSource(
    "ibk",
    "IBK기업은행",
    (
        BankLayout(
            marks=(
                *("거래일시", "출금", "입금", "거래후 잔액", "거래내용"),
                "상대계좌예금주명",
            ),
            texts=("거래내용", "상대계좌예금주명", "거래구분"),
            out="출금",
            into="입금",
            balance="거래후 잔액",
            notes=("메모",),
        ),
        CardLayout(
            marks=(
                *("승인일시", "승인구분", "이용구분", "카드번호", "이용가맹점명"),
                *("승인금액", "할부개월", "취소금액"),
            ),
            merchant="이용가맹점명",
            amount="승인금액",
            card="카드번호",
            months="할부개월",
            statuses=("승인구분",),
            cancelled_amount="취소금액",
        ),
    ),
)
