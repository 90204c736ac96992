"""Parse a Korean text: tokenize, classify, build the candidate."""

import re
from dataclasses import replace
from itertools import product

from card_alerts.candidate import (
    PaymentCandidate,
    SourceText,
    build_result,
    rejected_booking,
)
from card_alerts.issuer import Issuer
from card_alerts.issuers import find_issuer
from card_alerts.korean import rejection_rules
from card_alerts.korean.bookings import build_booking
from card_alerts.korean.card_numbers import last_digits
from card_alerts.korean.classifier import MessageEvidence
from card_alerts.korean.merchants import PaymentParts, find_merchant, tells_overseas
from card_alerts.korean.status_keywords import (
    CERTAIN_DECLINE,
    PARTIAL_CANCELLATION,
    WORD_FOLLOWS,
    StatusKeyword,
    choose_keyword,
)
from card_alerts.korean.tokenizer import TokenizedMessage
from card_alerts.masked_text import AMOUNT, INSTALLMENT, KEYWORD
from card_alerts.money import WON, MoneyMatch, parse_number
from card_alerts.patterns import pattern
from card_alerts.result import (
    BookingPurpose,
    Doubt,
    Kind,
    ParseResult,
    Reason,
    rejected,
)
from card_alerts.times import TimestampMatch

# USD 12.00 / 16,500원
_HOME_AMOUNT_PREFIX = pattern(rf"{AMOUNT}[ ]?[/(=≒][ ]?약?[ ]?$", example=f"{AMOUNT}/ ")
# Emoji are no part of a name.
_PICTURES = pattern(
    r"[‼⌚⌛⏰☀☕⚠✅✔✨❕❗❤⭐\U0001f000-\U0001faff]", example="6원 캐시백 🎉"
)
# A text with as many bars or dots separates its fields by them.
MIN_SEPARATORS = 3
# A title before the name that it repeats: KB국민카드 | KB국민카드(1234)승인.
_SEPARATED_TITLE = pattern(
    r"\s*(?P<first>\w\w)\w{0,10}[ ](?P<bar>[|·:])[ ]\[?(?P=first)",
    example="KB국민카드 | KB국민카드(1234)승인",
)
# 결제수단 : 페이코, 52,600원 (소리페이), where no other word names an issuer
_MEANS = pattern(
    r"""
    결제[ ]?(?:수단|방법)[ ]?[:=]?[ ]?(?P<value>[가-힣A-Za-z .]{2,12}?)[ ]*(?:\n|\(|$)
    | \d원[ ]·[ ](?P<bar>[가-힣A-Za-z ]{2,10}(?:페이|Pay))[ ]*(?:\n|·|$)
    | \d원[ ]?\((?P<behind>[가-힣A-Za-z ]{2,12}(?:페이|Pay|PAY))\)[ ]*(?:\n|$)
    """,
    example="결제수단 : 페이코",
)
# The last line: 소리페이를 이용해 주셔서 감사합니다.
_SIGNATURE = pattern(
    r"\n(?P<name>[가-힣A-Za-z ]{2,10})[을를][ ]이용해[ ]?주셔서[ ]감사합니다[. ]*\Z",
    example="\n소리페이를 이용해 주셔서 감사합니다.",
)
_FOLLOWED_BY_STATUS = pattern(
    rf"[ /|·,.()\-]{{0,4}}[{KEYWORD}{INSTALLMENT}]",
    example=f"SSG MONEY {AMOUNT} {KEYWORD}",
)
# Labels of the amount among several in a receipt; refunds are looked for first.
_AMOUNT_LABELS = tuple(
    pattern(
        rf"""
        (?<![가-힣][ ])(?<![가-힣])(?:총[ ]?|실[ ]?|최종[ ]?)?{word}
        [ ]{{0,4}}[:=]{{0,2}}[ ]?\n?[ ]?\Z
        """,
        example=example,
    )
    for word, example in (
        (r"(?:취소|환불|반환)[ ]?(?:완료[ ]?)?금액", "▶ 취소금액 : "),
        (r"(?:결제|승인)[ ]?금액", "▶ 결제금액 : "),
        (
            r"(?:영수[ ]?금액|(?:본인부담[ ]?)?수납액|결제|총|총액|총계|합계)",
            "영수금액 ",
        ),
        (r"원[ ]=", "수수료 19,250원 = "),
    )
)

# 이번달 사용 340,200원, 오늘 총 45,600원 사용
_PERIOD = pattern(
    r"""
    \W{0,3}
    (?:(?:이번|지난)[ ]?[달주]|이달|올해|오늘[ ]?(?:까지|총|쓴)|\d{1,2}월(?![ ]?\d))
    """,
    example="이번달 사용",
)
# USD 100.20 남음
_LEFT = pattern(r"[이가]?[ ]?(?:남[았음]|보유)", example=" 남음")
# The same amount once more, or in won
_LABEL_OF_PAID = pattern(
    r"""
    (?<!보유)(?<!보유[ ])금액 | 원화 | 환산 | 청구 | 환율 | 합계 | 총액 | 승인
    | 결제(?![ ]?[전후]) | 취소 | 환불 | 반환 | 영수 | 수납 | 납부 | 출금 | 차감
    | (?<![가-힣])[약총][ ]*\Z
    """,
    example="원화 환산 ",
)


def parse_korean(source: SourceText) -> ParseResult:
    # The dot of a Japanese keyboard separates like the Korean one.
    text = source.normalized.text.replace("・", "·")
    if _PICTURES.search(text):
        text = _PICTURES.sub(" ", text)
    text = _separate_fields(text)
    if rejection_rules.has_opt_out_number(text):
        return rejected(Reason.ADVERT)
    message = TokenizedMessage(text)
    money, home_money = _choose_amounts(message)
    keyword = choose_keyword(message.keywords)
    if keyword and _is_part_of_merchant(keyword, message):
        keyword = None
    timestamp, original = _choose_timestamps(message)
    used = PaymentParts(money, home_money, keyword, timestamp)
    merchant = find_merchant(message, used)

    if source.sender_issuer is None and (issuer := _find_signature(text)):
        source = source._replace(sender_issuer=issuer)
    evidence = MessageEvidence(message, money, keyword, merchant, source.sender_issuer)
    reason = evidence.rejection_reason()
    dates = timestamp, original
    if reason:
        result = _reject(reason, message, source, money, timestamp)
        if not (evidence.is_undecided and source.is_weighed):
            return result
        would_be = build_result(_candidate(evidence, home_money, dates, source), source)
        if not would_be.recognized:
            return result
        if evidence.is_unlikely:
            would_be = replace(would_be, doubts=(Doubt.KIND,))
        return replace(result, would_be=would_be)
    return build_result(_candidate(evidence, home_money, dates, source), source)


def _candidate(
    evidence: MessageEvidence,
    home_money: MoneyMatch | None,
    dates: tuple[TimestampMatch | None, TimestampMatch | None],
    source: SourceText,
) -> PaymentCandidate:
    message, keyword, merchant = evidence.message, evidence.keyword, evidence.merchant
    kind = evidence.kind
    timestamp, original = dates
    is_cancellation = kind is Kind.CANCELLATION
    if is_cancellation and original is None and evidence.has_usage_keyword():
        timestamp, original = None, timestamp

    match, total = message.issuer_match, message.running_total
    installments = message.installments
    rest = merchant.remove_from(message.text) if merchant else message.text
    return PaymentCandidate(
        kind=kind,
        kind_span=keyword.span if keyword else None,
        issuer=_choose_issuer(message, source.sender_issuer),
        issuer_span=match.span if match else None,
        card_hint_span=(
            last_digits(message.text, message.card_digits)
            if message.card_digits
            else message.card_product or message.card_nickname
        ),
        is_check_card=message.is_check_card,
        money=evidence.money,
        home_money=home_money,
        merchant_span=(merchant.start, merchant.end) if merchant else None,
        installment_months=_installment_months(installments),
        installment_months_span=installments.span() if installments else None,
        timestamp=timestamp,
        standalone_time=message.standalone_time,
        original_timestamp=original,
        is_preliminary=kind is Kind.APPROVAL and evidence.is_preliminary,
        is_merchant_sure=merchant is not None and merchant.is_sure,
        is_partial=is_cancellation and bool(PARTIAL_CANCELLATION.search(rest)),
        running_total=_matched_number(total),
        running_total_span=total.span() if total else None,
        balance=message.balance_amount,
        balance_currency=message.foreign_balance_currency(source.home_currency),
    )


def _separate_fields(text: str) -> str:
    if text.count("|") >= MIN_SEPARATORS:
        text = text.replace("|", "\n")
    for separator in (" | ", " · "):
        if separator not in text:
            continue
        if text.count(separator) >= MIN_SEPARATORS:
            text = text.replace(separator, " \n ")
        title = _SEPARATED_TITLE.match(text)
        if title:
            start, end = title.span("bar")
            text = f"{text[:start]}\n{text[end:]}"
    return text


def _choose_issuer(
    message: TokenizedMessage, sender_issuer: Issuer | None
) -> Issuer | None:
    match = message.issuer_match
    if match is None:
        means = _MEANS.search(message.text) if sender_issuer is None else None
        return find_issuer(means[means.lastgroup or 0]) if means else sender_issuer
    if match.has_following_word and sender_issuer and not sender_issuer.is_pay_service:
        # The name may be the merchant's; a pay service sends for any card.
        return sender_issuer
    return match.issuer


def _find_signature(text: str) -> Issuer | None:
    """Return the issuer that thanks for the payment below it."""
    thanks = _SIGNATURE.search(text) if "주셔서" in text else None
    return find_issuer(thanks["name"]) if thanks else None


def _installment_months(match: re.Match[str] | None) -> int | None:
    return int(match[match.lastgroup or 0]) if match else None


def _matched_number(match: re.Match[str] | None) -> int | None:
    return int(parse_number(match["number"])) if match else None


def _reject(
    reason: Reason,
    message: TokenizedMessage,
    source: SourceText,
    money: MoneyMatch | None,
    timestamp: TimestampMatch | None,
) -> ParseResult:
    if reason is Reason.BANK_TRANSFER:
        booking = build_booking(message, source, money, timestamp)
        return rejected_booking(booking, source)
    if reason is Reason.STATEMENT and message.balance and "예정" not in message.text:
        # A bank paid the bill of a card: KB카드대금 출금 718,500 잔액902,055.
        booking = build_booking(message, source, money, timestamp)
        if booking and booking.purpose is BookingPurpose.CARD_BILL:
            return rejected_booking(booking, source, reason)
    return rejected(reason)


def _choose_amounts(
    message: TokenizedMessage,
) -> tuple[MoneyMatch | None, MoneyMatch | None]:
    text = message.masked.text
    ends = [each.span[1] for each in (*message.won_amounts, *message.foreign_amounts)]
    line_end = text.find("\n", min(ends)) if len(ends) > 1 else -1
    won, foreign = (
        _choose_amount(
            [each for each in amounts if not _is_other_field(text, each, line_end)],
            text,
            message.text,
        )
        for amounts in (message.won_amounts, message.foreign_amounts)
    )
    if foreign is None or won is None:
        return foreign or won, None
    before_won = text[max(0, won.span[0] - 6) : won.span[0]]
    are_pair = _HOME_AMOUNT_PREFIX.search(before_won)
    is_name = WORD_FOLLOWS.match(text, won.span[1])
    # 5000원 국밥 is a name; in ₩5,000 5,000원 both amounts are won.
    if (is_name and not are_pair) or foreign.currency == WON:
        return foreign, None
    is_overseas = tells_overseas(text) or any(
        "해외" in message.text[slice(*keyword.span)] for keyword in message.keywords
    )
    # 41,120원 (24.19EUR)
    is_in_brackets = text[won.span[1] : foreign.span[0]].strip() == "("
    if are_pair or is_overseas or is_in_brackets or foreign.span < won.span:
        return foreign, won
    return won, None


def _choose_amount(
    amounts: list[MoneyMatch], text: str, labels: str
) -> MoneyMatch | None:
    """Prefer the amount before a keyword or installments, or behind its label."""
    if len(amounts) < 2:
        return amounts[0] if amounts else None
    for money in amounts:
        following = _FOLLOWED_BY_STATUS.match(text, money.span[1])
        if following and not labels.startswith("사용", following.end() - 1):
            return money
    for label, money in product(_AMOUNT_LABELS, amounts):
        if label.search(labels, max(0, money.span[0] - 24), money.span[0]):
            return money
    # 5000원 국밥
    certain = [each for each in amounts if not WORD_FOLLOWS.match(text, each.span[1])]
    return (certain or amounts)[0]


def _is_other_field(text: str, money: MoneyMatch, line_end: int) -> bool:
    """Return True for 보유 12,340원 below the line of the first amount."""
    if not 0 <= line_end < money.span[0]:
        return False
    start = text.rfind("\n", 0, money.span[0]) + 1
    end = text.find("\n", money.span[1])
    line = text[start : end if end >= 0 else len(text)]
    label = text[start : money.span[0]]
    if _PERIOD.match(line) or _LEFT.match(text, money.span[1]):
        return True
    return (
        KEYWORD not in line
        and any(letter.isalpha() for letter in label)
        and not _LABEL_OF_PAID.search(label)
    )


def _is_part_of_merchant(keyword: StatusKeyword, message: TokenizedMessage) -> bool:
    """Return True for 한도초과 노래방 in an otherwise complete message."""
    if keyword.kind is not Kind.DECLINED or not keyword.is_weak:
        return False
    if CERTAIN_DECLINE.match(message.text, *keyword.span):
        return False
    match = message.issuer_match
    has_card = message.card_digits or (match and match.is_unambiguous)
    has_total = message.running_total or message.has_installment_terms
    return bool(has_card and message.timestamps and has_total)


def _choose_timestamps(
    message: TokenizedMessage,
) -> tuple[TimestampMatch | None, TimestampMatch | None]:
    own = [each for each in message.timestamps if not each.is_original]
    named = [each for each in message.timestamps if each.is_original]
    likely = [each for each in own if each.has_printed_time]
    if not likely and len(own) > 1:
        # 11/11 선물샵
        text = message.masked.text
        likely = [each for each in own if not WORD_FOLLOWS.match(text, each.span[1])]
    return next(iter(likely or own), None), next(iter(named), None)
