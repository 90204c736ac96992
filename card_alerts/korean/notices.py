"""Find the notices that issuers print below or behind a payment.

※ 해외 이용 시 수수료가 부과됩니다, 혜택을 확인해 보세요, 할부 전환하기 >: notices have
no amount and no event.
"""

from itertools import islice

from card_alerts.masked_text import MERCHANT, NOISE, MaskedText
from card_alerts.patterns import pattern
from card_alerts.result import Span

MAX_NOTICE_LENGTH = 200
_LINE = rf"[^\n]{{0,{MAX_NOTICE_LENGTH}}}"
_MARK = "※☞"
# The event, an amount, or a task before the payment.
_NOT_IN_NOTICE = rf"""
    (?!
        {_LINE}(?:
            \d[ ]?(?:원|달러|유로|엔|위안|파운드|바트)
            | [$₩€¥£] | [A-Z]{{3}}[ ]?\d | \d[ ]?[A-Z]{{3}}(?![A-Za-z])
            | \d\d?:\d\d | [:=][ ]
            | (?:승인|결제|취소|사용|이용|구매|환불|입금|출금|이체|송금|충전|거절|실패)
              (?:이|가|을|를)?[ ]?(?:완료|처리|확인)?[ ]?
              (?:되었|됐|했|하였|하셨|되지[ ]?않|되셨)
            | 인증 | 비밀번호 | 입력 | 거부 | 못했
            # ▶현대카드 승인 above the lines of a payment
            | (?:승인|취소)[ ]?(?:\n|\Z)
            | (?:결제|승인|청구|출금)(?:이|가)?[ ]?
              (?:됩니다|될|할(?!인)|하세요|하시|해[ ]?주|를[ ]?(?:진행|완료))
        )
    )
"""
_END = r"""
    (?:
        니다 | 세요 | 어요 | 아요 | 해요 | 에요 | 예요 | 돼요 | 까요 | 시오 | 바람
        | (?<=[가-힣 ])하기
        | (?<=[가-힣 ])보기
        | 받기 | 가기
    )[.!?~ )>\]\-]{0,6}
    | [가-힣][ ]?>[ ]?
"""
_NOTICE_LINE = pattern(
    rf"""
    (?<=\n)(?=
        {_LINE}(?:{_END})[{NOISE}]{{0,{MAX_NOTICE_LENGTH}}}(?:\n|\Z)
        | [ ]{{0,3}}(?:[{_MARK}]|[▶►](?![^\n]{{0,60}}\n[ ]{{0,3}}[▶►]))
    )(?=[^\n]{{0,{MAX_NOTICE_LENGTH}}}[ {_MARK}▶►]|감사)
    {_NOT_IN_NOTICE}(?=[^\n]*[가-힣]){_LINE}
    """,
    example=f"{MERCHANT}\n잔액이 부족해요",
)
# A notice behind a mark ends its line.
_MARKED = pattern(
    rf"(?<=[^\s(\[])[ ]{{0,3}}[{_MARK}]{_LINE}", example="솔빛꽃집※우리카드 이용안내"
)
# On the line of a payment, a notice begins with a word that no name has.
_SENTENCE_START = pattern(
    r"""
    (?<=[^\s])[ ]{1,3}
    (?=
        본[ ]메시지 | 자세한[ ] | 자세히 | 이용해[ ]?주셔서
        | 지금[ ](?:바로|앱|확인)
        | 앱에서[ ]
        | [가-힣A-Za-z]{0,6}(?:페이|카드|뱅크|Pay|토스)[ ]앱에서
        | 도움이[ ] | 더[ ]많은[ ] | 궁금한
        | 본인이?[ ](?:사용|결제|이용)
    )
    """,
    example="통신비, 앱에서 확인하세요",
)
_SENTENCE_REST = pattern(
    rf"{_NOT_IN_NOTICE}{_LINE}?(?:{_END})(?=\n|\Z|[{NOISE}])", example="지금 확인하세요"
)
MAX_SENTENCE_STARTS = 4
_SENTENCE_HINT = pattern(
    r"""
    메시지 | 자세 | 주셔서 | 지금[ ] | 앱에서 | 도움이 | 더[ ]많은 | 궁금한 | 본인
    """,
    example=f"자세히 보기 {NOISE}",
)
_LAST_LETTERS = pattern(
    rf"""
    [다요오람기>{_MARK}▶►]
    (?:(?<=[{_MARK}▶►])|[.!?~ )>\]\-]{{0,6}}(?:[\n{NOISE}]|\Z))
    """,
    example=f"자세히 보기 {NOISE}",
)


def mask_notices(masked: MaskedText) -> None:
    text = masked.text
    if _may_have_notice_line(text):
        masked.mask_all(_NOTICE_LINE, NOISE)
    if "※" in text or "☞" in text:
        masked.mask_all(_MARKED, NOISE)
    if _SENTENCE_HINT.search(text):
        masked.mask_spans(_find_sentences(masked.text), NOISE)


def without_notices(text: str) -> str:
    if _may_have_notice_line(text):
        text = _NOTICE_LINE.sub("", text)
    if "※" in text or "☞" in text:
        text = _MARKED.sub("", text)
    if _SENTENCE_HINT.search(text):
        for start, end in reversed(_find_sentences(text)):
            text = f"{text[:start]}{text[end:]}"
    return text


def _find_sentences(text: str) -> list[Span]:
    found: list[Span] = []
    for start in islice(_SENTENCE_START.finditer(text), MAX_SENTENCE_STARTS):
        rest = _SENTENCE_REST.match(text, start.end())
        if rest and (not found or start.start() >= found[-1][1]):
            found.append((start.start(), rest.end()))
    return found


def _may_have_notice_line(text: str) -> bool:
    return "\n" in text and _LAST_LETTERS.search(text) is not None
