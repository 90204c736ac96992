"""Patterns of the parts beside a payment in a Korean message, which are masked."""

import re

from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    NOISE,
    ORIGINAL_DATE,
    TIMESTAMP,
)
from card_alerts.patterns import pattern

# In brackets, a decline is the event and a reason is a remark.
CERTAIN_DECLINE = r"""
    [^()\n]{0,8}(?:
        (?:승인|결제|거래|이용|사용|출금)[^()\n]{0,3}(?:거절|거부|불가|실패|불능|오류)
        | 거절
    )
"""
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,9})"
_BENEFIT_WORD = r"""
    (?:(?:청구|즉시|현장)[ ]?할인|할인|캐시백(?:[ ]?적립)?|페이백|적립|인센티브|리워드)
"""
# 신세계포인트 56P, L.POINT 32P
POINTS_NAME = pattern(
    rf"""
    (?:(?<![가-힣])[가-힣]{{1,5}}|(?<![A-Za-z])(?:PAYCO|OK|[A-Z])[. ]?)
    (?=(?:포인트|POINT)[ ]?(?:사용|적립)?[ :]{{0,2}}\d)
    | (?<![가-힣])[가-힣]{{1,5}}(?:머니|캐시)(?=[ ]{_NUMBER}[ ]?(?:P|원)[ ]?적립)
    """,
    example="해피포인트 450P",
)
BENEFITS = pattern(
    rf"""
    (?<![\d,:₩])(?<!₩[ ])(?<!KRW)(?<!KRW[ ])(?<!\d[./]){_NUMBER}[ ]?
    (?:원|P|점|포인트|TOP|마일리지|마일)?[이을]?[ ]?[/ ]?[ ]?{_BENEFIT_WORD}(?:이|을)?
    [ ]?(?:예정|완료|금액|적용|혜택|지급)?(?:됨|됐어요|되었습니다|됩니다|받았어요)?
    (?![가-힣]|[ ]입금|[ ](?:취소|회수)[ ]?\d(?![\d,]{{0,12}}원[ ]?(?:결제|승인|취소)))
    | (?:{_BENEFIT_WORD}|(?:잔여[ ]?)?(?:포인트|POINT)|마일리지|봉사료|부가세)(?:금|액)?
      [ ]?(?:금액|예정[ ]?(?:금액|액)?|사용|지급|혜택|취소|회수)?
      # A name such as 캐시백24 has neither a blank nor a unit.
      (?:[ :]{{1,2}}[-+]?{_NUMBER}[ ]?(?:원|P|점)?|[-+]?{_NUMBER}[ ]?(?:원|P|점))
      (?:이|을)?[ ]?(?:(?:적립|지급)?[ ]?예정|적립|지급|완료)?
      (?:됨|됐어요|되었습니다|됩니다)?(?![\d가-힣]|[/:,]\d|[ ]?입금)
    | \d{{1,3}}(?:\.\d{{1,2}})?[ ]?%[ ]?(?:[가-힣A-Z ]{{0,10}}[ ])?[가-힣A-Z]{{0,10}}
      (?:할인|적립|캐시백|클럽|보너스)(?:예정|적용|완료|혜택|대상|클럽|서비스|됨|받음)?
      (?![가-힣])
    | \((?=[^()\n]{{0,30}}(?!원)[가-힣])(?![^()\n]{{0,30}}취소)(?!금액)
      [^()\n\d]{{0,20}}[ ]?{_NUMBER}[ ]?원[^()\n]{{0,12}}\)
    | (?<![\d,])(?<!\d\.)\d{{1,7}}[ ]?(?:P|TOP|점|마일)[ ]?적립(?:예정)?
    """,
    example="120원 캐시백이",
    initials=r"\d(P리마봉부인잔적즉청캐페포할현",
)
# 5,000원 할인 500원; in 500원 할인 4,500원 the discount comes first.
TRAILING_BENEFIT = pattern(
    rf"""
    (?<![\d,.])(?P<paid>{_NUMBER})[ ]?원[ ,/]{{0,3}}
    (?P<part>
        {_BENEFIT_WORD}(?:[ ]?(?:취소|회수))?[ :]{{0,2}}[-+]?(?P<benefit>{_NUMBER})[ ]?
        (?:원|P|점)
    )(?![가-힣])
    """,
    example="3,900원 캐시백적립 500원",
)
# 누적1,0…
CUT_TOTAL = pattern(
    r"(?:누적|잔액)(?:[ ]?[₩\d][\d,]{0,12})?[ ]?(?:…|\.{2,3})[ ]*\Z", example="누적1,0…"
)
HOLDER_NAMES = pattern(
    rf"""
    (?=[가-힣])(?<![가-힣])
    (?:
        [가-힣]{{1,2}}\*{{1,2}}[가-힣]{{0,2}}(?:[ ]?(?:고객)?님)?(?:께서)?
        (?![가-힣*]|/(?!일시불|승인|체크|신용|취소|누적|사용|할부)[가-힣])
        | [가-힣]{{2,4}}[ ]?님(?![가-힣])
          (?=[^{TIMESTAMP}]{{0,150}}[{TIMESTAMP}{AMOUNT}])
    )
    """,
    example=f"{ISSUER} 윤지우님 {TIMESTAMP} {AMOUNT}",
)
HOLDER_NAME_BEFORE_ISSUER = pattern(
    rf"""
    (?:^|(?<=[\n{AMOUNT}]))[ ]?
    (?P<part>(?!결제|승인|취소|사용|이용|완료)[가-힣]{{2,4}}(?:[ ]?님)?)[ ]{{1,2}}
    (?={ISSUER})
    """,
    example=f"지금 {ISSUER}로 결제하면",
)
# The holder in 승인 홍길동(1234) 바람커피, and before an amount above the day.
HOLDER_BEHIND_STATUS = pattern(
    rf"""
    (?:승인|취소)[ ](?P<part>[가-힣]{{2,4}})(?=\([\d*]{{4}}\)[ ][^{AMOUNT}\n])
    """,
    example="승인 문채담(3795) TWOSOME",
)
HOLDER_ABOVE_DAY = pattern(
    rf"""
    (?<=\n)(?P<part>(?!결제|승인|취소|사용|이용)[가-힣]{{2,4}})
    (?=
        [ ][{AMOUNT}]{{1,20}}[ ]?(?:체크|신용)?[^\n]{{0,3}}\n(?:[^\n]{{1,40}}\n)?
        [{TIMESTAMP}]{{1,20}}\n[^\n]*[가-힣A-Za-z]
    )
    """,
    example=f"{NOISE}\n[{ISSUER}]\n출금 {AMOUNT}\n{TIMESTAMP}\n이체",
)
CARD_NICKNAME = pattern(
    r"""
    (?:[가-힣]{1,2}\*{1,2}[가-힣]{0,2}|[가-힣]{2,4}|[가-힣*]{2,4})님의[ ]
    (?P<part>(?:(?!\d원)[^\n]){1,40}?카드)(?![가-힣])
    """,
    example="홍*동님의 여행 카드",
)
LABELED_HOLDER_NAME = pattern(
    r"""
    (?:고객명|손님명|성명|이름|회원명|사용자|이용자)(?:[ ]?[:=][ \n]?|[ \n])
    (?P<part>[가-힣*]{2,5})(?=[ \n]|$)
    """,
    example="손님명\n홍라온",
)
LABELS = pattern(
    rf"""
    (?:^|(?<=[\n{ANY_PLACEHOLDER}\-·•■▶*.,/)]))[ \-·•■▶*]{{0,4}}
    (?P<part>
        (?:승인|이용|사용|결제|거래|취소|환불|충전|거절|매출|카드)?[ ]?
        (?:
            카드 | 카드명 | 카드번호 | 금액 | 일시 | 일자 | 시각 | 시간 | 날짜 | 번호
            | 종류 | 구분 | 유형 | 방법 | 수단 | 상태 | 사유
        )
        | 이용카드 | 결제카드 | 고객명 | 손님명 | 성명 | 이름 | 할부 | 할부개월
        | 할부기간 | 사용자 | 이용자 | 회원명
    )(?=
        [ ]?[:=] | [ ]?\n
        | [ ](?:승인|취소)(?=\n|$)
        | [ ]{{0,8}}[{ISSUER}{AMOUNT}{TIMESTAMP}{INSTALLMENT}{HOLDER_NAME}]
    )
    """,
    example=f"▶ 결제금액 : {AMOUNT}",
    initials=r" *\-·•■▶거결고구금날매방번사상성손수승시유이일종충취카할환회",
)
RECEIPT_NOISE = pattern(
    rf"""
    \(금액\)
    | (?:취소|변경)(?:[ ]?후|된)[ ]?(?:결제[ ]?|승인[ ]?)?
      금액[ :]{{0,2}}[{AMOUNT}]{{1,20}}
    # 하이패스 27건 (a month of tolls), (매월 정기결제)
    | (?<=하이패스)[ ]\d{{1,4}}건(?![가-힣])
    | \((?:매월|매달|매주|매년)[ ]?(?:\d{{1,2}}일)?[ ]?(?:(?:정기|자동)?[ ]?결제)?\)
    # (원승인일 11/02), 원거래 63,000원 중, (이용기간 11.01~11.10)
    | (?<![가-힣])원[ ]?(?:승인|거래|결제|매출)일?자?
      (?=[ ]?[{TIMESTAMP}{ORIGINAL_DATE}])
    | (?<![가-힣])원[ ]?(?:승인|거래|결제)(?:금액)?[ ]?[{AMOUNT}]{{1,20}}
      [ ]?중(?![가-힣])
    | \([가-힣]{{2,4}}기간[ ]?[{NOISE}]{{1,30}}\)
    | (?:승인|거래|예약|주문|신청|접수)[ ]?번호[ ]?[:(]?[ ]?
      [A-Z]{{0,4}}[-_]?\d{{4,16}}(?:-\d{{2,8}})?\)?
    | \([^()\n\d]{{0,12}}\d{{1,4}}건\)
    | (?<=[\n{ANY_PLACEHOLDER}][ ])(?:이용[ ]?)?\d{{1,4}}건(?![가-힣])
    | (?<=[{TIMESTAMP}])[ ]?접수(?![가-힣])
    | \((?!{CERTAIN_DECLINE}[^()\n]{{0,8}}\))[^()\n]{{0,20}}
      (?:미등록|불가|초과|부족|오류|거절|정지|(?<!무)제한|차단)[^()\n]{{0,10}}\)
    """,
    example=f"자동결제 {TIMESTAMP}접수",
    initials=r"\d (거변승신예원이접주취",
)
# A company that holds a card, with its digits: [별나라] 승인 7109 45,000원.
COMPANY_HEADING = pattern(
    r"""
    (?P<part>\[[^\[\]\n]{2,30}\])
    (?=[ ]?\n?(?:해외)?(?:승인|취소|승인취소|거절|승인거절|사용)[ \n]{1,2}\d{4}[ \n])
    """,
    example=f"{NOISE}\n[MY COMPANY] 승인\n\n3178 송*",
)
COMPANY_CARD_NUMBER = pattern(
    r"""
    \][ ]?\n?(?:해외)?(?:승인취소|승인거절|승인|취소|거절|사용)[ \n]{1,2}(?P<part>\d{4})
    (?=[ \n])
    """,
    example="] 승인\n3208 조*훈님\n",
)
COMPANY_LINE = pattern(
    r"""
    ^[ ]?(?P<part>[A-Z]{2,15}(?:[ ][A-Z]{2,15}){1,3}[ ](?P<digits>\d{4}))
    (?=[ ]{1,2}(?:해외)?(?:승인|취소|거절))
    """,
    example="MY COMPANY 4566 승인",
    flags=re.MULTILINE,
)
PHONE_BILLING = pattern(
    r"""
    휴대폰[ ]?(?:소액)?[ ]?결제
    | 소액[ ]?결제
    | 합산[ ]?(?:요금[ ]?)?청구
    """,
    example="합산요금청구",
)
PHONE_BILLING_HEADING = pattern(
    r"""
    [\[(]?(?:
        다날 | KG[ ]?모빌리언스 | 모빌리언스
        | (?:KG|kg)[ ]?이니시스
        | 갤럭시아(?:머니트리)?
        | 페이레터 | 인포뱅크 | SKT | SK텔레콤 | KT | LG[ ]?U\+ | LGU\+ | LG유플러스
        | 알뜰폰
    )(?:[ ]?/[ ]?[A-Z가-힣+]{2,8})?[\])]?(?=[ \n]|휴대폰|소액|$)
    """,
    example="[KG모빌리언스]",
)
PHONE_NUMBER_IN_BRACKETS = pattern(
    r"\[\d{2,4}-\d{3,4}(?:-\d{4})?\]", example="다날[1566-3355]"
)
FEE = pattern(
    rf"""
    (?<![가-힣])[가-힣]{{0,4}}수수료[ :]{{0,2}}{_NUMBER}[ ]?원(?![가-힣])
    """,
    example="수수료 500원",
)
# 10/01~10/31: the days of a collected payment
DATE_RANGE = pattern(
    r"""
    (?<![\d/.])(?:20\d\d[./-])?\d{1,2}[./]\d{1,2}[ ]?[~∼][ ]?(?:20\d\d[./-])?
    \d{1,2}[./]\d{1,2}(?![\d/.:])
    """,
    example="10/01~10/31",
)
SENT_FROM_WEB = pattern(
    r"""
    \[(?:Web|WEB|web)[ ]?발신\]? | Web[ ]?발신\]? | WEB[ ]?발신\]? | web[ ]?발신\]?
    | \[국제발신\] | \[국외발신\]
    """,
    example="[web발신]신한11/05",
)
# [홍길동] [오후 2:49], or 2026년 11월 10일 오전 9:12, 홍길동 : in an exported room
ROOM_HEADING = pattern(
    r"""
    \[(?P<name>[^\[\]\n]{1,30})\][ ]\[(?:오전|오후)[ ]?\d{1,2}:\d\d\]
    | (?:^|(?<=\n))\d{4}[년.][^\n,]{4,24}\d{1,2}:\d\d,[ ](?P<exported>[^:\n]{1,30})
      [ ]:[ ]
    """,
    example="[홍길동] [오후 2:49]",
)
# 경영지원팀 배*규
DEPARTMENT = pattern(
    rf"""
    (?<=\n)[가-힣]{{2,8}}(?:팀|부|과|실|센터|본부)(?=[ ][{HOLDER_NAME}]+[ ]?\n)
    """,
    example=f"{AMOUNT}\n경영지원팀 {HOLDER_NAME}\n{TIMESTAMP}",
)
# From: 15447200⏎Date: 2026-04-06 12:43⏎Body: [Web발신]
FORWARDED = pattern(
    r"""
    (?:^|(?<=\n))(?:
        (?:From|To|Sender|Date|Time|발신|보낸[ ]?사람|수신)[ ]?:[^\n]{0,60}(?=\n)
        | (?:Body|Message|Text|Content|내용)[ ]?:
    )
    """,
    example=f"12:43\nBody: {NOISE}",
)
HAS_LINK = pattern(r"://|www\.|\.[a-z]{2,4}/", example="naver.me/xAbC12")
LINK = pattern(
    r"""
    (?:https?://|www\.)[^\s가-힣]{1,300}
    # naver.me/xAbC12
    | (?<![A-Za-z0-9.@])[a-z0-9-]{1,30}(?:\.[a-z0-9-]{2,20})?\.
      (?:me|kr|com|net|ly|gl|co|io|link|page|app)/[^\s가-힣]{1,300}
    """,
    example="naver.me/xAbC12",
)
# Behind a payment abroad
OFFERED_LOCK = pattern(
    rf"""
    해외[ ]?원화[ ]?결제[ ]?(?:\(DCC\)[ ]?)?차단[ ]?
    (?:서비스[ ]?(?:신청|안내)?|(?=[a-z.]{{2,20}}/|{NOISE}|\n|$))
    """,
    example="해외원화결제 차단서비스 신청",
)
ACCOUNT_NUMBER = pattern(
    r"""
    (?<![\d*])(?!\d{4}-(?:\d\d)?\*{2,4}-\*{2,4}-\d{4}(?![\d*-]))(?:
        \d{2,6}\*{2,6}\d{2,6}
        | \d{2,6}-[\d*]{2,6}-[\d*]{2,8}(?:-[\d*]{1,4})?
        | \d{3,6}\*{3,8} | \*{3,6}\d{3,6}\*{3,6}
    )(?![\d*])
    """,
    example="110-***-123456",
    initials=r"\d*",
)
FOOTER_PHONE_NUMBER = pattern(
    r"""
    \[[^\]\n]{0,30}\d{3,4}-\d{4}\]
    | (?:문의|☎|고객센터)[^\n]{0,20}\d{3,4}-?\d{4}
    """,
    example="문의 1588-8700",
)
# The name of a card on a line of its own: 원더카드 7*1*
CARD_NAME_BEFORE = pattern(
    r"\n[ ]?(?P<part>[가-힣A-Za-z]{1,8}[ ]?)\Z", example="바람커피\n원더"
)
CARD_KIND = pattern(
    rf"""
    (?<![가-힣])(?P<part>(?:체크|신용)(?:카드)?)(?![가-힣])
    (?=[ ]?(?:$|[\n{ANY_PLACEHOLDER}(\d·|,.]))
    """,
    example="[체크.승인]",
)
COMPLETED_AFTER_AMOUNT = pattern(
    rf"(?<=[{AMOUNT}])[이]?[ ]?(?P<part>완료)(?![가-힣])",
    example=f"결제승인 {AMOUNT} 완료",
)
