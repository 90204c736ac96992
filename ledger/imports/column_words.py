"""Words in cells of the columns `type` and `status`, in Korean and English."""

from functools import lru_cache

from ledger.imports.records import Cell, Direction
from ledger.imports.texts import normalize_text, to_text

CACHED_WORDS = 512

_IN_WORDS = frozenset(
    (
        *("수입", "입금", "이체입금", "이자", "급여", "받음", "환급", "입"),
        *("income", "in", "credit", "cr", "deposit", "inflow", "revenue", "c"),
    )
)
_OUT_WORDS = frozenset(
    (
        *("지출", "출금", "이체출금", "결제", "승인", "사용", "보냄", "출", "체크카드"),
        *("expense", "exp", "exp.", "out", "debit", "dr", "withdrawal", "outflow"),
        *("payment", "purchase", "spending", "d"),
        *("취소", "승인취소", "결제취소", "부분취소", "cancellation"),
    )
)
_TRANSFER_WORDS = frozenset(
    ("이체", "계좌이체", "내계좌이체", "이체입금", "이체출금", "transfer", "이동")
)
_CANCELLED_WORDS = (
    *("취소", "승인취소", "결제취소", "매입취소", "부분취소", "전체취소", "환불"),
    *("cancelled", "canceled", "cancellation", "refunded", "reversed", "y"),
)
_DECLINED_WORDS = frozenset(
    ("거절", "승인거절", "실패", "declined", "failed", "rejected", "reverted")
)


@lru_cache(maxsize=CACHED_WORDS, typed=True)
def find_direction(cell: Cell) -> Direction | None:
    """Return the direction that a type tells, or None for an unknown word."""
    word = normalize_text(to_text(cell))
    if word in _IN_WORDS:
        return Direction.IN
    return Direction.OUT if word in _OUT_WORDS else None


@lru_cache(maxsize=CACHED_WORDS, typed=True)
def is_transfer(cell: Cell) -> bool:
    return normalize_text(to_text(cell)) in _TRANSFER_WORDS


@lru_cache(maxsize=CACHED_WORDS, typed=True)
def is_cancelled(cell: Cell) -> bool:
    return normalize_text(to_text(cell)) in _CANCELLED_WORDS


@lru_cache(maxsize=CACHED_WORDS, typed=True)
def is_declined(cell: Cell) -> bool:
    return normalize_text(to_text(cell)) in _DECLINED_WORDS
