"""Find the names of 200 local currencies.

Most contain the name of a town (부천페이, 인천e음, 순천사랑카드). They are neither
issuers nor merchants.
"""

from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

_WORDS = read_words("words.toml")
_OWN_NAMES = alternatives(_WORDS["local_currencies"])
_NOT_LOCAL = alternatives(_WORDS["no_local_currencies"])
_NAME = rf"""
    (?:
        [가-힣]{{0,5}}(?:{_OWN_NAMES})
        | (?!{_NOT_LOCAL})[가-힣]{{2,6}}?
          (?:
              [로으]?페이
              | [eE이][ ]?음(?:카드)?
              | 사랑(?:화폐|상품권|카드|페이)
              | [ ]?지역[ ]?화폐 | 상생카드 | 지역사랑상품권
          )
    )
"""
# The digits of a card are no part of it: 대전사랑카드(1357).
_SUFFIX = r"(?:[ ]?카드|[ ]?앱)?(?:[ ]?\((?![\d*]{4}\))[^()\n]{1,12}\))?"
# A heading at the beginning of a line or in brackets.
_HEADING = pattern(
    rf"""
    (?:^|(?<=\n)|(?<=\[)|(?<=[a-z]\][ ]))[ ]?(?P<part>{_NAME}{_SUFFIX})
    (?=\][ \n]?|[ ]?\n|\([\d*]{{4}}\)|[ ](?!점|[가-힣]{{1,8}}점)|$)
    """,
    example="성남사랑상품권",
)
# A line below the terms and the time is the merchant's: 한화이음.
_AT_PLACE_OF_NAME = pattern(
    r"""
    원[ ]?(?:일시불|\d{1,2}개월)[ ,]{0,2}\n?\d{1,2}/\d{1,2}[ ]\d{1,2}:\d\d[ ]?\n\Z
    | \n(?:잔액|지급가능액|누적)[ ]?[\d,]{1,15}원[ ]?\n\Z
    """,
    example="원 일시불, 11/3 17:07 \n",
)
# 부천페이 추가형 인센티브 727원, 부천페이(캐릭터) 총 보유 잔액 93,430원
_BESIDE_BALANCE = pattern(
    rf"""
    (?<![가-힣])(?P<part>{_NAME}{_SUFFIX}(?:[ ]?(?:추가형|선할인|충전형))?)
    (?=[ ]?(?:인센티브|캐시백|(?:총[ ]?)?(?:보유[ ]?)?잔액|잔여))
    """,
    example="부천페이 추가형 인센티브 727원",
    initials="가-힣",
)
# 강남사랑상품권 15,000원 결제
_BEFORE_AMOUNT = pattern(
    rf"""
    (?<![가-힣])(?P<part>{_NAME}{_SUFFIX})
    (?=[ ]\d[\d,]{{0,14}}원[ ]?(?:결제|사용|승인|취소))
    """,
    example="도담페이(도담지역사랑상품권) 12,700원 사용",
    initials="가-힣",
)
# Names that count as the issuer 지역화폐.
_GENERIC_NAME = pattern(
    r"사랑(?:화폐|상품권|카드|페이)|지역[ ]?화폐|지역사랑", example="마포사랑상품권"
)
_BALANCE_WORDS = ("인센티브", "캐시백", "잔액", "잔여")
_PAID_WORDS = ("원결제", "원사용", "원승인", "원취소")
MAX_SCAN_LENGTH = 600
_HAS_NAME = pattern(
    rf"페이|Pay|e[ ]?음|E[ ]?음|이[ ]?음|사랑|지역[ ]?화폐|{_OWN_NAMES}",
    example="순천사랑카드",
)


def is_generic_local_currency(name: str) -> bool:
    """Return True for 순천사랑카드 and 경기지역화폐, False for 여민전 and 부천페이."""
    return _GENERIC_NAME.search(name) is not None


def find_local_currencies(text: str) -> list[Span]:
    if not _HAS_NAME.search(text):
        return []
    rules = [_HEADING]
    if any(map(text.__contains__, _BALANCE_WORDS)):
        rules.append(_BESIDE_BALANCE)
    if "원 " in text or any(map(text.__contains__, _PAID_WORDS)):
        rules.append(_BEFORE_AMOUNT)
    found = [
        match.span("part")
        for rule in rules
        for match in rule.finditer(text, 0, MAX_SCAN_LENGTH)
        if rule is not _HEADING or not _AT_PLACE_OF_NAME.search(text, 0, match.start())
    ]
    return sorted(found)
