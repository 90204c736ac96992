"""Stage 2, classify: words of adverts, passwords, statements and bank transfers."""

import re

from card_alerts.masked_text import AMOUNT, ANY_PLACEHOLDER
from card_alerts.patterns import pattern
from card_alerts.result import Reason
from card_alerts.tables import alternatives, read_words

# The law requires (광고) at the beginning of adverts.
ADVERT_MARK = pattern(
    r"""
    [ \n]{0,9}(?:[^\n(\[\d]{1,20}\n)?(?:\[?(?:Web|국제|국외)[ ]?발신\]?[ \n]{0,9})?
    (?:\[[^\]\n]{1,12}\][ ]?)?
    (?:
        [(\[<{][ ]?(?:(?:대출|금융|카드|이벤트|무료)?[ ]?광[ ]?[.·]?[ ]?고|AD)
        [ ]?[)\]>}]
        | 광고\)
    )
    """,
    example="삼성월렛\n(광고)",
)
OPT_OUT = pattern(
    r"수신[ ]?거부|무료[ ]?거부|수신[ ]?동의[ ]?철회", example="무료 수신거부"
)
_OPT_OUT_NUMBER = pattern(
    rf"(?:{OPT_OUT.pattern})[ :)\]]{{0,3}}0\d{{1,2}}", example="수신거부 080-111-2222"
)
# A password with its digits; no merchant's name contains it.
_CODE_WORDS = ("인증", "OTP", "비밀", "확인", "번호를")
ONE_TIME_CODE = pattern(
    r"""
    (?:인증[ ]?번호|인증[ ]?코드|확인[ ]?코드|(?<![A-Za-z])OTP|비밀번호)[는은]?
    [^가-힣\n\d]{0,6}\d{4,8}(?![\d,원*/:])
    | [\[(]\d{4,8}[\])][^\n]{0,12}인증[ ]?번호
    | 결제[ ]?인증[ ]?[\[(:]?[ ]?\d{4,8}
    | (?:인증|승인|확인)[ ]?번호를[ ]?입력
    """,
    example="인증번호: 7733",
)
_LIMIT_CHANGE = pattern(
    r"한도[가를이은]?[^\n]{0,20}(?:상향|증액|하향|감액|조정|변경)",
    example="결제 한도 상향",
)
_MAY_BE_GRANT = pattern(
    r"할부[ 로변전]|한도|발급|신청|심사|대출|카드론|가입|등록|해지|연동",
    example="EVERY1 심사가",
)
# 임시한도 3,000,000원 승인: a granted limit, card or loan
_GRANTED = pattern(
    r"""
    한도(?:액|금액)?(?:\([^()\n]{1,10}\))?(?:가|이|를|:)?[ ]?(?:최대[ ]?)?
    [\d,]{1,15}만?[ ]?원?(?:으로|이)?[ ]?(?:승인|부여|설정|적용|확대|제공)
    | 한도[ ]?(?:가|를)?[ ]?(?:부여|확대|설정)
    | 한도[ ]?승인
    | 할부[ ]?(?:개월[ ]?)?(?:변경|전환)(?!하|[ ]?가능)
    | 할부로[ ]?(?:변경|전환)(?:이|을)?[ ]?(?:완료|처리)?[ ]?(?:되었|됐|했|하였)
    | 발급(?:이|가|을)?[ ]?(?:심사(?:가|에)?[ ]?)?(?:신청[ ]?)?
      (?:승인|완료|거절|접수|되|됐)
    | (?:가입|신청|심사|등록|해지|연동)(?:이|가|결과)?[ ]?(?:승인|거절|접수)
      (?:되|됐|완료|[ ]?안내)
    | (?:가입|등록|해지|연동)(?:이|가)?[ ]?(?:정상[ ]?)?(?:완료|처리)(?:되|됐|$|[\s.!])
    | 등록(?:한|된|하신)[ ][^\n]{1,24}(?:삭제|해지|해제)(?:되|됐|했|하였)
    | (?:대출|카드론)(?:이|가)?[^\n\d]{0,8}(?:[\d,]{1,15}만?[ ]?원(?:이|을)?[ ]?)?
      (?:최종[ ]?)?(?:승인|실행)
    """,
    example="임시한도 3,000,000원 승인",
)
# 전기차 충전이 완료되었습니다
CHARGED_CAR = pattern(
    r"충전(?:이|을|가)?[ ]?(?:완료|종료)|충전(?=량|[ ]?시간|[ ]?요금)",
    example="전기차 충전이 완료되었습니다",
)
# 내일 결제될 예정이에요
ANNOUNCED = pattern(
    r"(?:결제|승인|출금|청구|이용)될[ ]?예정", example="내일 결제될 예정이에요"
)
# 신한카드 즉시결제⏎300,000원: a part of the bill, paid before its day
PAID_EARLY = pattern(
    r"""
    (?:^|카드|\n)[ ]?(?:즉시|선)[ ]?결제[ ]?\n?[ ]?[\d,]{1,15}원
    # A balance that was filled up
    | 자동[ ]?충전[ ]?[\d,]{1,15}원
    """,
    example="카드 즉시결제\n300,000원",
)
_MONTH = r"""
    (?<![\d/])
    (?:\d{1,2}월(?:[ ]?분)?|(?:이번|지난|저번)[ ]?달|당월|전월|금월|이달|한[ ]?달)
"""
# 11월 이용금액 안내, 11월 결제금액이 912,300원에서 925,570원으로 변경되었습니다.
MONTHLY_STATEMENT = pattern(
    rf"""
    {_MONTH}[ ]?(?:총[ ]?)?(?:카드[ ]?|페이[ ]?)?(?:이용|결제|청구|사용)[ ]?
    (?:
        (?:금액|대금|내역|요금)(?:[ ]?(?:안내|알림|이|은|을)(?![가-힣])|서(?![가-힣]))
        | 명세서
    )(?=[^\n]{{0,20}}\n?[^\n]{{0,40}}(?:\d원|[건회번]))
    | {_MONTH}(?:에는|에|은|엔|동안|간)?[ ,:]{{0,2}}(?:[가-힣]{{2,8}}로[ ])?
      (?:총[ ]?|모두[ ]?)?
      \d{{1,4}}[건회번][^\n\d]{{0,14}}[\d,]{{1,15}}원
    """,
    example="11월 이용금액 안내: 이번",
    initials=r"\d금당이저전지한",
)
# 이번 달 120,000원을 사용하셨어요.
PERIOD_TOTAL = pattern(
    rf"""
    (?:(?:이번|지난|한)[ ]?[달주]|이달|올해|작년|최근)[^\n\d{ANY_PLACEHOLDER}]{{0,8}}
    (?:\d{{1,2}}월)?[^\n\d{ANY_PLACEHOLDER}]{{0,6}}[{AMOUNT}]++(?![ ]남았)
    """,
    example=f"이번 달 카드 결제 한도까지 {AMOUNT}",
)
# Other messages about money without a word for a purchase.
UNLIKELY_PURCHASE = pattern(
    r"""
    (?:니다|세요|어요|아요|해요|했어|보내)(?![가-힣])
    | 예정 | 신청 | 접수되 | 정산 | 청구 | 납부 | 납기 | 발급 | 발송 | 배송 | 운송장
    | 갱신 | 환불 | 쿠폰 | 현금[ ]?영수증 | 매입 | 미결제 | 선결제 | 즉시[ ]?결제 | 이월
    | 연체 | 연회비 | 수납 | 견적 | 링크 | 피싱 | 요청 | 의심 | 차단 | 후기 | 교환권
    | 등록 | 변경 | 전환 | 송금
    | 충전(?!소|기|잔액)
    | 입금 | 이체 | 포인트 | 호출 | 예상 | 공제 | 주의 | 대출 | 소액[ ]?결제 | 회비
    | (?:승인번호|결제|사용|이용)[ ]?안내
    | (?:결제|이용)[ ]?금액[ ]?나눠
    """,
    example="준비해 주세요.",
)
# 주문이 취소되었습니다. 12,000원 환불 예정.
EXPECTED_REFUND = pattern(
    r"""
    환불(?:될|[ ]?처리)?[ ]?예정 | 환불[^\n]{0,20}소요
    | (?:취소|환불)[^\n]{0,30}영업일[^\n]{0,12}(?:처리|환불|취소|입금|소요|반영|걸)
    """,
    example="200,100원 환불 예정",
)
FAILED_CANCELLATION = pattern(
    r"""
    취소[ ]?(?:처리[ ]?)?(?:가|이|에)?[ ]?
    (?:실패|불가|거절|오류|되지[ ]?않|할[ ]?수[ ]?없)
    | 취소[ ][\d,]{1,15}원[ ]실패
    # A requested or expected one: 취소접수, 취소 처리될 예정. A collected one is done,
    # and one that a card company took at a time.
    | (?<!매출)(?<!\d\d:\d\d[ ])취소[가이]?[ ]?접수(?!일|[ ]\d{4}-)
    | 취소[가이]?[ ]?(?:요청|신청)
    | 취소(?:[ ]?처리)?(?:가|이)?[ ]?(?:진행|완료|처리)?[ ]?(?:될|할)?[ ]?예정
    | 취소(?:가|이)?[ ]?(?:처리|진행)[ ]?(?:중|될|되면)
    | 취소[^\n]{0,20}영업일[^\n]{0,16}(?:예정|소요)
    """,
    example="승인취소 실패",
)
_CARD_ISSUED = pattern(
    r"카드[가를이]?[ ]?(?:재)?발급(?:되|이[ ]?완료|[ ]?완료)",
    example="카드가 재발급되었습니다",
)
_CHAT_PHRASES = pattern(
    r"""
    \?
    | (?:했어|할게|할까|했지|했다|해줘|줄래)(?!요)
    | (?<=[가-힣])(?:놨다|뒀다|먹어라|거라|을게|줄게)(?![가-힣])
    | 1인당[ ]?[\d,]{1,15}원 | (?:께|에게|계좌로)[ ]보내[ ]?(?:주세요|줘) | 나눠[ ]?내
    | [ㅋㅎㅠㅜ\u110f\u1112\u1172\u116e]{2}
    """,
    example="22,500원 맞지?",
)

# 45,000원 결제 뭐야? 당신이 쓴 거야?
_ASKED = pattern(
    r"뭐야|쓴[ ]?거(?:야|지|니)|라는데(?![가-힣])|맞(?:아|지)[ ]?\?",
    example="당신이 쓴 거야?",
)
# A grant, an expense or a day off: 지원금 300,000원이 승인되었습니다.
_WORDS = read_words("words.toml")
_GRANT = pattern(alternatives(_WORDS["grants"]), example="[구청] 지원금")
_REQUEST = pattern(alternatives(_WORDS["office_words"]), example="[출장승인] 오*진님")
_SUPERIOR = pattern(
    r"""
    (?:팀장|부장|과장|차장|대표|이사|실장|관리자|담당자)님?[이께][^\n]{0,40}
    승인(?:했|하였|하셨)
    """,
    example="팀장님이 출장비 186,500원을 승인했습니다",
)
# Without a card: 본인 아닐시 문의 02-…, 해외직구 … 문의 1670-….
_CALL_US = pattern(
    r"""
    (?:문의|신고|상담|고객[ ]?센터|소비자[ ]?(?:보호)?원?|연락|전화|취소)[^\n\d]{0,12}
    (?:0\d{1,2}[-).]?\d{3,4}|1\d{3}|\d{3,4})-?\d{4}
    | 확인은?[^\n가-힣]{0,12}
      (?:bit\.ly|vo\.la|buly\.kr|han\.gl|url\.kr|t\.ly|is\.gd|c11\.kr)/
    """,
    example="문의: 1670-0000",
)
_NOT_YOU = pattern(
    r"""
    본인[ ]?(?:이|의|께서)?[ ]?(?:결제|이용|사용|승인|구매|요청|주문)?[ ]?(?:이|가)?[ ]?
    (?:아닐|아니|아닌|미)
    | 본인이[ ](?:결제|이용|사용|구매)하지[ ]않
    | 해외 | 직구 | 국제 | 타인 | USD
    """,
    example="본인결제 아닐경우",
)

# 본인 아닐 시 신고 050-7841-2236: issuers have other numbers, and pages of their own
_PAGE_OF_STRANGER = rf"""
    (?!(?:https?://)?(?:[a-z0-9-]{{1,20}}\.){{0,2}}
       (?:{alternatives(_WORDS["issuer_sites"])})\.(?:com|co\.kr|im)\b)
    (?:https?://|www\.)?[a-z0-9-]{{2,30}}(?:\.[a-z0-9-]{{2,20}}){{0,2}}\.[a-z]{{2,8}}/
"""
_SMISHING = pattern(
    rf"""
    (?:본인|고객|회원|사용|결제|구매|주문|이용|승인|요청)[^\n]{{0,12}}
    (?:아니|아닐|아닌|안[ ]?했|않|미사용|미결제|미이용|미신청)
    [^\n]{{0,24}}\n?[^\n가-힣]{{0,8}}
    (?:(?<![\d-])0(?:2|10|70|[35]0\d?)[-.) ]?\d{{3,4}}-?\d{{4}}|{_PAGE_OF_STRANGER})
    # 결제취소 및 환불신청 ▶ http://…
    | (?:취소|환불|이의|신고)[ ]?(?:및[ ]|/)?(?:취소|환불|이의|신고)?[ ]?
      (?:신청|요청|접수|문의|하기|하려면)[^\n가-힣]{{0,8}}{_PAGE_OF_STRANGER}
    """,
    example="본인 아닐 시 신고 050-7841-2236",
    initials="본고회사결구주이승요취환신",
    flags=re.IGNORECASE,
)
_DENIALS = ("취소", "환불", "이의", "신고")
# To reply, to add a friend, to install an app or to open a page of a doubtful kind
_DOUBTFUL_SITE = alternatives(_WORDS["doubtful_sites"])
_STRANGERS_NUMBER = r"[^\n\d]{0,16}고객[ ]?센터[ :]{0,3}0(?:10|70|50)"
_STRANGERS_PAGE = rf"""
    [^\n]{{0,16}}?
    \b[a-z0-9-]{{2,30}}(?:\.[a-z0-9-]{{2,20}}){{0,2}}\.(?:{_DOUBTFUL_SITE})\b
"""
_TO_REACT = pattern(
    rf"""
    문자에[ ]?["'“]?\d["'”]?[ ]?회신 | 카톡[^\n]{{0,14}}친구[ ]?추가
    | 상담원[ ]연결[ ]\d
    | 앱[ ]?설치 | \.apk\b | 한[ ]적이[ ]없으면[^\n]{{0,10}}(?:즉시|정지)
    | 취소(?:{_STRANGERS_NUMBER}|{_STRANGERS_PAGE})
    | 환불(?:{_STRANGERS_NUMBER}|{_STRANGERS_PAGE})
    | 이의{_STRANGERS_PAGE} | 환급{_STRANGERS_PAGE} | 신고{_STRANGERS_PAGE}
    | 차단{_STRANGERS_PAGE} | 정지{_STRANGERS_PAGE} | 조회{_STRANGERS_PAGE}
    """,
    example='이 문자에 "1" 회신',
)
# 캐시백 3,500원 지급 완료, above the payment that it is for
_CASHBACK_PAID = pattern(
    r"\A(?:[^\n]{0,12}\n)?캐시백[ ][\d,]{1,9}원[ ](?:지급|적립)",
    example="캐시백 3,500원 지급",
)

PASSWORD = pattern(
    r"""
    인증[ ]?번호 | 인증[ ]?요청 | 인증[ ]?코드 | 확인[ ]?코드 | 본인[ ]?확인[ ]?번호
    | (?<![A-Za-z])OTP(?![A-Za-z])
    | 일회용
    | 비밀번호(?![ ]?(?:오류|불일치|틀림|오입력|입력[ ]?오류|\d회))
    """,
    example="로그인 OTP 번호",
    initials="O본비인일확",
)
_STATEMENT = pattern(
    r"""
    (?:결제|청구|납부|출금|인출|이체)[ ]?예정
    | 청구[ ]?(?:금액|서|요금|내역|합계|되었|됩니다)
    | 명세서
    | (?:결제|카드|이용|교통|할부|연회비)[ ]?대금
    | 미납 | 연체 | 리볼빙
    | 결제일(?!시|자)
    | 결제[ ]?계좌 | 카드론
    | 이월[ ]?(?:금액|잔액)
    | (?:납부|납입)[ ]?(?:기한|마감|안내|하실)
    | (?:자동납부|자동이체|정기결제)[ ]?(?:등록|신청|해지|변경)
    | (?:결제|이용)[ ]?금액.{0,40}(?:출금|인출|이체|빠져)
    | \d{1,2}/\d{1,2}[ ]?(?:결제|청구)[ ]?금액
    | 하이패스.{0,12}\d건(?![ ][\d,]{1,9}원[ ]?승인)
    | 출금[ ]?계좌 | 이용[ ]?대금 | 매월[ ]?결제
    | 이번[ ]?달[ ]?결제 | 결제하실[ ]?금액
    | 상환[ ]?(?:안내|예정|일)
    | 자동[ ]?결제(?:가|이)?[ ]?(?:됩니다|될|진행됩니다|예정)
    | 무료[ ]?체험 | 구독[ ]?안내
    | 누적[ ]?이용[ ]?금액[ ]?안내
    | 한도[ ]?금액[ ]?[:은] | 이상[ ]?사용하셨
    | \d{1,2}월[ ]?(?:분[ ]?)?(?:결제|이용|청구)[ ]?금액
    """,
    example="11/25 청구금액",
    initials=r"\d결교구납누리매명무미상연이인자정청출카하한할",
)
# A purchase that comes with the bill of the phone.
BILLED_BY_PHONE = pattern(
    r"요금에[ ]?(?:합산[ ]?)?청구(?:됩니다|돼요|되며)", example="요금에 합산 청구됩니다"
)
SETTLED_BILL = pattern(
    r"""
    (?:(?:이용|카드)[ ]?대금|카드값)[ ]?[\d,]{1,15}원(?:이|을)?[ ]?(?:정상[ ]?)?
    결제[ ]?(?:되|됐|완료)
    | 대금[ ]?정상[ ]?출금
    """,
    example="7월 이용대금 519,480원이 정상 결제되었습니다",
)
# 우리카드결제 230,000원 출금 완료 잔액 600,000원 (a bank's words)
WITHDRAWN_BILL = pattern(
    r"""
    (?<!체크)(?<!체크[ ])카드[ ]?결제(?:대금)?[ ]?[\d,]{1,15}원?[ ]?출금(?![ ]?취소)
    [^\n]{0,12}\n?잔[액고]
    """,
    example="우리카드결제 230,000원 출금 완료 잔액",
)
_BANK_TRANSFER = pattern(
    r"""
    (?<!체크카드)(?<!체크카드[ ])(?:입금|출금|입출금|이체|송금)(?:액|건|내역|알림|안내)?
    (?![가-힣])
    | (?:입금|출금|이체|송금|충전|환급)[ ]?(?:이|을|이[ ]?)?
      (?:되었|됐|했|하였|완료|취소|처리)
    | 보냈(?:어요|습니다)
    | 보내셨
    | 받았(?:어요|습니다)
    | 받으셨
    | (?<![가-힣])지급(?![가-힣])
    | 지급[ ]?(?:되었|됐|완료)
    | (?<![A-Za-z])ATM
    | (?:^|\n)(?:급여|상여금?|예금이자|이자|배당금?)(?:\n|$)
    | 대출[ ]?(?:이자|원금|실행)
    | (?:자동|타행|당행|인터넷|모바일|폰뱅킹|펌뱅킹|오픈뱅킹|급여)[ ]?
      (?:이체|출금|입금|송금)
    """,
    example="입금되었습니다",
    initials=r"\nA급당대모받배보상송예오이인입자지출충타펌폰환",
)
_DEPOSITED = pattern(
    r"""
    (?<![가-힣])입금[ ]?[\d,]{1,15}원
    | \d원[ ]?입금(?=$|[\n·|]|[ ][·|])
    """,
    example="입금 60,000원",
)
_TOP_UP = pattern(
    r"(?:머니|포인트|페이)[ ]?(?:[\d,]{1,15}원[ ]?)?충전[ ]?완료",
    example="머니 50,000원 충전완료",
)
# A service for cards: 해외결제 차단 서비스 해제.
CARD_SERVICE = pattern(
    r"서비스|해제|설정|신청|등록[이을 ]|변경", example="입력 시 해제"
)
_PROMOTIONAL = pattern(
    r"""
    (?:결제|이용|사용|구매|신청|가입|발급|등록|응모)[ ]?시(?![가-힣])
    | (?:결제|이용|사용|구매|신청|응모|주문)하(?:면|세요|고|러|신(?![ ]?내역))
    | 이상(?:[ ]|$|시|이용|결제|구매)
    | 최대 | 받을[ ]?수[ ]?있 | 받기 | 받으세요 | 받아가 | 드려요 | 드리는
    | (?<!안내)(?<!안내해)(?<!안내해[ ])드립니다
    | 이벤트 | 쿠폰 | 혜택 | 당첨 | 응모 | 추첨 | 증정 | 특가 | 세일 | 선착순
    | 무이자[ ]?\d{1,2}[ ]?[~∼\-·,]
    | 마감
    | 지금[ ]?(?:바로|확인)
    | 신청하 | 대출
    | 한도[ ]?(?:승인|상향|조회)
    | 상담 | 경품 | 사은품 | 할인[ ]?받 | 돌려(?!드렸) | 캐시백[ ]?받
    | \d%[ ]?(?:할인|적립|캐시백|OFF)
    | 출시 | 오픈[ ]?기념
    """,
    example="받을 수 있어요.",
    initials=r"\d가결경구당대돌드등마무받발사상선세신오응이주증지최추출캐쿠특한할혜",
)
# With 승인 a card pays a bill, else a bank.
_AUTOMATIC_PAYMENT = pattern(
    r"자동[ ]?(?:이체|납부|결제|출금)", example="자동이체 45,00"
)
_SENT_FROM_ABROAD = pattern(r"국[제외][ ]?발신|\(발신[ ]?\+\d", example="[국제발신]")
_LINK = pattern(
    r"h(?:tt|xx)ps?://|www\.|bit\.ly|\b[a-z0-9-]{2,30}\.[a-z]{2,6}/",
    example="https://bit.ly/x",
    flags=re.IGNORECASE,
)
# A cheap check before the patterns.
_STATEMENT_HINTS = (
    *("누적", "/", "월", "예정", "청구", "명세", "대금", "미납", "연체", "리볼빙"),
    *("결제일", "계좌", "카드론", "이월", "납부", "납입", "자동", "정기", "결제금액"),
    *("결제 금액", "하이패스", "매월", "이번", "상환", "체험", "구독", "한도", "이상"),
    *("결제하실", "이용금액"),
)
_BANK_HINTS = (
    *("입금", "출금", "이체", "송금", "충전", "환급", "보냈", "보내", "받았", "받으"),
    *("지급", "ATM", "대출", "급여", "상여", "이자", "배당"),
)
_ORDER_NOTICE = pattern(
    r"""
    예약[ ]?(?:이[ ]?)?(?:확정|완료|접수)
    | 예매[ ]?(?:가|번호|완료)
    | 현장[ ]?결제
    | 주문[ ]?(?:결제|취소|이|번호|완료(?!\])|접수|전달[ ]?실패)
    | 배송
    | 환불.{0,40}(?:소요|예정|접수)
    | 결제를[ ]?요청
    | 취소[ ]?(?:접수|요청|신청)
    | 소멸
    | (?:카드|신청).{0,12}발급
    """,
    example="[주문 전달 실패]",
)


# 예매가 완료되었습니다. 총 60,000원이 결제되었습니다.
_PAID_AMOUNT = pattern(
    r"""
    \d원[이가을를]?[ ]?(?:정상[ ]?)?결제[가를]?[ ]?(?:완료|처리)?[ ]?(?:되었|됐|했)
    """,
    example="총 60,000원이 결제되었습니다",
)


def may_have_code(text: str) -> bool:
    return any(map(text.__contains__, _CODE_WORDS))


def has_opt_out(text: str) -> bool:
    return "거부" in text or "철회" in text


def has_opt_out_number(text: str) -> bool:
    """Return True for 무료거부 080…."""
    return has_opt_out(text) and _OPT_OUT_NUMBER.search(text) is not None


def may_be_grant(text: str) -> bool:
    return _MAY_BE_GRANT.search(text) is not None


def grant_rejection_reason(text: str) -> Reason | None:
    if _LIMIT_CHANGE.search(text):
        return Reason.NO_PAYMENT
    if not _GRANTED.search(text):
        return None
    return Reason.ADVERT if _PROMOTIONAL.search(text) else Reason.NO_PAYMENT


def weak_rejection_reason(
    text: str, *, is_detailed: bool, is_approved: bool
) -> Reason | None:
    """Return the reason to reject a text without clear signs of a card."""
    if "충전" in text and _TOP_UP.search(text):
        return Reason.BANK_TRANSFER
    is_statement = any(map(text.__contains__, _STATEMENT_HINTS))
    if is_statement and _STATEMENT.search(text) and not _DEPOSITED.search(text):
        return Reason.STATEMENT
    if "발급" in text and _CARD_ISSUED.search(text):
        return Reason.NO_PAYMENT
    if not any(map(text.__contains__, _BANK_HINTS)):
        return _promotion(text, is_detailed=is_detailed)
    bank_text = _AUTOMATIC_PAYMENT.sub("", text) if is_approved else text
    if _BANK_TRANSFER.search(bank_text):
        return Reason.BANK_TRANSFER
    return _promotion(text, is_detailed=is_detailed)


def _promotion(text: str, *, is_detailed: bool) -> Reason | None:
    # Real approvals, with details, may have adverts below them.
    if not is_detailed and _PROMOTIONAL.search(text):
        return Reason.ADVERT
    return None


def is_office_approval(text: str, without_name: str) -> bool:
    """Return True for the approval of a request; the text has no card.

    A shop may be called 예산식당, but never 지원금.
    """
    if "승인" not in text:
        return False
    is_of_office = _GRANT.search(text) or _SUPERIOR.search(text)
    return bool(is_of_office or _REQUEST.search(without_name))


def is_sent_from_abroad(text: str) -> bool:
    may_be = "국제" in text or "국외" in text or "발신 +" in text
    return may_be and _SENT_FROM_ABROAD.search(text) is not None


def is_bait(text: str) -> bool:
    """Return True for a payment that somebody is to call about; there is no card."""
    return _CALL_US.search(text) is not None and _NOT_YOU.search(text) is not None


def is_smishing(text: str) -> bool:
    """Return True for the words of a payment with the number or page of a stranger."""
    if is_sent_from_abroad(text):
        # Issuers do not send their Korean texts from abroad.
        return True
    if _TO_REACT.search(text) or _CASHBACK_PAID.match(text):
        return True
    may_be = "아니" in text or "아닐" in text or "아닌" in text or "않" in text
    may_be = may_be or ("/" in text and any(map(text.__contains__, _DENIALS)))
    return (may_be or "미" in text) and _SMISHING.search(text) is not None


def is_bait_or_asked(text: str) -> bool:
    """Return True for bait, and for a person who asks about a payment."""
    return is_bait(text) or _ASKED.search(text) is not None


def is_chat(text: str) -> bool:
    return _CHAT_PHRASES.search(text) is not None


def is_order_or_chat(text: str) -> bool:
    """Return True for the words of a shop or a person, unless an amount was paid."""
    if _LINK.search(text) or _CHAT_PHRASES.search(text):
        return True
    return _ORDER_NOTICE.search(text) is not None and not _PAID_AMOUNT.search(text)
