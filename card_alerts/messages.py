"""Split a text into its messages.

A message begins at the mark of an SMS, at a heading of a KakaoTalk room, after a blank
line, or at a line that begins like one, if the message before and the rest are
complete.
"""

import re
from dataclasses import dataclass
from itertools import islice

from card_alerts.money import BALANCE_PATTERN, RUNNING_TOTAL_PATTERN
from card_alerts.patterns import pattern
from card_alerts.result import Span

MAX_MESSAGES = 20

# A text with fewer than two of them is one message.
_STATUS = pattern(
    r"""
    (?=[승취거결사이출입일]|(?i:[spctdrufaw]|mad))(?:승인(?!금액|번호|일)
    | 취소 | 거절
    | 결제(?!금액|예정|일(?!시불)|수단|계좌|대금|하면|[ ]?시[ ])
    | 사용(?!금액|처|가능|[ ]?가능)
    | (?<!최근)(?<!최근[ ])이용(?!금액|내역|안내|한도|가능|[ ]금액|[ ]?가능)
    | 출금 | 입금 | 일시불
    | \b(?i:
          spent | purchase | paid | charged? | transaction | txn | debited | credited
          | declined
          | refund(?:ed)?
          | used | authori[sz]ed | withdrawn | made
      )\b)
    """,
    example="체크카드출금",
    initials="ACDMPRSTUWacdmprstuw거결사승이일입출취",
)
_AMOUNT = pattern(
    r"""
    # "more than $1" is the limit of an alert.
    \d[ ]?원 | (?<!than[ ])(?<!eeds[ ])[$€£₩¥₹][ ]?\d
    | (?<![A-Za-z])[A-Z]{3}[ ]?\d
    | \bRs\.?[ ]?\d
    | \d[ ]?(?:USD|EUR|JPY|KRW|INR)\b
    | \d\(?(?:USD|US\$|KRW|JPY|EUR)
    | (?:^|\n)-?\d{1,3}(?:,\d{3})+(?=\n|$)
    | \d[ ]?円
    | [ /]\d{1,3}(?:,\d{3})+[ \n]
    """,
    example="출금취소\n5,180",
    initials=r"A-Z\d\n $\-/£¥₩€₹",
)
_NUMBER = pattern(r"\d[\d,.]*", example="천원마트 2호점")
_DETAIL = pattern(
    r"""
    \d{1,2}/\d{1,2} | \d{1,2}월[ ]?\d{1,2}일 | \d{4}[-.]\d{2}[-.]\d{2} | \d:\d\d | 카드
    | 뱅크 | 은행 | 페이
    | (?i:Pay)
    | 완료
    | 원[ ]?(?:결제|승인|사용|취소)
    | 되었 | 했어요 | \(\d{4}\)
    | \b(?i:card|at|A/c|account)\b
    | \d{4}승인
    """,
    example="우리(0093)승인",
)
_TIME_OR_DIGITS = pattern(
    r"\d/\d{1,2}[^\n]{0,3}\d:\d\d|\(\d{4}\)|\d{4}승인|\d\*\d\*",
    example="김*지 롯데5*5*",
)
_BENEFIT = pattern(
    r"""
    (?<![\d,])\d[\d,]{0,14}(?:원|P)?[ ]?(?:캐시백|적립|할인|인센티브)
    | (?:캐시백|적립|할인|인센티브|포인트)[ ]?(?:사용[ ]?)?\d[\d,]*(?:원|P)?
    | [Ss]pent[ ](?:today|this[ ]\w{4,5})[ :]{1,2}[$€£]?\d[\d.,]*
    """,
    example="5,000원 캐시백",
)
_ISSUER = r"""
    신한 | KB | 국민 | 삼성 | 현대 | 롯데 | LOCA | 로카 | 우리 | 하나 | NH | 농협 | BC
    | 비씨 | 씨티 | 카카오 | 카뱅 | 토스 | 케이뱅크 | IBK | 기업 | SC | MG | 새마을
    | 수협 | 광주 | 전북 | 제주 | 신협 | 우체국 | 네이버 | 페이코 | PAYCO | 부산 | 경남
    | 대구 | iM | 스마일 | 디지로카 | Chase | Amex
"""
# A message begins here if an amount stands before.
_MARK = pattern(
    r"""
    \[?(?:Web|WEB|web|국제|국외)[ ]?발신\]?
    | ^\[[^\[\]\n]{1,30}\][ ]\[(?:오전|오후)[ ]?\d{1,2}:\d\d\]
    | ^\d{4}[년.][^\n,]{4,24}\d{1,2}:\d\d,[ ][^:\n]{1,30}[ ]:[ ]
    | ^-{3,}[^\n]{0,40}$ | ^[=─━_*~]{3,}$
    """,
    example="[하지민] [오후 2:49]",
    flags=re.MULTILINE,
)
_HEADING = pattern(
    rf"\s{{0,9}}\[?(?:{_ISSUER})[가-힣A-Za-z ]{{0,6}}\]?[ ]*\n",
    example="롯데시네마 수원\n",
)
_START = pattern(
    rf"""
    (?:(?<=\n)[ \t]{{0,20}}\n(?=\S))
    | ^(?=
          [ \t]{{0,8}}(?:[-•·*>▶■□○]|\d{{1,2}}[.)]|[①-⑳])?[ \t]{{0,8}}[\[<(]?
          (?:{_ISSUER})[^\n]{{0,40}}(?:승인|취소|거절|사용|출금|입금|결제)
      )
    | ^(?=
          [ \t]{{0,8}}(?:[-•·*>▶]|\d{{1,2}}[.)])?[ \t]{{0,8}}[₩\d][\d,]{{0,15}}원?[ ]?
          (?:결제|승인|사용|출금|입금)
      )
    | ^(?=\[KB\]\d)
    | ^(?=\[?(?:{_ISSUER})[가-힣A-Za-z ]{{0,6}}\]?[ ]*\n)
    | (?<=[ \n.])(?=
          (?:{_ISSUER})(?:국민)?(?:카드|체크|BC|비씨|법인)?\(?[\d*]{{4}}\)?[ ]?
          (?:승인|취소|사용)
      )
    """,
    example="*승인거절\n\n공*진\n\nU",
    flags=re.MULTILINE,
)
_METHOD = pattern(
    r"""
    \s{0,9}[가-힣A-Za-z. ]{0,12}(?:머니|MONEY|[Mm]oney|포인트|POINT)
    [ ][\d,]{1,15}원?P?[ ]?사용
    """,
    example="SSG MONEY 7,480원 사용",
)
# The lines of one payment
_RECEIPT = pattern(
    r"""
    (?:합계|소계)[ ]?:?[ ]₩?\d[\d,]{2,12}원?[ ]*\n | 총[ ][\d,]{1,12}원[ ]중[ ]
    | 결제[ ]?금액[ :]{1,3}[\s\S]{1,60}?\n
      [^\n]{0,4}(?:환불|취소)[ ]?(?:완료)?금액[ :]{1,3}\d
    # The last of the amounts of one payment
    | (?:최종|총|실)[ ]?결제[ ]?금액[ :]{0,3}\n?[ ]?₩?\d
      (?![\s\S]{0,600}(?:최종|총|실)[ ]?결제[ ]?금액|[\s\S]{0,600}발신\])
    """,
    example="상품 합계: 58,000원\n",
)
_LINE = pattern(r"(?<=\n)(?=[^\n])", example="eb발신]\n하나카드(8")
MAX_BOUNDARIES = 400
MIN_MESSAGE_LETTERS = 8


@dataclass(frozen=True, slots=True)
class _Chunk:
    start: int
    end: int
    is_marked: bool
    amount: str | None
    has_status: bool
    has_detail: bool
    # A date with its time, or digits of a card.
    has_own_time: bool
    letters: int
    # The name of an issuer fills its first line.
    is_heading: bool = False
    # The line of a means of payment: SSG MONEY 7,480원 사용.
    is_method: bool = False

    @property
    def is_complete(self) -> bool:
        return bool(self.amount and self.has_status and self.has_detail)

    def joined(self, other: "_Chunk") -> "_Chunk":
        return _Chunk(
            self.start,
            other.end,
            self.is_marked,
            self.amount or other.amount,
            self.has_status or other.has_status,
            self.has_detail or other.has_detail,
            self.has_own_time or other.has_own_time,
            self.letters + other.letters,
            self.is_heading,
        )


def split_messages(text: str) -> list[Span]:
    """Return the 1 to 20 messages of a normalized text.

    A footer belongs to the message before it.
    """
    whole = [(0, len(text))]
    if not _has_several_amounts(text) or _RECEIPT.search(text):
        return whole
    status = _STATUS.search(text)
    if status is None or not _STATUS.search(text, status.end()):
        return whole
    boundaries = _find_boundaries(text)
    if not boundaries:
        return whole
    starts = [(0, _MARK.match(text) is not None), *boundaries]
    ends = [start for start, _ in boundaries] + [len(text)]
    chunks = [
        _chunk(text, start, end, is_marked=is_marked)
        for (start, is_marked), end in zip(starts, ends, strict=True)
    ]
    messages: list[_Chunk] = []
    for chunk in _with_headings(chunks):
        last = messages[-1] if messages else None
        if last is None or _begins_message(last, chunk):
            messages.append(chunk)
        else:
            messages[-1] = last.joined(chunk)
    return [(each.start, each.end) for each in messages[:MAX_MESSAGES]]


def _with_headings(chunks: list[_Chunk]) -> list[_Chunk]:
    """Join headings without an amount with the chunk after them."""
    joined: list[_Chunk] = []
    heading: _Chunk | None = None
    for chunk in chunks:
        current = heading.joined(chunk) if heading and not chunk.is_marked else chunk
        if heading and chunk.is_marked:
            joined.append(heading)
        heading = None
        if current.amount is None and current.is_heading:
            heading = current
        else:
            joined.append(current)
    return [*joined, heading] if heading else joined


def _has_several_amounts(text: str) -> bool:
    totals = text.count("누적") + text.count("잔액") + text.count("누계")
    if text.count("원") - totals > 1 or totals > 1:
        return True
    if text.count("발신") > 1 or "] [" in text or text.count("[KB]") > 1:
        return True
    return "원" not in text and "\n" in text


def _begins_message(last: _Chunk, chunk: _Chunk) -> bool:
    if chunk.is_marked:
        is_message = last.amount is not None or last.is_marked
        return is_message and last.letters >= MIN_MESSAGE_LETTERS
    if not (last.is_complete and chunk.is_complete):
        return False
    # Two texts may report one payment: 상품권사용 2,300원, 바람커피에서 2,300원이 결제.
    is_same = chunk.amount == last.amount
    return not is_same or (chunk.has_own_time and not chunk.is_method)


def _find_boundaries(text: str) -> list[tuple[int, bool]]:
    """Return places where messages may begin, and True for a mark."""
    marked = {match.start() for match in islice(_MARK.finditer(text), MAX_BOUNDARIES)}
    found = dict.fromkeys(marked, True)
    for rule in (_START, _LINE):
        for match in islice(rule.finditer(text), MAX_BOUNDARIES):
            # The boundary is the end of a blank line.
            position = match.end()
            if rule is _LINE and not _is_complete_line(text, position):
                continue
            found.setdefault(position, False)
    return sorted(each for each in found.items() if each[0] > 0)


def _is_complete_line(text: str, start: int) -> bool:
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)]
    # A remark on the amount above: (지역화폐 2,400원 사용).
    if line.startswith("(") and line.rstrip().endswith(")"):
        return False
    return bool(_STATUS.search(line) and _AMOUNT.search(line) and _DETAIL.search(line))


def _chunk(text: str, start: int, end: int, *, is_marked: bool) -> _Chunk:
    part = text[start:end]
    for rule in (RUNNING_TOTAL_PATTERN, BALANCE_PATTERN, _BENEFIT):
        part = rule.sub(" ", part)
    match = _AMOUNT.search(part)
    number = None
    if match:
        numbers = [n for n in _NUMBER.finditer(part) if n.end() > match.start()]
        number = numbers[0][0].strip(".,") if numbers else None
    return _Chunk(
        start,
        end,
        is_marked,
        number,
        has_status=_STATUS.search(part) is not None,
        has_detail=_DETAIL.search(part) is not None,
        has_own_time=_TIME_OR_DIGITS.search(part) is not None,
        letters=sum(letter.isalpha() for letter in part),
        is_heading=start > 0 and _HEADING.match(part) is not None,
        is_method=_METHOD.match(part) is not None,
    )
