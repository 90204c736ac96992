"""Payments of card bills in the lists of banks (spec 3.29).

Money that a bank pays to a card company moves to the card, and is no expense: the
purchases are. Pure.
"""

import re
from collections.abc import Iterable

from ledger.imports.texts import normalize_text

# Card companies by the names that banks write before 카드.
_ISSUERS = {
    "삼성": "삼성카드",
    "신한": "신한카드",
    "kb국민": "KB국민카드",
    "국민": "KB국민카드",
    "kb": "KB국민카드",
    "현대": "현대카드",
    "롯데": "롯데카드",
    "우리": "우리카드",
    "하나": "하나카드",
    "nh농협": "NH농협카드",
    "농협": "NH농협카드",
    "nh": "NH농협카드",
    "bc": "BC카드",
    "비씨": "BC카드",
    "ibk기업": "IBK기업은행카드",
    "ibk": "IBK기업은행카드",
    "기업": "IBK기업은행카드",
    "씨티": "씨티카드",
}
_COMPANY = r"(?:\(?주\)?|㈜|주식회사)?"
# The whole text: 우리카드 is a bill, 우리카드스타벅스 a purchase.
_BILL = re.compile(
    rf"{_COMPANY}(?:({'|'.join(_ISSUERS)})(?:신용)?(?:카드|비씨))?{_COMPANY}"
    r"(카드)?(이용|결제|사용)?(대금|값)?(납부|결제|출금|이체|자동이체|자동납부|cms)?"
    r"[\d월분.\-/]*"
)


def is_card_bill(texts: Iterable[str]) -> bool:
    """Return whether a bank's row pays the bill of a credit card."""
    return _find_bill(texts) is not None


def find_card_issuer(texts: Iterable[str]) -> str | None:
    """Return the card company that a bank's row pays; None if the row names none."""
    return _find_bill(texts) or None


def _find_bill(texts: Iterable[str]) -> str | None:
    """Return the issuer of a bill, "" for a bill of none, None for another payment."""
    keys = [normalize_text(text) for text in texts if text]
    if any("체크" in key for key in keys):
        return None
    found: str | None = None
    for key in keys:
        match = _BILL.fullmatch(key)
        if match is None:
            continue
        if match[1] is not None:
            return _ISSUERS[match[1]]
        if match[2] is not None and match[4] is not None:
            found = ""
    return found
