"""Patterns of the parts beside a payment in a Korean message, which are masked."""

import re

from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    TIMESTAMP,
)

# In brackets, a decline is the event and a reason is a remark.
CERTAIN_DECLINE = (
    r"[^()\n]{0,8}(?:(?:승인|결제|거래|이용|사용|출금)[^()\n]{0,3}(?:거절|거부|불가|실패|불능"
    r"|오류)|거절)"
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,9})"
_BENEFIT_WORD = (
    r"(?:(?:청구|즉시|현장)[ ]?할인|할인|캐시백(?:[ ]?적립)?|페이백|적립"
    r"|인센티브|리워드)"
)
# 신세계포인트 56P, L.POINT 32P
POINTS_NAME = re.compile(
    r"(?:(?<![가-힣])[가-힣]{1,5}|(?<![A-Za-z])(?:PAYCO|OK|[A-Z])[. ]?)"
    r"(?=(?:포인트|POINT)[ ]?(?:사용|적립)?[ :]{0,2}\d)"
    rf"|(?<![가-힣])[가-힣]{{1,5}}머니(?=[ ]{_NUMBER}[ ]?P[ ]?적립)"
)
BENEFITS = re.compile(
    # 19:10 캐시백, 적립 11/04 and ₩80,000 캐시백 1,200원 print no benefit before the
    # word.
    rf"(?<![\d,:₩])(?<!₩[ ])(?<!KRW)(?<!KRW[ ])(?<!\d[./]){_NUMBER}[ ]?(?:원|P|점"
    rf"|포인트|TOP|마일리지|마일)?[이을]?[ ]?[/ ]?[ ]?{_BENEFIT_WORD}(?:이|을)?[ ]?"
    r"(?:예정|완료|금액|적용|혜택|지급)?"
    r"(?:됨|됐어요|되었습니다|됩니다|받았어요)?(?![가-힣]|[ ]입금"
    r"|[ ](?:취소|회수)[ ]?\d(?![\d,]{0,12}원[ ]?(?:결제|승인|취소)))"
    rf"|(?:{_BENEFIT_WORD}|(?:잔여[ ]?)?(?:포인트|POINT)|마일리지|봉사료|부가세)(?:금"
    rf"|액)?[ ]?(?:금액|예정[ ]?(?:금액|액)?|사용|지급|혜택|취소|회수)?"
    # A name such as 캐시백24 has neither a blank nor a unit.
    rf"(?:[ :]{{1,2}}[-+]?{_NUMBER}[ ]?(?:원|P|점)?|[-+]?{_NUMBER}[ ]?(?:원|P|점))"
    r"(?:이|을)?[ ]?(?:(?:적립|지급)?[ ]?예정|적립|지급|완료)?"
    r"(?:됨|됐어요|되었습니다|됩니다)?(?![\d가-힣]|[/:,]\d|[ ]?입금)"
    r"|\d{1,3}(?:\.\d{1,2})?[ ]?%[ ]?(?:[가-힣A-Z ]{0,10}[ ])?"
    r"[가-힣A-Z]{0,10}(?:할인|적립|캐시백|클럽|보너스)(?:예정|적용|완료|혜택|대상|클럽"
    r"|서비스|됨|받음)?(?![가-힣])"
    rf"|\((?=[^()\n]{{0,30}}(?!원)[가-힣])(?![^()\n]{{0,30}}취소)(?!금액"
    rf")[^()\n\d]{{0,20}}[ ]?{_NUMBER}[ ]?원[^()\n]{{0,12}}\)"
    rf"|(?<![\d,])(?<!\d\.)\d{{1,7}}[ ]?(?:P|TOP|점"
    rf"|마일)[ ]?적립(?:예정)?"
)
# 5,000원 할인 500원; in 500원 할인 4,500원 the discount comes first.
TRAILING_BENEFIT = re.compile(
    rf"(?<![\d,.])(?P<paid>{_NUMBER})[ ]?원[ ,/]{{0,2}}"
    rf"(?P<part>{_BENEFIT_WORD}(?:[ ]?(?:취소|회수))?[ :]{{0,2}}[-+]?"
    rf"(?P<benefit>{_NUMBER})[ ]?(?:원|P|점))(?![가-힣])"
)
HOLDER_NAMES = re.compile(
    r"(?=[가-힣])(?<![가-힣])(?:[가-힣]{1,2}\*{1,2}[가-힣]{0,2}(?:"
    r"[ ]?(?:고객)?님)?(?:께서"
    r")?(?![가-힣*]|/(?!일시불|승인|체크|신용|취소|누적|사용|할부)[가-힣])"
    rf"|[가-힣]{{2,4}}[ ]?님(?![가-힣])(?=[^{TIMESTAMP}]{{0,150}}"
    rf"[{TIMESTAMP}{AMOUNT}]))"
)
HOLDER_NAME_BEFORE_ISSUER = re.compile(
    rf"(?:^|(?<=[\n{AMOUNT}]))[ ]?"
    r"(?P<part>(?!결제|승인|취소|사용|이용|완료)[가-힣]{2,4}(?:[ ]?님)?)[ ]{1,2}"
    rf"(?={ISSUER})"
)
# The holder in 승인 홍길동(1234) 바람커피, and before an amount above the day.
HOLDER_BEHIND_STATUS = re.compile(
    rf"(?:승인|취소)[ ](?P<part>[가-힣]{{2,4}})(?=\([\d*]{{4}}\)[ ][^{AMOUNT}\n])"
)
HOLDER_ABOVE_DAY = re.compile(
    rf"(?<=\n)(?P<part>[가-힣]{{2,4}})(?=[ ][{AMOUNT}]{{1,20}}[ ]?(?:체크|신용)?"
    rf"[^\n]{{0,3}}\n(?:[^\n]{{1,40}}\n)?[{TIMESTAMP}]{{1,20}}\n[^\n]*[가-힣A-Za-z])"
)
# 홍*동님의 여행 카드
CARD_NICKNAME = re.compile(
    r"(?:[가-힣]{1,2}\*{1,2}[가-힣]{0,2}|[가-힣]{2,4}"
    r"|[가-힣*]{2,4})님의[ ](?P<part>[^\n]{1,40}?카드)(?![가-힣])"
)
LABELED_HOLDER_NAME = re.compile(
    r"(?:고객명|손님명|성명|이름|회원명|사용자"
    r"|이용자)(?:[ ]?[:=][ \n]?|[ \n])(?P<part>[가-힣*]{2,5})(?=[ \n]|$)"
)
LABELS = re.compile(
    rf"(?:^|(?<=[\n{ANY_PLACEHOLDER}\-·•■▶*.,/)]))[ \-·•■▶*]{{0,4}}(?P<part>"
    r"(?:승인|이용|사용|결제|거래|취소|환불|충전|거절|매출|카드)?[ ]?(?:카드|카드명"
    r"|카드번호|금액|일시|일자|시각|시간|날짜|번호|종류|구분|유형|방법|수단|상태|사유)"
    r"|이용카드|결제카드|고객명|손님명|성명|이름|할부|할부개월|할부기간|사용자|이용자"
    r"|회원명)(?=[ ]?[:=]|[ ]?\n|[ ](?:승인|취소)(?=\n|$)"
    rf"|[ ]?[{ISSUER}{AMOUNT}{TIMESTAMP}{INSTALLMENT}{HOLDER_NAME}])"
)
RECEIPT_NOISE = re.compile(
    rf"\(금액\)|(?:취소|변경)(?:[ ]?후|된)[ ]?(?:결제[ ]?|승인[ ]?)?금액[ :]{{0,2}}"
    rf"[{AMOUNT}]{{1,20}}"
    # 하이패스 27건 (a month of tolls), (매월 정기결제)
    rf"|(?<=하이패스)[ ]\d{{1,4}}건(?![가-힣])"
    r"|\((?:매월|매달|매주|매년)[ ]?(?:정기|자동)?[ ]?결제\)"
    r"|(?:승인|거래)[ ]?번호[ ]?[:(]?[ ]?\d{4,12}\)?|\([^()\n\d]{0,12}\d{1,4}건\)"
    rf"|(?<=[\n{ANY_PLACEHOLDER}][ ])(?:이용[ ]?)?\d{{1,4}}건(?![가-힣])"
    rf"|(?<=[{TIMESTAMP}])[ ]?접수(?![가-힣])|\((?!{CERTAIN_DECLINE}[^()\n]{{0,8}}\))"
    rf"[^()\n]{{0,20}}(?:미등록|불가|초과|부족|오류|거절|정지|제한|차단)[^()\n]{{0,10}}\)"
)
# A company that holds a card, with its digits: [별나라] 승인 7109 45,000원.
COMPANY_HEADING = re.compile(
    r"(?P<part>\[[^\[\]\n]{2,30}\])(?=[ ]?\n?(?:해외)?(?:승인|취소|승인취소|거절"
    r"|승인거절|사용)[ \n]{1,2}\d{4}[ \n])"
)
COMPANY_CARD_NUMBER = re.compile(
    r"\][ ]?\n?(?:해외)?(?:승인취소|승인거절|승인|취소|거절"
    r"|사용)[ \n]{1,2}(?P<part>\d{4})(?=[ \n])"
)
# MY COMPANY 4566 승인
COMPANY_LINE = re.compile(
    r"^[ ]?(?P<part>[A-Z]{2,15}(?:[ ][A-Z]{2,15}){1,3}[ ](?P<digits>\d{4}))"
    r"(?=[ ]{1,2}(?:해외)?(?:승인|취소|거절))",
    re.MULTILINE,
)
PHONE_BILLING = re.compile(
    r"휴대폰[ ]?(?:소액)?[ ]?결제|소액[ ]?결제|합산[ ]?(?:요금[ ]?)?청구"
)
PHONE_BILLING_HEADING = re.compile(
    r"[\[(]?(?:다날|KG[ ]?모빌리언스|모빌리언스|(?:KG|kg)[ ]?이니시스"
    r"|갤럭시아(?:머니트리)?|페이레터|인포뱅크|SKT|SK텔레콤|KT|LG[ ]?U\+|LGU\+"
    r"|LG유플러스|알뜰폰)(?:[ ]?/[ ]?[A-Z가-힣+]{2,8})?[\])]?(?=[ \n]|휴대폰|소액|$)"
)
PHONE_NUMBER_IN_BRACKETS = re.compile(r"\[\d{2,4}-\d{3,4}(?:-\d{4})?\]")
# 수수료 500원
FEE = re.compile(
    rf"(?<![가-힣])[가-힣]{{0,4}}수수료[ :]{{0,2}}{_NUMBER}[ ]?원(?![가-힣])"
)
# 10/01~10/31: the days of a collected payment
DATE_RANGE = re.compile(
    r"(?<![\d/.])(?:20\d\d[./-])?\d{1,2}[./]\d{1,2}[ ]?[~∼][ ]?(?:20\d\d[./-])?"
    r"\d{1,2}[./]\d{1,2}(?![\d/.:])"
)
SENT_FROM_WEB = re.compile(r"\[?(?:Web|WEB|web)[ ]?발신\]?|\[(?:국제|국외)발신\]")
# [홍길동] [오후 2:49], or 2026년 11월 10일 오전 9:12, 홍길동 : in an exported room
ROOM_HEADING = re.compile(
    r"\[(?P<name>[^\[\]\n]{1,30})\] \[(?:오전|오후) ?\d{1,2}:\d\d\]"
    r"|(?:^|(?<=\n))\d{4}[년.][^\n,]{4,24}\d{1,2}:\d\d, (?P<exported>[^:\n]{1,30}) : "
)
# 경영지원팀 배*규
DEPARTMENT = re.compile(
    rf"(?<=\n)[가-힣]{{2,8}}(?:팀|부|과|실|센터|본부)(?=[ ][{HOLDER_NAME}]+[ ]?\n)"
)
# From: 15447200⏎Date: 2026-04-06 12:43⏎Body: [Web발신]
FORWARDED = re.compile(
    r"(?:^|(?<=\n))(?:(?:From|To|Sender|Date|Time|발신|보낸[ ]?사람|수신)[ ]?:"
    r"[^\n]{0,60}(?=\n)"
    r"|(?:Body|Message|Text|Content|내용)[ ]?:)"
)
HAS_LINK = re.compile(r"://|www\.|\.[a-z]{2,4}/")
LINK = re.compile(
    r"(?:https?://|www\.)[^\s가-힣]{1,300}"
    # naver.me/xAbC12
    r"|(?<![A-Za-z0-9.@])[a-z0-9-]{2,30}(?:\.[a-z0-9-]{2,20})?\.(?:me|kr|com|net|ly|gl|co|io|link|page|app)"
    r"/[^\s가-힣]{1,300}"
)
ACCOUNT_NUMBER = re.compile(
    r"(?<![\d*])(?:\d{2,6}\*{2,6}\d{2,6}"
    r"|\d{2,6}-[\d*]{2,6}-[\d*]{2,8}(?:-[\d*]{1,4})?|\d{3,6}\*{3,8})(?![\d*])"
)
FOOTER_PHONE_NUMBER = re.compile(
    r"\[[^\]\n]{0,30}\d{3,4}-\d{4}\]|(?:문의|☎|고객센터)[^\n]{0,20}\d{3,4}-?\d{4}"
)
CARD_KIND = re.compile(
    rf"(?<![가-힣])(?P<part>(?:체크|신용)(?:카드)?)(?![가-힣])(?=[ ]?(?:$"
    rf"|[\n{ANY_PLACEHOLDER}(\d·|,.]))"
)
COMPLETED_AFTER_AMOUNT = re.compile(
    rf"(?<=[{AMOUNT}])[이]?[ ]?(?P<part>완료)(?![가-힣])"
)
