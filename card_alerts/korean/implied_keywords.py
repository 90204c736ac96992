"""Find the word of the event in messages without a keyword.

A withdrawal, the label of an amount or the heading of a receipt stands for it.
"""

import re
from dataclasses import dataclass

from card_alerts.korean.orders import find_receipt_word
from card_alerts.korean.status_keywords import (
    PENDING,
    RANK_ADJACENT,
    RANK_STANDALONE,
    StatusKeyword,
)
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    ISSUER,
    NOISE,
    TIMESTAMP,
)
from card_alerts.patterns import pattern
from card_alerts.result import Kind, Span

# 우리체크(12*4) 출금 4,500원: a purchase by check card
_WITHDRAWAL = pattern(
    r"(?<![가-힣])출금(?P<cancelled>[ ]?취소)?(?![가-힣])",
    example=f"{TIMESTAMP}\n출금 {AMOUNT}\n입출",
)
_TRANSFER_WORD = pattern(
    r"이체|송금|입금|예정|계좌에서|충전|납부|ATM|현금|CD기|수수료",
    example="입출금알림수수료",
)
_CHECK_CARD = pattern(r"체크(?:카드|\)|\(|\]|_)|\[체크", example="체크_푸른솔주유소")
# This bank reports purchases by check card as withdrawals.
_BANK_OF_CARD_WITHDRAWALS = "우리"
_SHOP_END = r"""
    (?:
        (?<![지본상])점
        | 마트 | 식당 | 카페 | 커피 | 약국 | 주유소 | 충전소 | 편의점 | 분식 | 치킨
        | 베이커리 | 의원 | 병원 | 서점 | 미용실 | 세탁소 | 피자 | 버거 | 김밥 | 반점
        | 떡볶이 | 족발 | 국밥 | 국수 | 갈비 | 떡집 | 슈퍼 | 정육 | 로스터스 | 횟집
        | 포차 | 노래방 | 당구장 | PC방 | 치과 | 안과 | 피부과 | 주차장 | 휴게소 | 호텔
        | 문구 | 꽃집 | 칼국수 | 보쌈 | 냉면
    )
"""
# Trades before a branch, and words of accounts.
_TRADE = r"""
    커피 | 카페 | 치킨 | 피자 | 버거 | 약국 | 마트 | 김밥 | 천국 | 반점 | 떡볶이 | 족발
    | 베이커리 | 식당 | 분식 | 국밥 | 국수
"""
_ACCOUNT_WORD = r"""
    모임 | 회비 | 통장 | 계좌 | 저축 | 적금 | 예금 | 비상금 | 저금 | 페이 | 머니 | 카드
    | 뱅크
"""
_WITHDRAWN_AT_SHOP = pattern(
    rf"""
    출금[ ]?[{AMOUNT}]{{1,20}}[ \n]{{1,2}}(?P<name>[^\n{ANY_PLACEHOLDER}]{{2,40}})
    (?=[\n{ANY_PLACEHOLDER}]|$)
    """,
    example=f"출금 {AMOUNT}\nGS25세교R7",
)
_BEHIND_ARROW = pattern(
    r"""
    (?:통장|계좌)(?:[ ]?\([\d*]{2,8}\))?[ ]?(?:→|->|➔|▶)[ ]{0,2}(?P<name>[^\n]{2,40})
    """,
    example="토스뱅크 통장 → 이마트24",
)
_SHOP_NAME = pattern(
    rf"""
    [^\n]{{1,40}}?(?:{_SHOP_END}|(?<=[가-힣A-Z])(?:24|25|365))[ ]?
    # 이디야커피 보광; 커피 모임 is an account.
    | [^\n]{{1,20}}(?:{_TRADE})[ ](?!{_ACCOUNT_WORD})[가-힣]{{2,6}}
    | (?:\(주\)|주식회사[ ]?)[^\n]{{2,40}}
    | [^\n]{{2,40}}(?:\(주\)|주식회사)
    | (?:
          이마트 | 홈플러스 | 롯데마트 | 코스트코 | 다이소 | 올리브영 | 스타벅스
          | 투썸플레이스 | 이디야 | 메가엠지씨 | 배스킨라빈스 | 파리바게뜨 | 뚜레쥬르
          | 맥도날드 | 버거킹 | 롯데리아 | 세븐일레븐 | 씨유 | CU | GS25 | 쿠팡
          | 쿠팡이츠 | 배달의민족 | 우아한형제들 | 요기요 | 마켓컬리 | 교보문고 | 알라딘
      )(?![가-힣A-Za-z]{{0,3}}(?:페이|머니|카드|뱅크))[^\n]{{0,20}}
    """,
    example="씨유(CU)길동점",
)
# KT 통신요금 자동(0*4*) 45,100원 정상처리
_AUTOMATIC = pattern(
    r"""
    (?<![가-힣A-Za-z])(?:자동|정기)(?:[ ]?(?:이체|납부|결제))?(?![가-힣A-Za-z])
    """,
    example=f"통신요금 자동{ISSUER}",
)
_PROCESSED = pattern(
    r"""
    (?<![가-힣])정상[ ]?(?:처리|납부(?=[ ]?완료))
    (?:[ ]?(?:완료|되었습니다|됐습니다|됐어요|했습니다))?(?![가-힣])
    """,
    example="정상 납부 완료",
)
_PROCESSED_AMOUNT = pattern(
    rf"{AMOUNT}[ ](?P<word>정상[ ]?처리[ ]?완료)(?![가-힣])",
    example=f"{HOLDER_NAME} {AMOUNT} 정상처리 완료",
)
_NOT_BY_CARD = pattern(
    r"""
    은행 | 뱅크 | 계좌 | 통장 | 잔액 | 출금 | 입금 | 송금 | 신청 | 해지 | 등록 | 변경
    | 요청 | 예정 | 대금
    """,
    example="자동이체 신청이",
)
# 10월접수 후불하이패스⏎사용합계⏎75,300원
_TOLL_TOTAL = pattern(
    rf"(?:(?:사용|이용)합계|(?<=\n)합계)(?=[ :\n]{{0,3}}{AMOUNT})",
    example=f"사용합계\n{AMOUNT}",
)
_PHONE_BILL = pattern(
    r"""
    (?<![가-힣])(?:(?:익월|당월|다음[ ]?달)[ \n]?)?(?:통신|휴대폰)?[ ]?합산[ ]?
    (?:요금[ ]?)?청구(?![가-힣])
    """,
    example="75,000원 익월 합산요금청구",
)
# 승인금액 5,000원
_LABELED_STATUS = pattern(
    r"""
    (?P<word>승인|(?P<cancelled>취소))[ ]?(?:된[ ]?)?금액(?=[ :\n]{0,3}[\d₩])
    """,
    example="승인금액 5000원",
)
# 결제 5,000원⏎11/15 18:49⏎바람커피⏎잔액 120,000원
_WORD_BEFORE_AMOUNT = pattern(
    r"""
    (?:^|\n)[ ]?(?P<word>결제|체크(?:카드)?|(?P<cancelled>취소))[ ]?[\d,]{1,15}원[ ]?
    (?=\n)
    """,
    example="\n결제 5,000원\n11/15",
)
# 체크카드 35,000원 바람공방 잔액 102,330원, and with the name before the amount
_CHECK_CARD_BEFORE_AMOUNT = pattern(
    r"""
    (?<![가-힣])(?P<word>체크카드)[ ](?:
        [\d,]{1,15}원[ ](?=[^\d\n])
        | (?=[^\n]{2,40}[ ][\d,]{1,15}원[ ]?잔액)
    )
    """,
    example="체크카드 35,000원 바람공방",
)
# 바람커피에서 6,300원을 썼어요
_SPENT = pattern(
    rf"{AMOUNT}[을이]?[ ](?P<word>썼어요|썼습니다|냈어요|냈습니다)(?![가-힣])",
    example=f"{AMOUNT}을 썼어요",
)
# 10월 후불교통비(버스/지하철등) 39,200원 입니다
_TRANSIT_MONTH = pattern(
    rf"""
    \d월[ ]후불교통비?(?:\([^()\n]{{1,20}}\))?[ ]{AMOUNT}+[ ]?
    (?P<word>입니다|이에요)
    """,
    example=f"10월 후불교통비 {AMOUNT} 입니다",
)
# 소리사랑상품권 사용 알림⏎바람서점 / -16,200원⏎사용일시 2026.11.14 11:05
_USED_NOTICE = pattern(
    r"""
    \A[^\n]{2,30}[ ](?P<word>사용|결제|이용)[ ]알림\n[^\n]{2,40}[ ]-?[\d,]{1,12}원[ ]*\n
    """,
    example="소리사랑상품권 사용 알림\n바람서점 / -16,200원\n",
)
_RIDE = pattern(
    r"""
    후불[ ]?교통[ ](?P<word>승차|하차|이용)(?=[ ][\d,]{1,9}원)
    | 승차[ ](?P<ride>이용금액)(?=[ ][\d,]{1,9}원)
    | (?<=\n)(?P<fare>이용[ ]?요금)[ :]{1,3}(?=[\d,]{1,9}원)
    """,
    example="후불교통 승차 2,300원",
)
# 2026-10-19 진료비 28,700원 수납이 완료되었습니다
_RECEIVED = pattern(
    rf"{AMOUNT}[ ](?P<word>수납(?:이|을)?[ ]?완료(?:되었습니다|됐습니다|됐어요)?)",
    example=f"진료비 {AMOUNT} 수납이 완료되었습니다",
)
# A receipt with the labels 결제일시, 가맹점명 and 결제 금액, in any order
_RECEIPT = pattern(
    r"""
    \A(?=[\s\S]{0,600}?
        (?:(?:결제|승인|이용|거래|사용)[ ]?(?:일시|일자)|(?:승인|이용|거래|사용)일)
        [ :\n])
    (?=[\s\S]{0,600}?(?:가맹점명?|사용처|이용처)[ :\n])[\s\S]{0,600}?
    (?<![가-힣])(?:총[ ]?)?(?P<word>결제|사용|이용)
    [ ]?금액[ :\n]{0,6}(?=[\d₩])
    """,
    example="결제일시: 11/20\n가맹점명: 바람커피\n총 결제 금액: 12,000",
)
_STATUS_IN_HEADING = pattern(
    r"""
    (?:^|(?<=\n))(?![ ]{0,3}[※☞])[^\n]{0,80}?
    (?P<word>승인|(?P<cancelled>취소)|(?:이용|사용|결제)(?=[ ]?내역[ ]?알림))
    [ ]?내역[ ]?(?:알림|안내)
    """,
    example="[신한카드] 승인내역 안내",
)


# 신한카드 이용 알림, above shop, amount and time on lines of their own
_USED_LINES = pattern(
    rf"""
    \A[{ISSUER}]{{2,12}}[ ](?P<word>[{NOISE}]{{4,5}})\n
    (?:[^\n{ANY_PLACEHOLDER}]{{2,40}}\n){{1,2}}
    {AMOUNT}{{3,20}}[ ]?\n{TIMESTAMP}{{8,24}}\s*\Z
    """,
    example=f"{ISSUER * 4} {NOISE * 5}\n바람극장\n{AMOUNT * 7}\n{TIMESTAMP * 16}",
)
# 해외매입 홍*동 청구금액 28,745원
_BOUGHT_ABROAD = pattern(
    rf"(?P<word>해외[ ]?매입)[ ]?{HOLDER_NAME}{{0,8}}[ ]?청구[ ]?금액[ ]?{AMOUNT}",
    example=f"해외매입 {HOLDER_NAME * 3} 청구금액 {AMOUNT}",
)
# [하이패스] 서울TG 4,800원 정상 통과
_PASSED_TOLL = pattern(
    rf"{AMOUNT}+[ ](?P<word>정상[ ]통과|통과)(?![가-힣])",
    example=f"{AMOUNT} 정상 통과",
)
_WORDS = ("word", "fare", "ride")


@dataclass(frozen=True, slots=True)
class ImpliedKeyword:
    """`is_withdrawal`: a purchase by check card."""

    keyword: StatusKeyword
    is_withdrawal: bool = False
    # A word beside the name, but no part of it.
    noise: Span | None = None


def find_implied_keyword(
    text: str,
    masked_text: str,
    bank: str,
    *,
    is_check_card: bool,
    has_card: bool,
    has_other_payer: bool,
    has_details: bool,
    has_time_and_balance: bool,
) -> ImpliedKeyword | None:
    if "출금" in masked_text:
        withdrawal = _find_card_withdrawal(
            text,
            masked_text,
            bank,
            is_check_card=is_check_card or _has_shop_behind_arrow(text),
        )
        if withdrawal:
            return ImpliedKeyword(withdrawal, is_withdrawal=True)
    if "정상" in masked_text and has_card:
        processed = _find_processed(text, masked_text)
        if processed:
            return processed
    match, rank = None, RANK_ADJACENT
    for rule, is_likely in (
        (_PHONE_BILL, has_other_payer),
        (_TOLL_TOTAL, "하이패스" in text or "후불교통" in text),
        (_TRANSIT_MONTH, "후불교통" in text),
        (_PASSED_TOLL, "하이패스" in text),
        (_RECEIVED, "수납" in text),
        (_SPENT, (bank or has_other_payer) and ("썼" in text or "냈" in text)),
        (_USED_LINES, has_details and "알림" in text),
        (_BOUGHT_ABROAD, "매입" in text),
    ):
        match = match or (rule.search(masked_text) if is_likely else None)
    for rule, is_likely in (
        (_LABELED_STATUS, "금액" in text),
        (_WORD_BEFORE_AMOUNT, has_time_and_balance),
        (
            _CHECK_CARD_BEFORE_AMOUNT,
            has_time_and_balance
            and not _TRANSFER_WORD.search(masked_text)
            and not PENDING.search(text),
        ),
        (_RIDE, "교통" in text or "승차" in text),
        (_USED_NOTICE, has_other_payer and "알림" in text),
        (_RECEIPT, ("가맹점" in text or "용처" in text) and "금액" in text),
    ):
        match = match or (rule.search(text) if is_likely else None)
    if match is None and (span := find_receipt_word(text)):
        return ImpliedKeyword(StatusKeyword(Kind.APPROVAL, span, rank))
    if match is None and "내역" in text and has_details:
        match, rank = _STATUS_IN_HEADING.search(text), RANK_STANDALONE
    if match is None:
        return None
    groups = match.groupdict()
    kind = Kind.CANCELLATION if groups.get("cancelled") else Kind.APPROVAL
    return ImpliedKeyword(StatusKeyword(kind, _span_of_word(match), rank))


def _span_of_word(match: re.Match[str]) -> Span:
    """Return the span of the named group with the word, else of the whole."""
    names = (name for name in _WORDS if match.groupdict().get(name))
    return match.span(next(names, 0))


def _find_card_withdrawal(
    text: str, masked_text: str, bank: str, *, is_check_card: bool
) -> StatusKeyword | None:
    match = _WITHDRAWAL.search(masked_text)
    if match is None or _TRANSFER_WORD.search(masked_text):
        return None
    is_at_shop = False
    if bank == _BANK_OF_CARD_WITHDRAWALS:
        named = _WITHDRAWN_AT_SHOP.search(masked_text)
        is_at_shop = named is not None and _is_shop(named["name"])
    if not (is_check_card or is_at_shop or _CHECK_CARD.search(text)):
        return None
    kind = Kind.CANCELLATION if match["cancelled"] else Kind.APPROVAL
    return StatusKeyword(kind, match.span(), RANK_ADJACENT)


def _find_processed(text: str, masked_text: str) -> ImpliedKeyword | None:
    mark, word = _AUTOMATIC.search(masked_text), _PROCESSED.search(masked_text)
    beside = _PROCESSED_AMOUNT.search(masked_text)
    if beside and not _NOT_BY_CARD.search(text):
        span = beside.span("word")
        return ImpliedKeyword(StatusKeyword(Kind.APPROVAL, span, RANK_ADJACENT))
    if mark is None or word is None or _NOT_BY_CARD.search(text):
        return None
    keyword = StatusKeyword(Kind.APPROVAL, word.span(), RANK_ADJACENT)
    return ImpliedKeyword(keyword, noise=mark.span())


def _has_shop_behind_arrow(text: str) -> bool:
    behind = _BEHIND_ARROW.search(text)
    return behind is not None and _is_shop(behind["name"])


def _is_shop(name: str) -> bool:
    return _SHOP_NAME.fullmatch(name.strip()) is not None
