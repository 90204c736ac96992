"""Build the booking of an account from a bank's text.

The counterparty stands beside the word: 출금 60,000원 홍*동 잔액 326,348원.
"""

from card_alerts.candidate import SourceText, resolve_occurred_at
from card_alerts.issuers import find_issuer
from card_alerts.korean.tokenizer import TokenizedMessage
from card_alerts.masked_text import (
    HOLDER_NAME,
    ISSUER,
    KEYWORD,
    MERCHANT,
    PLACEHOLDERS,
    TIMESTAMP,
)
from card_alerts.money import MAX_AMOUNT, MoneyMatch
from card_alerts.normalization import to_printed_text
from card_alerts.patterns import pattern
from card_alerts.result import BankBooking, BookingDirection, BookingPurpose, Span
from card_alerts.times import TimestampMatch

_MODE = r"""
    (?:
        전자금융 | 스마트폰?
        | (?:공동|타행)?CMS
        | 자동이체 | 자동 | 인터넷 | 모바일 | 타행 | 당행 | 대체 | FBS | ATM | CD
        | CD공동 | 폰뱅킹 | 오픈뱅킹 | 펌뱅킹 | 뱅킹 | 즉시 | 실시간 | 예약 | 현금
        | 창구 | 외화
    )
"""
_END = r"""
    (?:
        액 | 건 | 알림 | 안내 | 내역 | [ ]?완료 | 취소 | 되었습니다 | 되었어요 | 됐어요
        | 됐습니다 | 했어요 | 했습니다
    ){0,3}
"""
_DEPOSIT = pattern(
    rf"""
    (?<=\n)(?:급여|상여금?|예금이자|이자|배당금?)(?=\n)
    | (?<!출)(?<!가능[ ]){_MODE}?[ ]?입금{_END}(?![가-힣]|출금)
    | 받았(?:어요|습니다)
    | 받으셨(?:어요|습니다)
    | 환급{_END}
    """,
    example="이하늘 FBS입금 1",
    initials=" ACF공급당대모받배뱅상스실예오외이인입자전즉창타펌폰현환",
)
_WITHDRAWAL = pattern(
    rf"""
    (?<!입){_MODE}?[ ]?출금(?![ ]?가능|계좌){_END}(?![가-힣])
    | 보냈(?:어요|습니다)
    | 보내셨(?:어요|습니다)
    | {_MODE}?[ ]?(?:이체|송금|지급){_END}(?![가-힣])
    """,
    example="이 출금됐어요.",
    initials=" ACF공당대모뱅보송스실예오외이인자전즉지창출타펌폰현",
)
_SENT_TO_MEMBER = pattern(
    r"님(?:이|께서)[ \n][^\n]{0,30}(?:보냈|보내셨|송금했|송금하셨)",
    example="김수아님이 선물을 보냈어요!",
)
_CANCELLED = pattern(
    r"(?:출금|입금|이체|송금)[ ]?취소|취소[ ]?(?:출금|입금)", example="출금취소\n16,45"
)
_CASH = pattern(
    r"""
    (?<![A-Za-z])ATM
    | (?<![A-Za-z])CD(?:기|공동|출금|[ ]|$)
    | 현금[ ]?(?:인출|출금|지급|서비스)
    """,
    example="10:15 ATM 잔액",
)
_CARD_BILL = pattern(
    r"""
    (?P<card>[A-Za-z가-힣]{1,8}?카드)(?:사)?[ ]?(?:결제|대금|이용|자동|출금|청구|$|[(_])
    | (?P<other>[A-Za-z가-힣]{1,8}?)[ ]?카드(?:값|대금)
    """,
    example="우리카드결제대",
)
_ANY_CARD_BILL = pattern(
    r"(?:신용)?카드[ ]?(?:이용)?(?:결제|대금|값)", example="카드결제"
)
# 481902**317, 123-****-4567-89, *120000, 입출금통장(0000), 홍*동(1234)
_ACCOUNT = pattern(
    r"""
    (?<![\d*])(?P<number>
        \d{2,6}\*{2,6}\d{2,6}
        | \d{2,6}-[\d*]{2,6}-[\d*]{2,8}(?:-[\d*]{1,4})?
        | \d{3,6}\*{3,8} | \*{1,4}\d{3,6}
    )(?![\d*,])
    | (?:통장|계좌|[가-힣]\*[가-힣]|님)[ ]?\((?P<digits>[\d*]{3,6})\)
    """,
    example="481902**317",
    initials=r"가-힣\d*",
)
_OWN_ACCOUNT = pattern(
    r"""
    [가-힣A-Za-z ]{0,12}(?:통장|계좌)(?:[ ]?\([^()\n]{1,12}\))?
    | [가-힣]\*[가-힣]\([\d*]{3,6}\)
    """,
    example="토스증권 계좌로",
)
_ARROW = pattern(r"[ ]?(?:→|->|➔|▶)[ ]?", example="홍*동 → 문*결")
_FIRST_WORD = pattern(
    r"""
    [\s\[(]*(?:\[?(?:Web|WEB|web)[ ]?발신\]?\s*)?[\[(]?(?P<name>[가-힣A-Za-z]{1,12})
    """,
    example="[토스뱅크] 입금",
)
_SEPARATOR = pattern(
    r"""
    \n | → | -> | ➔ | ▶ | [|·/] | [ ]{2,} | ,[ ]
    | (?<=님)(?:이|께서)[ ]
    | [ ]수수료(?=[ ]?\n)
    | [ ](?:공동|타행)?CMS출?(?=[ ]*(?:\n|$))
    """,
    example="홍*동 → 문*결",
)
_GLUED_AMOUNT = pattern(r"[\d,]{1,15}원(?=[^\s])", example="50,000원백*우님")
# The holder, before the date: 백*우님 11/05 10:33.
_BEFORE_DATE = pattern(
    rf"[님{HOLDER_NAME}]{{0,3}}[ ]?[{TIMESTAMP}]", example=f"{HOLDER_NAME} {TIMESTAMP}"
)
_EDGES = " .,:;-()[]<>\"'"
_FORMS = frozenset({"(주)", "(유)", "(재)", "(사)"})
_NO_NAME = pattern(
    r"""
    [\W\d_]*
    | (?:
          알림 | 안내 | 고객님 | 회원님 | 님 | 잔액 | 거래 | 계좌 | 원 | 적요 | 내용
          | 받는[ ]?분 | 보낸[ ]?분 | 이름 | 금액 | 일시 | 에서 | 으로 | 에게 | 에게서
          | 한테 | 뱅킹 | 에 | 계좌에 | 은행 | 수수료[ ]면제 | 수수료면제 | 을 | 를 | 이
          | 가
      )
    """,
    example="469***03801011",
)
_PARTICLE = pattern(
    r"(?:님)?(?:에게서|에게|께|한테|으로부터|로부터|님이|님께|님)$",
    example="류하진으로부터",
)
_ADDRESSED = pattern(
    r"님?(?:에게서?|께서?|한테|님이|으로부터)[ \n]|님이[ \n]", example="님에게 8,500원"
)
_VISIBLE = frozenset({HOLDER_NAME, KEYWORD, MERCHANT, ISSUER})


def build_booking(
    message: TokenizedMessage,
    source: SourceText,
    money: MoneyMatch | None,
    timestamp: TimestampMatch | None,
) -> BankBooking | None:
    """Return the booking of a refused text; None without an amount."""
    text = message.text
    deposit, withdrawal = _DEPOSIT.search(text), _WITHDRAWAL.search(text)
    word = deposit or withdrawal
    if money is None or word is None or not 0 < money.value <= MAX_AMOUNT:
        return None
    if deposit and withdrawal:
        # 입금 is more certain: 타행이체 입금.
        word = min(deposit, withdrawal, key=lambda match: match.start())
        if "이체" in word[0] or "송금" in word[0] or "지급" in word[0]:
            word = deposit if word is withdrawal and "출금" not in text else word
    # 홍*동님이 보냈어요 is a deposit, 홍*동님에게 보냈어요 a withdrawal.
    is_deposit = word is deposit or _SENT_TO_MEMBER.search(text) is not None
    bank, bank_span = _find_bank(message, source)
    account = _ACCOUNT.search(text)
    account_span = account.span(account.lastgroup or 0) if account else None
    name_span = _find_counterparty(message, word.span(), bank_span, bank)
    name = text[slice(*name_span)] if name_span else ""
    purpose, card_company = _find_purpose(text, name, is_deposit=is_deposit)
    is_home = money.currency == source.home_currency
    day = source.resolve_date(timestamp)
    balance = message.balance
    spans: dict[str, Span | None] = {
        "amount": money.span,
        "counterparty": name_span,
        "accountHint": account_span,
        "occurredAt": timestamp.span if timestamp else None,
        "balance": balance.span() if balance else None,
    }
    return BankBooking(
        BookingDirection.DEPOSIT if is_deposit else BookingDirection.WITHDRAWAL,
        purpose,
        amount=int(money.value) if is_home else None,
        currency=None if is_home else money.currency,
        original_amount=None if is_home else money.value,
        bank=bank,
        account_hint=text[slice(*account_span)] if account_span else None,
        counterparty=_printed(source, name_span),
        card_company=card_company,
        is_cancelled=_CANCELLED.search(text) is not None,
        balance=message.balance_amount,
        balance_currency=message.foreign_balance_currency(source.home_currency),
        occurred_at=resolve_occurred_at(
            timestamp, message.standalone_time, day, source
        ),
        occurred_on=day,
        spans={
            key: source.normalized.source_span(span)
            for key, span in spans.items()
            if span
        },
    )


def _find_purpose(
    text: str, name: str, *, is_deposit: bool
) -> tuple[BookingPurpose, str | None]:
    if _CASH.search(text):
        return BookingPurpose.CASH, None
    if is_deposit:
        return BookingPurpose.TRANSFER, None
    bill = _CARD_BILL.search(name)
    issuer = find_issuer(bill["card"] or bill["other"]) if bill else None
    if issuer and not issuer.is_pay_service:
        return BookingPurpose.CARD_BILL, issuer.name
    is_any_bill = _ANY_CARD_BILL.match(name) is not None
    return BookingPurpose.CARD_BILL if is_any_bill else BookingPurpose.TRANSFER, None


def _printed(source: SourceText, span: Span | None) -> str | None:
    if span is None:
        return None
    start, end = source.normalized.source_span(span)
    return to_printed_text(source.text[start:end]) or None


def _find_bank(
    message: TokenizedMessage, source: SourceText
) -> tuple[str | None, Span | None]:
    first = _FIRST_WORD.match(message.text)
    if first and _CARD_BILL.fullmatch(first["name"]):
        return (source.sender_issuer.name if source.sender_issuer else None), None
    issuer = find_issuer(first["name"]) if first else None
    if first and issuer:
        return issuer.name, first.span("name")
    if message.issuer_matches:
        match = message.issuer_matches[0]
        amounts = message.won_amounts or message.foreign_amounts
        if not amounts or match.span[0] < amounts[0].span[0]:
            return match.issuer.name, match.span
    return (source.sender_issuer.name if source.sender_issuer else None), None


def _find_counterparty(
    message: TokenizedMessage, word: Span, bank: Span | None, bank_name: str | None
) -> Span | None:
    visible = _visible_text(message, word, bank)
    names: list[Span] = []
    position = 0
    for separator in [*_SEPARATOR.finditer(visible), None]:
        end = separator.start() if separator else len(visible)
        span = _trim(visible, position, end)
        if span and not _is_bank(visible[slice(*span)], bank_name):
            names.append(span)
        position = separator.end() if separator else end
    arrow = _ARROW.search(message.text)
    middle = arrow.start() if arrow else word[1]
    masked = message.masked.text
    others = [span for span in names if not _BEFORE_DATE.match(masked, span[1])]
    names = others or names
    after = [span for span in names if span[0] >= middle]
    before = [span for span in names if span[0] < middle][::-1]
    addressed = [span for span in names if _ADDRESSED.match(message.text, span[1])]
    if arrow and _DEPOSIT.search(message.text):
        # 홍*동 → 내 통장
        ordered = [*before, *after]
    else:
        ordered = [*after, *before]
    return next(iter([*addressed, *ordered]), None)


def _visible_text(message: TokenizedMessage, word: Span, bank: Span | None) -> str:
    """Return the text with line breaks in place of all other parts."""
    masked = message.masked.text
    visible = "".join(
        "\n" if letter in PLACEHOLDERS and letter not in _VISIBLE else original
        for original, letter in zip(message.text, masked, strict=True)
    )
    for start, end in filter(None, (word, bank)):
        visible = visible[:start] + "\n" * (end - start) + visible[end:]
    for rule in (_DEPOSIT, _WITHDRAWAL, _OWN_ACCOUNT, _ACCOUNT):
        visible = rule.sub(lambda match: "\n" * len(match[0]), visible)
    return visible


def _is_bank(name: str, bank: str | None) -> bool:
    if bank is None or "카드" in name:
        return False
    issuer = find_issuer(name)
    return issuer is not None and issuer.name == bank


def _trim(text: str, start: int, end: int) -> Span | None:
    while (
        start < end and text[start] in _EDGES and text[start : start + 3] not in _FORMS
    ):
        start += 1
    if start >= end:
        return None
    amount = _GLUED_AMOUNT.match(text, start, end)
    start = amount.end() if amount else start
    while end > start and text[end - 1] in _EDGES:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    particle = _PARTICLE.search(text, start, end)
    if particle and particle.start() > start:
        end = particle.start()
    if start >= end or _NO_NAME.fullmatch(text, start, end):
        return None
    return start, end
