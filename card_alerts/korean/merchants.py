"""Stage 2, classify: find the merchant among the unmasked parts.

Names such as 11/11 선물샵, 5000원 국밥, 승인 카페 and 하나은행 앞 분식 begin with a
date, an amount, a keyword or an issuer that the payment does not use.
"""

from itertools import islice
from typing import NamedTuple

from card_alerts.issuers import find_issuer, get_alias
from card_alerts.korean.issuer_choice import find_heading_above
from card_alerts.korean.issuer_match import IssuerMatch
from card_alerts.korean.merchant_labels import COUNTRIES, MERCHANT_LABEL
from card_alerts.korean.merchant_names import (
    NUMERIC_NAME,
    ROUTE,
    MerchantSpan,
    trim_labeled_merchant,
    trim_merchant,
)
from card_alerts.korean.status_keywords import RANK_ATTACHED, StatusKeyword
from card_alerts.korean.tokenizer import QUOTED, TokenizedMessage
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    ISSUER,
    KEYWORD,
    NOISE,
    PLACEHOLDERS,
    TIMESTAMP,
)
from card_alerts.money import MoneyMatch
from card_alerts.patterns import pattern
from card_alerts.result import Kind
from card_alerts.times import TimestampMatch

# 12월 31일 호프 begins with one part.
MAX_PREFIX_PARTS = 4
MAX_SPANS = 80

_PUNCTUATION = " ,./|·:;<>()[]-~*"
_UNMASKED_SPAN = pattern(
    rf"[^\n{ANY_PLACEHOLDER}]{{1,600}}", example=f"{ISSUER}바람커피{AMOUNT}"
)
_LABELED = pattern(
    rf"""
    (?<![가-힣]){MERCHANT_LABEL}
    (?:
        [ ]?(?:[:=][ ]?\n?|\n)[ ]?(?P<value>[^\n{ANY_PLACEHOLDER}]{{1,600}})
        | (?<=\n결제처|\n사용처|\n이용처|\n가맹점|가맹점명)[ ]
          (?P<inline>[^\n{ANY_PLACEHOLDER}]{{1,600}})
    )
    """,
    example="가맹점\n달빛커피",
    initials="가거결구납매사상서승업요음이점주취판",
)
_MAY_BE_LABELED = pattern(
    r"[점명처자소호트곳름](?:[ ]?[:=\n]|[ ](?<=[처점명][ ]))",
    example="사용처\n바람커피",
)
_NEXT_LABEL = pattern(
    r"""
    [ ,/\-]{1,4}(?:승인|결제|이용|사용|거래|취소|할부|카드|누적|일시|금액|고객|잔액)
    [가-힣]{0,4}[ ]?:.*
    """,
    example="바람커피, 승인일시: 11/20",
)
# 소담카페에서 5,700원
_PARTICLE_AFTER = pattern(
    rf"에서[ \n,(]{{0,7}}[{AMOUNT}{KEYWORD}{TIMESTAMP}]",
    example=f"보정점에서 {AMOUNT}이",
)
# KB국민카드 | 별빛 상점
_BAR_BEFORE = pattern(
    rf"[{ISSUER}{AMOUNT}{KEYWORD}{NOISE}][ ]*[|·→][ ]*\Z",
    example=f"변경되었습니다. {KEYWORD}·",
)
# the Green로 19,000원: the paying card
_PAID_WITH = pattern(
    rf"""
    (?:카드(?:으로|로)?|머니로|인트로|[A-Za-z)](?:으로|로))[ ]{{0,2}}(?=[{AMOUNT}])
    | 단으로[ ](?=[{KEYWORD}])
    """,
    example=f"{NOISE} 귀하의 카드 {AMOUNT}",
)
# A line of keywords and headings above the name: 결제완료⏎바람커피⏎9,000원.
_STATUS_LINE = pattern(
    rf"^[^\n{AMOUNT}{TIMESTAMP}]*[{KEYWORD}]+[ ]*\n\Z",
    example=f"[{ISSUER}] {KEYWORD}\n",
)
# 승인 beside this keyword is no part of a name.
_PAYING_WORD = pattern(
    r"(?:결제|사용|이용)(?:[ ]?완료)?\Z", example="하나카드 정기결제"
)
# The means of a refund (취소수단: 소리페이)
_MEANS_LABEL = pattern(r"수단[ ]?[:=]?[ ]?\Z", example="취소수단: ")
_PHONE_ONLY = pattern(
    r"""
    ^[\[(]?(?:[가-힣]{2,10}[ ])?(?:☎|[Tt]\.?|(?i:tel)\.?)?[ ]?\d{2,4}-?\d{3,4}
    (?:-\d{4})?[\])]?$
    """,
    example="인증번호 482913",
)


# [바람마켓] 주문하신 42,300원이 신한카드로 결제되었습니다
_SHOP_HEADING = pattern(
    rf"""
    \A(?:[{KEYWORD}]{{1,20}}[.!]?[ ]?\n)?[\s{NOISE}]{{0,20}}\[(?P<name>
        (?![^\[\]\n]{{0,20}}
            (?:결제|승인|이용|사용|취소|환불|안내|알림|카드|은행|통행|교통|발신|체크|영수증
            |완료|접수))
        (?=[^\[\]\n]{{0,20}}[가-힣A-Za-z])[^\[\]\n{ANY_PLACEHOLDER}]{{2,20}}
    )\]
    """,
    example="[바람마켓] 주문하신",
)
_BRANCH_BELOW = pattern(
    rf"""
    [ ]?\n(?=[가-힣A-Za-z0-9]{{2,10}}[ ]?(?:\n[{ANY_PLACEHOLDER}]|$))
    [가-힣A-Za-z0-9]{{1,9}}점
    """,
    example="여울커피\n강남역점",
)


# 이용 기간, 처리일, before a colon or a day
_FIELD_LABEL = pattern(
    r"""
    (?<![가-힣])[가-힣]{0,4}(?:
        기간 | 일[시자정] | 시간 | 시각 | 번호 | 금액 | 수단 | 방법 | 구분 | 인원 | 수량
        | 사유 | 차수 | 날짜 | 내역
        | (?:결제|주문|이용|처리|예약|승인|접수|발행|대여|반납|방문|관람|진료|청구|구매
           |사용|출발|도착|완료|발매|갱신)일
    )\Z
    """,
    example="예약 기간",
)
_HAS_ITEM = pattern(r"항목|품목|품명|메뉴|차종", example="정비항목")
_VALUE_MARKS = f":={TIMESTAMP}{NOISE}"
_OTHER_LABEL = pattern(
    r"""
    [^\n가-힣:]{0,4}[가-힣]{2,6}(?:[ ][가-힣]{1,4})?[ ]?:{1,2}[ ]?[(\['\"]?
    """,
    example="▶대여방법 : ",
)
_ITEM = pattern(
    r"(?:[가-힣]{0,2}(?:항목|품목)|(?:작품|상품)명|메뉴|차종)[ ]",
    example="정비항목 엔진",
)
# 안녕하세요. 체험교육연구회입니다.
_GREETING = pattern(
    rf"""
    안녕하세요[.,!]?[ ]?\n?(?P<name>
        (?![^\n]{{0,20}}(?:고객|님|담당))[^\n.,!{ANY_PLACEHOLDER}]{{2,20}}?
    )[ ]?입니다
    """,
    example="안녕하세요. 바람문화원입니다.",
)
# 바람영화 결제 안내, above 결제가 완료되었습니다
_TITLE_NAME = pattern(
    rf"""
    \A(?P<name>
        (?!결제|승인|주문|구독|정기|자동|예약|환불|취소)[^\n\[\]{ANY_PLACEHOLDER}]{{2,16}}?
    )[ ](?:정기|자동|구독|연간|월간)?[ ]?
    (?:결제|구독|구매|이용권|[{KEYWORD}]+)[ ]?
    (?:완료|안내|영수증|내역)?[ ]?(?:안내|알림)?[ ]*\n
    """,
    example="바람영화 결제 안내\n",
)


# The title of a push of a shop
_TITLE_ALONE = pattern(
    rf"""
    \A(?P<name>
        (?![^\n]{{0,16}}(?:
            알림|안내|결제|승인|카드|은행|페이|메시지|영수증|완료|주문|예약|취소|환불|내역
            |이용|사용|통장|지갑|구독|정기|자동|요금|머니|앱|뱅크
        ))
        [^\n\[\]:,.!{ANY_PLACEHOLDER}]{{2,12}}
    )[ ]*\n
    """,
    example="든든한끼\n",
)


class PaymentParts(NamedTuple):
    money: MoneyMatch | None
    home_money: MoneyMatch | None
    keyword: StatusKeyword | None
    timestamp: TimestampMatch | None


def tells_overseas(text: str) -> bool:
    return "해외" in text or "국외" in text


def find_merchant(message: TokenizedMessage, used: PaymentParts) -> MerchantSpan | None:
    """Return the merchant.

    Sure are a marked name, the value of a label, a name before 에서, after a bar or
    above the amount, and the only candidate. Otherwise the first name after the date or
    the amount counts, the last before it, or the heading of a pay service.
    """
    if message.labeled_merchant:
        return trim_labeled_merchant(message.text, *message.labeled_merchant)
    text = message.masked.text
    is_overseas = bool(message.foreign_amounts) or tells_overseas(message.text)
    labeled = _LABELED.search(text) if _MAY_BE_LABELED.search(text) else None
    if labeled:
        start, end = labeled.span(labeled.lastgroup or 0)
        next_label = _NEXT_LABEL.search(text, start, end)
        end = next_label.start() if next_label else end
        name = trim_merchant(text, start, end, is_overseas=is_overseas)
        is_sure = True
    else:
        parts = _list_parts(text, is_overseas=is_overseas)
        before_particle = (p for p in parts if _PARTICLE_AFTER.match(text, p.end))
        after_bar = (
            p for p in parts if _BAR_BEFORE.search(text, max(0, p.start - 8), p.start)
        )
        above_amount = (p for p in parts[:1] if _is_above_amount(text, p))
        if "수단" in message.text:
            parts = [p for p in parts if not _is_behind_means(message.text, p)]
        if "→" in text or "->" in text:
            parts = [part for part in parts if not ROUTE.fullmatch(part.text)] or parts
        unlabeled = _without_values(text, parts)
        # A heading names the shop rather than the value of another label.
        heading = None if unlabeled or not parts else _find_pay_service(message)
        if heading:
            return heading
        parts = unlabeled or parts
        if len(parts) > 1 and _is_signature(text, parts[-1]):
            parts.pop()
        if len(parts) > 1:
            parts = [part for part in parts if not _is_method(text, part)] or parts
        anchor_part = used.timestamp or used.money
        anchor = anchor_part.span[1] if anchor_part else 0
        name = (
            next(before_particle, None)
            or next(after_bar, None)
            or next(above_amount, None)
        )
        is_sure = name is not None or (len(parts) == 1 and parts[0].start >= anchor)
        name = (
            name
            or _name_above_date(parts, used.money, anchor, text)
            or _first_name([p for p in parts if p.start >= anchor])
            or _first_name([p for p in reversed(parts) if p.start < anchor])
        )
        name = name or _find_quoted_name(message, is_overseas=is_overseas)
        name = name or _find_name_before_card(message, is_overseas=is_overseas)
    if name:
        whole = _with_next_line(_with_unused_parts(name, message, used), text)
        return whole._replace(is_sure=is_sure)
    return _find_pay_service(message)


def _with_next_line(name: MerchantSpan, text: str) -> MerchantSpan:
    """Return the name of 바람커피⏎강남역점 with its branch."""
    branch = None if name.text.endswith("점") else _BRANCH_BELOW.match(text, name.end)
    if branch is None or "\n" in name.text:
        return name
    return MerchantSpan(name.start, branch.end(), f"{name.text}{branch[0]}")


def _name_above_date(
    parts: list[MerchantSpan], money: MoneyMatch | None, date_end: int, text: str
) -> MerchantSpan | None:
    """Return the name between amount and date, if only lines below have others."""
    if money is None or money.span[1] >= date_end:
        return None
    line_end = text.find("\n", date_end)
    below = [part for part in parts if part.start >= date_end]
    if not below or line_end < 0 or below[0].start < line_end:
        return None
    return _first_name([p for p in parts if money.span[1] <= p.start < date_end])


def _find_quoted_name(
    message: TokenizedMessage, *, is_overseas: bool
) -> MerchantSpan | None:
    """Return the name of '바람커피' 12,000원 결제."""
    quoted = QUOTED.search(message.text) if "'" in message.text else None
    if quoted is None:
        return None
    start, end = quoted.span()
    return trim_merchant(message.text, start + 1, end - 1, is_overseas=is_overseas)


def _is_behind_means(text: str, part: MerchantSpan) -> bool:
    return _MEANS_LABEL.search(text, 0, part.start) is not None


def _list_parts(text: str, *, is_overseas: bool) -> list[MerchantSpan]:
    return [
        part
        for match in islice(_UNMASKED_SPAN.finditer(text), MAX_SPANS)
        if match[0].strip(_PUNCTUATION)
        and (part := trim_merchant(text, *match.span(), is_overseas=is_overseas))
        and not _is_field_label(text, part)
        # 프랑스에서 23.40 EUR 결제, above the shop
        and not (text.startswith("에서", part.end) and part.text in COUNTRIES)
        and not _PAID_WITH.search(text, part.end - 3, part.end + 3)
    ]


def _without_values(text: str, parts: list[MerchantSpan]) -> list[MerchantSpan]:
    if not (":" in text or _HAS_ITEM.search(text)):
        return parts
    return [part for part in parts if not _is_value(text, part)]


def _is_value(text: str, part: MerchantSpan) -> bool:
    """Return True if the label before it names no shop: 대여방법 : 지점 방문."""
    if _ITEM.match(text, part.start):
        return True
    start = text.rfind("\n", 0, part.start) + 1
    if ":" not in text[start : part.start]:
        return False
    return _OTHER_LABEL.fullmatch(text, start, part.start) is not None


def _is_field_label(text: str, part: MerchantSpan) -> bool:
    """Return True for 이용 기간 before its value; 커피시간 may be a shop."""
    behind = text[part.end : part.end + 3].lstrip(" ")[:1]
    if not behind or behind not in _VALUE_MARKS:
        return False
    return _FIELD_LABEL.search(text, part.start, part.end) is not None


def _find_name_before_card(
    message: TokenizedMessage, *, is_overseas: bool
) -> MerchantSpan | None:
    """Return the shop of 바람커피 현대카드(1234), but not 네이버 현대카드(1234)."""
    match = message.issuer_match
    if match is None or match.digits is None:
        return None
    start, end = match.start_with_product, match.span[0]
    return trim_merchant(message.text, start, end, is_overseas=is_overseas)


def _find_pay_service(message: TokenizedMessage) -> MerchantSpan | None:
    """Return what stands above all: 네이버페이 above the card, [바람마켓]."""
    match, heading = message.issuer_match, None
    if match:
        heading = find_heading_above(message.issuer_matches, match, message.text)
    if heading is not None and heading.is_app:
        return MerchantSpan(*heading.span, message.text[slice(*heading.span)])
    for rule in (_SHOP_HEADING, _GREETING, _TITLE_NAME, _TITLE_ALONE):
        shop = rule.search(message.masked.text)
        if shop:
            return MerchantSpan(*shop.span("name"), shop["name"])
    return None


def _is_method(text: str, part: MerchantSpan) -> bool:
    """Return True for the (토스페이) behind a payment."""
    behind = text[part.end : part.end + 4].lstrip(" -")
    before = text[max(0, part.start - 2) : part.start]
    if before in {f"{AMOUNT} ", "· "} and behind[:1] in {KEYWORD, "·"}:
        # 33,000원 소리페이 결제, 157,000원 · 소리페이 · 무이자
        issuer = find_issuer(part.text)
        return issuer is not None and issuer.is_pay_service
    if text[part.start - 1 : part.start] != "(" or behind[:1] not in {")", ISSUER}:
        return False
    if part.text.endswith(("상품권", "머니", "포인트")):
        return True
    issuer = find_issuer(part.text)
    return issuer is not None and issuer.is_pay_service


def _is_signature(text: str, part: MerchantSpan) -> bool:
    line_start = text.rfind("\n", 0, part.start)
    beside = text[max(0, line_start) : part.start] + text[part.end :]
    if line_start < 0 or beside.strip(_PUNCTUATION + "\n"):
        return False
    issuer = find_issuer(part.text.removesuffix("드림").rstrip())
    return issuer is not None and issuer.is_pay_service


def _is_title(match: IssuerMatch, message: TokenizedMessage) -> bool:
    card = message.issuer_match
    is_same = card is not None and card.issuer is match.issuer
    name = message.text[slice(*match.span)]
    is_app = match.issuer.is_pay_service and not get_alias(name).is_ambiguous
    return (is_same or is_app) and not message.text[: match.span[0]].strip(" \n[")


def _is_above_amount(text: str, first: MerchantSpan) -> bool:
    before = text[: first.start]
    after = text[first.end :].lstrip(" ,·|\n")
    line_end = text[first.end : first.end + 1]
    if line_end == "\n" and _STATUS_LINE.search(before) and after.startswith(AMOUNT):
        return True
    if any(
        part in before for part in (ISSUER, TIMESTAMP, AMOUNT, KEYWORD, HOLDER_NAME)
    ):
        return False
    is_first_line = first.end <= text.find("\n", first.start)
    return after.startswith(AMOUNT) and (is_first_line or ISSUER in after)


def _first_name(spans: list[MerchantSpan]) -> MerchantSpan | None:
    """Return the first name, else the first number (365)."""
    number = None
    for span in spans:
        if NUMERIC_NAME.match(span.text):
            number = number or span
        elif not _PHONE_ONLY.match(span.text):
            return span
    return number


def _list_unused_spans(
    name: MerchantSpan, message: TokenizedMessage, used: PaymentParts
) -> list[tuple[int, int]]:
    text, keyword = message.masked.text, used.keyword
    unused = [
        each.span
        for each in message.timestamps
        if each is not used.timestamp and not each.is_original
    ]
    unused += [
        each.span
        for each in (*message.won_amounts, *message.foreign_amounts)
        if each not in (used.money, used.home_money)
    ]
    unused += [
        each.span
        for each in message.keywords
        if each.is_weak
        and each is not keyword
        # 한도초과 is the reason of 승인거절.
        and (keyword is None or keyword.kind is not Kind.DECLINED)
        and (
            keyword is None
            or (
                keyword.rank == RANK_ATTACHED
                and not _PAYING_WORD.search(message.text, *keyword.span)
            )
            or keyword.span > each.span
            or text[: each.span[0]].rstrip(" ")[-1:] != AMOUNT
        )
    ]
    # An issuer is a part only of a name that ends the line.
    if text[name.end : name.end + 3].lstrip(" ")[:1] in {"", "\n"}:
        unused += [
            each.span
            for each in message.issuer_matches
            if each is not message.issuer_match
            and each.has_following_word
            and not _is_title(each, message)
        ]
    return unused


def _with_unused_parts(
    name: MerchantSpan, message: TokenizedMessage, used: PaymentParts
) -> MerchantSpan:
    """Return the name with the unused parts before it (11/11 선물샵)."""
    text = message.masked.text
    part = text[max(0, name.start - 3) : name.start].rstrip(" ")[-1:]
    if part not in PLACEHOLDERS or (
        (part == TIMESTAMP and used.timestamp and len(message.timestamps) < 2)
        or (part == KEYWORD and used.keyword and len(message.keywords) < 2)
    ):
        return name
    unused = _list_unused_spans(name, message, used)
    start = name.start
    for _ in range(MAX_PREFIX_PARTS):
        adjacent = [
            part
            for part in unused
            if part[1] <= start <= part[1] + 2 and not text[part[1] : start].strip(" ")
        ]
        if not adjacent:
            break
        start = adjacent[0][0]
    return MerchantSpan(start, name.end, message.text[start : name.end])
