"""Stage 2, classify: cut a merchant's name out of the text around it."""

from typing import NamedTuple

from card_alerts.masked_text import (
    AMOUNT,
    ISSUER,
    KEYWORD,
    NOISE,
    PLACEHOLDERS,
    RUNNING_TOTAL,
)
from card_alerts.merchant_quality import is_gateway_name
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import read_words

_BALANCED = pattern(r"[^()]*(?:\([^()]*\)[^()]*){0,3}", example="(CU)길동점")
# Between the columns of the merchant and its city.
MIN_COLUMN_GAP = 4

_LEADING_SEPARATORS = pattern(
    r"""[\s,./|·:;>\]\-—&~_*'\"!→➔▶▷■▪▫◆◇□▣●○◎•★☆@]*""", example="  바람커피성수"
)
# 오늘 바람커피에서 12,000원, 신한카드(1234)로 바람커피에서
_LEADING_WORD = pattern(
    rf"""
    (?:
        오늘 | 방금 | [가-힣A-Za-z]{{2,8}}(?:페이|머니|Pay)로
        # 탐나는전으로, 마포사랑상품권으로
        | [가-힣]{{2,8}}(?:전|상품권)으로
        | [가-힣*]{{2,4}}님(?:이|은|께서) | (?<={ISSUER})(?:으?로|가)
        | (?<={AMOUNT})[이가을를은] | 카드로 | \d{{1,2}}월[ ]?접수
        | (?:주문|예약|예매)(?:이|가)[ ](?:접수|완료|확정)(?:됐|되었)(?:어요|습니다)[.!]
    )[ ]+(?=[^ ])
    """,
    example="회원님이 찜한",
)
_COUNTRY = pattern(
    r"""
    ^(?:\((?:[A-Z]{2,3}|[가-힣]{2,6}(?=\)[ ]?[A-Z]))\)[ ]?|[가-힣]{1,5}[ ]{2,3}(?=[^ ]))
    """,
    example="미국   LUMEN *",
)
# The country or region behind two blanks and a Latin name.
_COUNTRY_BEHIND = pattern(
    r"(?<=[A-Za-z0-9.*)])[ ]{2,}(?:[가-힣]{2,10}|[A-Z]{2,3})$",
    example="SUPERCENTER  태국",
)
# 이마트24 R성수 / 카카오페이머니
_METHOD = r"""
    [가-힣A-Za-z]{0,8}[ ]?(?:머니|포인트|카드|계좌|통장|잔액|페이|신용|체크)
"""
_METHOD_BEHIND = pattern(
    rf"""
    [ ][/|·][ ](?:결제[ ]?수단[ :]{{1,3}})?(?:{_METHOD})(?:[ ]?결제)?(?:[ ]/[ ]|[ ]?$)
    """,
    example=" / 카카오페이머니",
)
# 바람커피 → 저축예금
_ACCOUNT_BEHIND = pattern(
    r"[ ](?:→|->|➔)[ ]?[가-힣A-Za-z]{0,10}(?:예금|적금|통장|계좌)[ ]?$",
    example="바람커피 → 저축예금",
)
_BAR = pattern(r"[ ](?:[/|·][ ]|→|->|➔)", example="연결계좌 / 두레헤어")
_METHOD_BEFORE = pattern(
    rf"(?:{_METHOD})(?:[ ]?결제)?[ ]/[ ]", example="연결계좌 / 두레헤어"
)
# [카카오T] 택시
_SERVICE = pattern(
    r"""
    (?:
        [가-힣]{0,4}(?:택시|버스|기차|열차|지하철|바이크|킥보드|자전거|주차|충전)
        | 승차권 | 항공권 | 탑승권 | 입장권 | 이용권 | 예매 | 대리운전 | 대리 | 배달
        | 주문 | 구독 | 멤버십 | 정기권
    )(?:[ ]?(?:이용|대여)?[ ]?(?:요금|이용료|이용|예매|자동)|[ ]반환(?:[ ]완료)?)?
    | (?:이용|대여)요금
    | 일일권 | \d{1,3}(?:시간|일|개월|회|분)권
    """,
    example="멤버십 이용료",
)
_SERVICE_HEADING = pattern(
    r"""
    [\s,.|·]{0,4}\[(?P<name>(?=[^\[\]\n]{0,19}[가-힣A-Za-z])[^\[\]\n]{1,20})\][ ]*
    """,
    example="[KT] 10월 요금",
)
# KTX 101 서울→부산, a name only if there is no other.
ROUTE = pattern(
    r"""
    (?:[가-힣A-Z0-9-]{1,8}[ ]){0,3}[가-힣0-9]{1,12}[ ]?(?:→|->)
    [ ]?(?:도착[ ])?[가-힣0-9]{1,12}
    """,
    example="KTX 101 서울→부산",
)
# 카카오T택시_가승인: the amount is only reserved.
PRELIMINARY_SUFFIX = pattern(
    r"""
    (?:[ ]?[_(\[/·:-][ ]?|[ ])(?:가|선|사전|임시)승인[ ]?[)\]]?(?![가-힣])
    """,
    example="카카오T택시_가승인",
)
PRELIMINARY_PREFIX = pattern(
    r"""
    (?:가|선|사전|임시)승인[ ]?(?:[_/·:-]|\))[ ]?
    | [(\[](?:가|선|사전|임시)승인[)\]][ ]?
    """,
    example="[가승인] A+분식",
)
MAX_HOLDER_LENGTH = 5
MAX_MEANS_LENGTH = 13
# A blank and 체크카드 before the digits
MAX_CARD_WORD = 6
_LEADING_WORD_STARTS = frozenset("오방으로이가을를은카주예0123456789")
_BARE_COUNTRY = pattern(r"^\([A-Z]{2,3}\)?$", example="(TH)")
_TRAILING_WORDS = pattern(
    r"""
    (?<=교통)[ ]\d{1,2}월$
    | (?<!외)[ ]{1,4}\d{1,3}건$
    # 바람커피 강남점, 서울시
    | ,[ ][가-힣]{1,6}[시도]$
    | [ ]{1,4}(?:
          할부(?:개월)?
          | 자동[ ]?(?:이체|납부|결제) | (?:민생회복[ ]?)?소비쿠폰 | 주차[ ]?요금
          | (?:정기[ ]?결제[ ])?영수증 | 구매[ ]?완료
          | (?:정기|연간|월간)?[ ]?결제[ ]?(?:완료[ ]?)?(?:안내|알림)
          | (?:평일|주말|심야)[ ](?:\d{1,2}시간권|종일권|당일권)
          | 정기[ ]?결제 | 이용건 | 사용건 | 결제건 | 승인건
          | (?:거절|취소)?사유 | (?:주문[ ]?)?결제가[ ]취소되어
          | 총(?:[ ]결제)? | 통행료 | 주문[ ]?건(?:의|이)? | 주문의 | 이용 | 사용 | 주문
          | 건 | (?:[A-Z]{2,6}[ ])?MONEY | 승차 | 하차 | 통과 | 바코드 | QR
          | (?:이용|승인|결제|사용|거래)?금액
      )$
    """,
    example="11월분 자동납부",
)
_ATTACHED_SUFFIX = pattern(
    r"""
    (?:
        \(일시불\) | 에서(?:[ ]결제(?:한|하신))? | 님께서 | [ ]이용건 | (?<=[가-힣)])\.
        # 바람커피에서 카카오페이머니
        | 에서[ ](?:[A-Z]{2,6}[ ])?[가-힣A-Za-z]{0,6}
          (?:(?:머니|포인트|페이|MONEY)로?|상품권(?:으로)?)
    )$
    """,
    example="이음마트천호점 이용건",
)
_SUFFIX_LAST_CHARACTERS = frozenset(
    "총내림부월과드R체부제건용액유서께한신문니트이로).의차료폰금증권시도어Y"
)
# The end of a sentence of several words.
_SENTENCE_TAIL = pattern(
    r"(?:니다|세요|[가-힣][어아해돼에예려게]요|까요|시오|바람)[.!~ ]*$",
    example="알려드릴게요!",
)
_SENTENCE = pattern(
    r"""
    # The label of another field: 구간 : 서울 → 기흥
    ^[가-힣]{1,6}(?:[ ][가-힣]{1,4})?[ ]?:[ ]
    | (?:^|[ ])[가-힣]{0,4}(?:하기|보기|받기|가기|확인)[.!~ ]*$
    | ^[※☞☎*] | ^아래[ ] | [ ]사정에[ ]따라 | \d영업일
    | (?:되었|됐|했)고$ | (?:완료|처리|취소)되어(?:[ ]|$) | [을를][ ]눌러$
    | (?<![가-힣])문의
    | 고객[ ]?센터[ :]{0,2}\d | 추가하고 | 이용[ ]?안내 | 이용해[ ]?주셔서
    | 본인[ ]?(?:이[ ]?)?(?:아닌|아닐|미사용|사용)
    | 앱에서[ ] | 에서[ ]확인 | [ ]환율
    | (?:이용|사용|승인|결제|거래|주문)[ ]?내역
    | ^\W*안내\W*$
    | 마케팅[ ]?(?:메시지|정보|수신) | 수수료[ ]?(?:별도|부과|포함|면제|\d)
    | 포인트[ ]?(?:적립|\d)
    | ^(?:결제|이용|승인|취소|환불|충전)[ ]?(?:수단|방법)[ ]
    | ^(?:주문|문서)[ ]?(?:번호|일|ID)[ ] | \d[번회][ ]이용해$ | 요금에[ ]합산
    | [ ](?:요금|금액|대금|결제)[이가은는을를]$
    """,
    example="본인아닐시 문의",
)
_NO_NAMES = frozenset(read_words("words.toml")["no_names"])
# Other fields and notices, which may be longer
_NOT_A_NAME = pattern(
    r"""
    ^(?:
        (?:다음[ ]?)?(?:결제|청구|출금)[ ]?(?:예정)?일
        | (?:자동)?(?:결제|납부|출금|이체|청구|인출)[ ]?예정
        | (?:연간|월간|주간)[ ]?구독(?:[ ]?\(.*)?
        | (?:결제|주문|구매|환불|예약)[ ]?(?:완료[ ]?)?(?:안내|알림|영수증)
        | 후기[ ].* | (?:이번|지난)[ ]?달[ ].* | (?:일반실|특실|우등)[ ].* | 내용[ \t].*
        | (?:APPLE|Apple)[ ]계정
        | (?:예약|구매|결제|주문|승인|가입)[ ]?(?:요청|신청)[이을]?
        | (?:다음|매)[ ]?(?:달|월|결제일|청구일).*
        | (?:결제|승인|취소|환불|주문|통행|이용)일(?:시|자)?(?:[ ][\d./-]{3,10})?
        | (?:거래|결제|이용|승인)[ ]?(?:유형|구분|종류|상태)
        | (?:환불|반환|취소|이용)[ ]?(?:금액|구간|위약금)
        | (?:이용하신[ ])?(?:택시|대리|주차|버스)[ ]?요금
        | (?:예매|예약|탑승|출발)[ ]?(?:일시|번호)
        | (?:주문|예약|예매|구매|배송)[ ]?(?:완료|확정|접수)
        | (?:주문|결제|승인|이용)[ ]?시[각간]
        | (?:주문|문서)[ ]?(?:번호|일|ID)
        | (?:Visa|VISA|Master(?:card)?|Amex|AMEX|JCB)[ *•-]{0,5}\d{4}
        | (?:(?:이용|결제|승인|사용|취소|환불)[ ]?)?금액[은이]
        | 하이패스\([가-힣]{2}\)[ ]?통행료
        | (?:남은|잔여)[ ].* | 차량(?:번호)?[ :].*
        | (?:연결|출금)된?[ ]?계좌(?:[ ].*)?
        | (?:(?:머니|포인트|카드|계좌|통장|쿠폰|상품권)[ ]?[·+,&/]?[ ]?){1,3}
        # Seats, and the number of an order
        | (?:[A-Z]\d{1,2},?[ ]?){1,6} | \d{1,3}번[ ]좌석.* | \d{1,2}명
        | (?=(?:[A-Z]*\d){2})(?=\d*[A-Z])[A-Z0-9]{9,12}
        | \d{1,2}월(?:분|[ ]?접수)? | \d{1,3}일간?
        | \d{2,3}[가-힣]\d{4}(?:[ ]차량)?
    )$
    """,
    example="결제 예정일",
    initials=r"\dA-Z가거결계구금남납내다대매머문반배버사상승연예우월이인일자잔주지차청출취카쿠탑택통특포하환후",
)
_WORD_OF_OTHERS = pattern(
    r"""
    ^(?:
        [가-힣]{1,6}(?:어요|아요|해요|니다|세요)[.!]?
        | [가-힣]{1,6}(?:\+[가-힣]{1,6}){1,4}
        | [가-힣A-Za-z.]{2,10}[ ]?(?:머니|MONEY|포인트|통장)
        | [가-힣A-Za-z]{2,8}[ ]?(?:머니|포인트|페이|페이머니|카드)(?:으?로)
        | [가-힣]{2,4}님의? | [가-힣 ]{0,6}목록 | [가-힣]{0,2}신청[ ]?완료
        | [^\n]{1,10}(?:학생|회원|고객)의[ ].*
    )$
    """,
    example="소리머니",
)
_LAST_LETTERS_OF_OTHERS = frozenset("요다.!니Y트장로님의록료")
NUMERIC_NAME = pattern(r"^\d{2,5}$", example="27")
_NOTICE_GAP = pattern(
    r"""
    (?<![ ])[ ]{2,}+
    (?=[^\n]{0,60}(?:안내|알림|이용[ ]|확인|문의|수수료|서비스)
        |[A-Z .]{2,40}[ ][A-Z]{2,3}$)
    """,
    example="바람커피  결제 안내",
)
# A notice of the issuer, behind the name.
_FOOTER = pattern(
    r"""
    [ ]{0,3}[※☞☎◆▶] | [ ]{1,3}•
    | [ ]{1,3}(?:
          고객[ ]?센터 | 문의[ :]
          | 본인이?[ ]?(?:아닐|아닌|미사용)
          | 이용[ ]?안내 | 이용해[ ]?주셔서 | 감사합니다
      )
    | [ ]{1,3}(?:결제|이용|승인|거래|카드)?[ ]?(?:수단|번호|금액|일시|구분|유형)[ ]?[:=]
    | [ ]{1,3}\(?(?:(?:환불|입금|취소)[ ]?예정|(?:취소|환불)[ ]?금액)
    """,
    example=f"{AMOUNT}원 본인 아닐시",
    initials=" ※▶◆☎☞",
)
# Beginnings of notices that are sentences.
_NOTICE_START = pattern(
    r"""
    [ ](?=
        (?:
            결제한[ ] | 이번[ ]?[주달] | 지금[ ] | 오늘[ ] | 내일[ ] | 자세히
            | 더[ ]?(?:보기|알아)
            | 혜택 | 환율 | 현지 | 실제 | 접수일 | 매입일 | 전표 | 할부 | 포인트 | 적립
            | 캐시백
            | 앱(?:에서|으로)
            | 고객님 | 회원님 | 본인 | 문의 | 확인 | 클릭 | 누르
            | 결제(?:일|금액|대금)
            | 청구 | 해외 | 국내
            | 카드(?:를|는|로|사)
            | 이용(?:해|하신|내역|금액)
            | 사용(?:하신|내역|금액|처)
            | 승인(?:된|내역|일|금액)
            | 수수료 | 부정 | 도난 | 분실 | 위조
            | 취소(?:는|시|하)
            | 가맹점 | 영수증 | 리뷰 | 이벤트 | 쿠폰 | 당첨 | 무이자 | 최대 | \d{1,3}%
            | 나머지 | 남은 | 잔액 | 한도 | 출금 | 통장 | 계좌 | 연회비 | 자동 | 정기
            | 주문(?:이|을) | 예약(?:이|을)
            | 다음 | 매월 | 매달 | 약관 | 개인정보 | 안심
        )
    )
    """,
    example="이 자동결제됩니다.",
)
_SENTENCE_END = pattern(
    r"""
    (?:
        니다 | 세요 | 어요 | 아요 | 해요 | 에요 | 예요 | 까요 | 시오 | 바람 | 하기
        | 보기 | 받기 | 가기 | 확인 | 가능 | 불가 | 참고 | 안내 | 있음 | 됨 | 요망
        | 드림 | \d{4}
    )[.!?~ )>]*$
    """,
    example=f"[{ISSUER}] {KEYWORD} OTP 7728",
)
_PARTICLE_WORD = pattern(
    r"""
    [ ](?=[가-힣]{1,8}(?:은|는|을|를|에|이|가|도|으로|에서|하면|하시면)[ ])
    """,
    example=" 요청이 접수",
)
# A heading in brackets, or the kind of card, before a name.
_HEADING = pattern(
    r"""
    \[[^\[\]\n]{1,20}\][ ]?(?=[^ \n])
    | (?:체크|신용)카드[ ](?=[^ \n])
    """,
    example="[KT] 10월 요금",
)
_HEADING_STARTS = frozenset("[체신")
# Characters before the bracket of a heading, and the bracket.
MAX_HEADING_GAP = 5
_GATEWAY_HEADING = pattern(
    r"\((?P<name>[^()\n]{2,16})\)[ ]?(?=[^ \n)])", example="(나이스페이) 바람커피"
)
MIN_NOTICE_LENGTH = 3
# A longer part that ends like a sentence is one.
MAX_PLAIN_NAME_LENGTH = 16
MAX_LEGAL_FORM_LENGTH = len("(주)")
_WIDE_GAP = pattern(rf"[ ]{{{MIN_COLUMN_GAP},}}", example="HARBOR COFFEE     SEOUL")


MIN_CLAUSE_LENGTH = 12
# 바람피자에서 피자 1판을 준비 중이에요, 사진전이(가) 개인으로
_CLAUSE = pattern(
    r"에서[ ](?=[^\n]{4,60}(?:니다|어요|아요|에요|해요)(?:[.! ]|$))|이\(가\)|을\(를\)",
    example="에서 피자 1판을 준비 중이에요",
)


class MerchantSpan(NamedTuple):
    start: int
    end: int
    text: str
    # A label, a separator or a particle marks the name.
    is_sure: bool = False

    def remove_from(self, text: str) -> str:
        return f"{text[: self.start]}\n{text[self.end :]}"


def trim_labeled_merchant(text: str, start: int, end: int) -> MerchantSpan | None:
    end = _cut_notice(text, start, end)
    start, end = _without_preliminary(text, start, end)
    start, end = _strip_suffixes(text, *_trim_edges(text, start, end))
    word = _LEADING_WORD.match(text, start, end)
    start = word.end() if word else start
    return (
        MerchantSpan(start, end, text[start:end], is_sure=True) if end > start else None
    )


def trim_merchant(
    text: str, start: int, end: int, *, is_overseas: bool
) -> MerchantSpan | None:
    """Return None without a name."""
    heading = None
    if "[" in text[start : start + MAX_HEADING_GAP]:
        heading = _SERVICE_HEADING.match(text, start, end)
    start, end = _trim_edges(text, start, end)
    may_have_word = text[start : start + 1] in _LEADING_WORD_STARTS
    may_have_word = may_have_word or "로 " in text[start : start + MAX_MEANS_LENGTH]
    if may_have_word or "님" in text[start : start + MAX_HOLDER_LENGTH]:
        word = _LEADING_WORD.match(text, start, end)
        start = word.end() if word else start
    if is_overseas:
        country = _COUNTRY.match(text[start:end])
        if country and country.end() < end - start:
            start += country.end()
        country = _COUNTRY_BEHIND.search(text, start, end)
        end = country.start() if country else end
    if _BAR.search(text, start, end):
        start, end = _without_methods(text, start, end)
    notice = None
    if end - start > MIN_NOTICE_LENGTH:
        has_gap = "  " in text[start:end]
        notice = (
            (_NOTICE_GAP.search(text, start, end) if has_gap else None)
            or _FOOTER.search(text, start, end)
            or (_WIDE_GAP.search(text, start, end) if has_gap else None)
        )
    if notice and notice.start() > start:
        end = notice.start()
    end = _cut_notice(text, start, end)
    start, end = _without_preliminary(text, start, end)
    start, end = _strip_suffixes(text, *_trim_edges(text, start, end))
    name = text[start:end]
    if heading and heading.end() <= start and _SERVICE.fullmatch(name):
        start, end = heading.span("name")
        return MerchantSpan(start, end, text[start:end])
    if _is_other_word(name):
        # A merchant may be called 365.
        is_name = NUMERIC_NAME.match(name) is not None
    else:
        is_name = not (_is_sentence(name) or _BARE_COUNTRY.match(name))
    return MerchantSpan(start, end, name) if name and is_name else None


def _is_other_word(name: str) -> bool:
    """Return True for words of a notification that are no name, or none at all."""
    if not (name[:1].isalpha() or any(letter.isalpha() for letter in name)):
        return True
    if name.replace(" ", "") in _NO_NAMES or _NOT_A_NAME.match(name):
        return True
    may_be = name[-1] in _LAST_LETTERS_OF_OTHERS or "의 " in name or "+" in name
    return may_be and _WORD_OF_OTHERS.match(name) is not None


def _is_sentence(name: str) -> bool:
    tail = _SENTENCE_TAIL.search(name)
    if tail and " " in name[: tail.start()]:
        return True
    return _may_be_sentence(name) and _SENTENCE.search(name) is not None


def _may_be_sentence(name: str) -> bool:
    """Return False for most names: without a blank and such words."""
    if " " in name or name[-1] in "기인고.!~" or name[0] in "※☞☎*":
        return True
    return (
        "안내" in name
        or "문의" in name
        or "내역" in name
        or "본인" in name
        or "포인트" in name
        or "센터" in name
        or "추가하고" in name
        or "주셔서" in name
        or "마케팅" in name
        or "수수료" in name
    )


def _without_methods(text: str, start: int, end: int) -> Span:
    if text[end : end + MAX_CARD_WORD].lstrip(f" {NOISE}")[:1] == ISSUER:
        # 바람마켓 | 프렌즈 체크카드(1234)
        bar = _BAR.search(text, start + 1, end)
        end = bar.start() if bar else end
    before = _METHOD_BEFORE.match(text, start, end)
    start = before.end() if before else start
    behind = _METHOD_BEHIND.search(text, start, end)
    end = behind.start() if behind else end
    account = _ACCOUNT_BEHIND.search(text, start, end)
    return start, account.start() if account else end


def _without_preliminary(text: str, start: int, end: int) -> Span:
    if "승인" not in text[start:end]:
        return start, end
    prefix = PRELIMINARY_PREFIX.match(text, start, end)
    start = prefix.end() if prefix and prefix.end() < end else start
    suffix = PRELIMINARY_SUFFIX.search(text, start + 1, end)
    return start, suffix.start() if suffix and suffix.end() == end else end


def _cut_notice(text: str, start: int, end: int) -> int:
    """Return the end of a name before a notice (바람커피 환율에 따라 달라집니다)."""
    name = text[start:end]
    if end - start > MIN_CLAUSE_LENGTH and ("에서 " in name or "(" in name):
        clause = _CLAUSE.search(text, start + 1, end)
        end = clause.start() if clause else end
    if end - start <= MIN_NOTICE_LENGTH or " " not in name:
        return end
    if not _SENTENCE_END.search(text, max(start, end - 12), end):
        return end
    name = text[start:end]
    notice = _NOTICE_START.search(name, 1)
    if notice is None and len(name) > MAX_PLAIN_NAME_LENGTH:
        notice = _PARTICLE_WORD.search(name, 1)
    return start + notice.start() if notice else end


def _trim_edges(text: str, start: int, end: int) -> Span:
    if not text[start : start + 1].isalnum():
        separators = _LEADING_SEPARATORS.match(text, start, end)
        start = separators.end() if separators else start
    if text[start : start + 1] in _HEADING_STARTS:
        heading = _HEADING.match(text, start, end)
        start = heading.end() if heading else start
    if (
        text[start : start + 1] == "("
        and text[end - 1 : end] == ")"
        and end - start > MAX_LEGAL_FORM_LENGTH
        and _BALANCED.fullmatch(text, start + 1, end - 1)
    ):
        return start + 1, _trim_end(text, start + 1, end - 1)
    if start < end and text[start] == "[" and text.find("]", start) == end - 1:
        return start + 1, _trim_end(text, start + 1, end - 1)
    if text.startswith("(", start):
        gateway = _GATEWAY_HEADING.match(text, start, end)
        if gateway and is_gateway_name(gateway["name"]):
            start = gateway.end()
    if text.startswith(")", start) or (
        text.startswith("(", start) and ")" not in text[start:end]
    ):
        start += 1
    return start, _trim_end(text, start, end)


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in " ,/|·:;<>[(-—~_'\"":
        end -= 1
    if end > start and text[end - 1] in ")]":
        opening = "(" if text[end - 1] == ")" else "["
        if opening not in text[start:end]:
            return _trim_end(text, start, end - 1)
    return end


def _strip_suffixes(text: str, start: int, end: int) -> Span:
    """Return the span without 에서, 자동이체 or 이용건 after the name."""
    if end > start and text[end - 1] == "." and text[end : end + 1] in PLACEHOLDERS:
        end -= 1
    if text[end - 1 : end] == "*":
        # 바람커피 *누적, 바람커피 *현대카드
        following = text[end : end + 2].lstrip(" ")[:1]
        if following == RUNNING_TOTAL or (
            following == ISSUER and text[end - 2 : end - 1] == " "
        ):
            end = _trim_end(text, start, end - 1)
    if text.endswith(" 자동", start, end):
        # KT 통신요금 자동(0*4*)
        is_before_card = text[end : end + 2].lstrip(" (")[:1] == ISSUER
        end = _trim_end(text, start, end - 3) if is_before_card else end
    if end <= start or text[end - 1] not in _SUFFIX_LAST_CHARACTERS:
        return start, end
    # Suffixes may be combined: 바람커피 정기결제 이용건.
    for rule in (
        _ATTACHED_SUFFIX,
        _TRAILING_WORDS,
        _TRAILING_WORDS,
        _ATTACHED_SUFFIX,
    ):
        match = rule.search(text, max(start, end - 12), end)
        if match and match.start() > start:
            end = _trim_end(text, start, match.start())
    return start, end
