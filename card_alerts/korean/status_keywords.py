"""Find the words for approved, cancelled and declined.

A keyword is a whole word, or directly follows an issuer, an amount or a holder's name;
승인카페 and 취소전문점 are merchants.
"""

from itertools import islice
from typing import NamedTuple

from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    BENEFIT,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    NOISE,
    TIMESTAMP,
    MaskedText,
)
from card_alerts.patterns import pattern
from card_alerts.result import Kind, Span

_COMPLETED_SUFFIX = r"""
    (?:
        [ ]?(?:정상(?:적으로)?[ ]?(?=완료|처리))?
        (?:완료|(?:처리|접수)(?:[ ]?완료)?|됨|성공|확인)
    )?(?:[ ]?\((?:정상|전체)\))?
    (?:안내|알림)?(?:
        [ ]?(?:완료)?[ ]?
        (?:
            되었습니다 | 되었어요 | 됐어요 | 됐습니다 | 했어요 | 했습니다 | 하셨습니다
            | 하셨어요 | 하였습니다 | 하셨네요 | 되었음 | OK
        )
    )?
"""
_QUALIFIER = r"""
    (?:
        해외 | 국내 | 온라인 | 오프라인 | 정상 | 일반 | 일시불 | 할부 | 매출 | 매입
        | 전체 | 부분 | 일부 | 카드 | 체크카드 | 체크 | 신용카드 | 신용 | 간편
        | 자동납부 | 자동결제 | 자동이체
        | 정기(?:결제)?
        | 카드번호입력 | 번호입력 | 수기 | 수기입력 | 앱카드 | 전자상거래 | 후불 | 주문
        | 구매 | 거래 | 출금 | 무승인 | 비대면 | 현장 | QR | 교통 | 페이스페이 | 페이
        | 휴대폰 | 소액
        | (?:가|선|사전|임시)(?=승인)
        | 자동(?=결제[가이]?[ ]?(?:완료|성공|되었|됐|했))
        | 법인 | 안심 | 안전
        | (?:결제|사용|이용)(?=[ ]?승인)
    )
"""
_DECLINE_REASON = r"""
    (?:이용|사용|월|일|1회|카드|신용|통합|잔여)?[ ]?한도[ ]?(?:초과|부족)(?:로(?=[ ]))?
    | (?:예금[ ]?)?잔[액고]이?[ ]?부족(?:합니다|해요|해(?=[ ])|으로)?
    | 비밀번호[ ]?(?:입력[ ]?)?(?:\d회[ ]?)?(?:오류|불일치|틀림|오입력)
      (?:[ ]?횟수[ ]?초과)?
    | 유효기간[ ]?(?:오류|경과|만료|불일치|상이)
    | (?:도난[ /·]?)?분실(?:[ /·]?도난)?[ ]?(?:신고)?[ ]?카드
    | (?:거래|사용|이용)?[ ]?정지[ ]?카드
    | (?:거래|사용|이용)[ ]?(?:정지|제한|불가)
    | (?:해외|온라인|국내)?[ ]?(?:사용|결제|이용|거래)?[ ]?
      (?:미등록|차단(?![ ]?해제)|미신청)
    | CV[CV][ ]?(?:번호)?[ ]?오류
    | 본인[ ]?인증[ ]?(?:실패|오류)
    | 카드[ ]?(?:번호|상태|정보)[ ]?오류
    | 정보[ ]?불일치 | 미등록[ ]?카드 | 해지[ ]?카드 | 연체[ ]?카드
"""
_DECLINE = rf"""
    (?:{_QUALIFIER}[ ]?){{0,2}}
    (?:
        (?:승인|결제|거래|이용|사용|출금)[ ]?(?:이|가)?[ ]?(?:완료|처리)?
        (?:거절|거부|불가|실패|불능|오류|되지[ ]?않)
        | 미승인 | 거절
    )(?:[ ]?(?:안내|알림|내역|사유|건))?
    (?:
        되었습니다 | 되었어요 | 됐어요 | 됐습니다 | 했어요 | 했습니다 | 하였습니다
        | 았습니다 | 았어요 | 습니다
    )?
    | (?:거래|결제|승인)[이가][ ](?:[가-힣]{{1,6}}[ ]){{0,3}}차단
      (?:되었습니다|됐습니다|됐어요)
    | 결제에[ ]?실패(?:했어요|했습니다|하였습니다)
    | 결제하지[ ]?못했(?:어요|습니다)
"""
_CANCEL = rf"""
    (?:{_QUALIFIER}[ ]?){{0,2}}(?:승인|결제|이용|사용)?(?:이|가|을|를)?[ ]{{0,2}}
    (?:{_QUALIFIER}[ ]?)?취소(?:[ ]?승인)?
    (?:
        (?:이|가|을|를)
        (?=[ ]?(?:정상|(?:완료|처리|확인)(?!되지|[ ]?중)|성공|되었|됐|했|하였|하셨))
    )?{_COMPLETED_SUFFIX}(?:되어(?=[^\n]{{0,16}}(?:환불|복원|환원)))?
    | (?:승차권|예매)[이가]?[ ]반환(?:이|을)?[ ]?(?:완료|처리)?[ ]?
      (?:되었습니다|되었어요|됐어요|됐습니다|했습니다)
    | (?:반환[ ]?및[ ]?)?환불(?:이|을)?[ ]?(?:완료|처리)?[ ]?
      (?:되었습니다|되었어요|됐어요|됐습니다|했어요|했습니다)?
"""
_APPROVE = rf"""
    (?:{_QUALIFIER}[ ]?){{0,2}}(?:승인|사용|이용|결제)
    (?:
        (?:이|가|을|를)
        (?=[ ]?(?:정상|(?:완료|처리|확인)(?!되지|[ ]?중)|성공|되었|됐|했|하였|하셨))
    )?{_COMPLETED_SUFFIX}
    # The only word for the collection of an automatic payment.
    | 매출접수
    | (?:MG)?체크(?:카드)?[ ]?출금
    | 상품권[ ]?사용 | 승인금액 | 자동결제안내 | 정상[ ]?\(승인\)[ ]?납부[ ]?완료
"""
_OTHER_NOUN = r"""
    (?:
        예정 | 금액 | 대금 | 요금 | 계좌 | 수단 | 방법 | 정보 | 내역 | 한도 | 기간
        | 번호 | 일시 | 시각 | 시점 | 일자 | 처 | 가능 | 요청 | 신청 | 고객 | 회원
        | 전원 | 불가 | 조건 | 건수 | 혜택 | 이벤트 | 할인 | 해지
    )
"""
# No event, or not yet: 결제 대기, 승인 보류, 결제 예약 완료, 승인 시 적립.
_NOT_YET = r"""
    (?:
        예정 | 대기 | 시도 | 보류 | 예약 | 요청 | 신청 | 미완료 | 미확정 | 준비
        | (?:처리|진행)(?=[ ]?중|[ ]?예정) | 진행(?=돼요|됩니다|될)
    )(?:[ ]?중)?(?:[ ]?(?:건|상태|안내|알림|일|완료))?
    (?:입니다|이에요|예요|됨|되었|됐|했|합니다|돼요|됩니다|될|[이가을를은는]?(?![가-힣]))
    | 가능(?:합니다|해요)?(?![가-힣]|[ ]?(?:금액|액|한도))
    | 한도(?![가-힣]|[ ]?(?:초과|부족))
    | (?:됩니다|돼요|될|할(?!인|부)|하기|하세요|하시|하면|해[ ]?주|시[ ])
    | 취소[가이는]?[ ]?
      (?:요청|신청|예정|접수|실패|불가|진행|(?:완료|처리)(?:될|되면|[ ]?중))
    | 승인[ ]?(?:요청|신청|예정|대기)
    # A condition or a request: 수수료 결제 후 재배송, 결제 바랍니다.
    | (?:후|뒤|이후)(?:에|로)?[ ](?!잔|남은|포인트|적립|누적)[가-힣]
    | 바랍니다
    | 바람(?![가-힣])
    | 요망 | 부탁
    | 필요(?!없)
    | 해야 | 하셔야
"""
_NOT_FOLLOWED_BY_NOUN = rf"""
    (?!
        [ ]?(?:{_NOT_YET})
        | {_OTHER_NOUN}
        | [ ]{_OTHER_NOUN}(?:금액|일|입니다|이에요|이며|[은이을의에])?(?![가-힣])
        | 일[ ]?\d | 일[ ]?{TIMESTAMP} | 일[ ]변경
    )
"""
_FIRST_LETTER = r"""
    (?=
        [해국온오안정일할매전부카체신간자번수앱후주구거출무비현교페승결이사월통잔한유도분미본연취환상차가선임휴소법예QCM]
        | 1회
    )
"""
_WORD_START = r"(?<![가-힣A-Za-z])"
_WORD_END = r"(?![가-힣A-Za-z])"
_HOLDER_NAME_FOLLOWS = r"(?=[가-힣]{2,4}[ ]?님|[가-힣]{1,2}\*)"

_KEYWORD_PATTERN = rf"""
    (?:
        (?P<declined>{_DECLINE}|{_DECLINE_REASON})
        | (?P<cancelled>{_CANCEL}){_NOT_FOLLOWED_BY_NOUN}
        | (?P<approved>{_APPROVE}){_NOT_FOLLOWED_BY_NOUN}
    )
"""
# A keyword directly after an issuer; a holder's name may follow without a space.
ATTACHED_KEYWORD = pattern(
    rf"""
    {_FIRST_LETTER}{_KEYWORD_PATTERN}(?:{_WORD_END}|{_HOLDER_NAME_FOLLOWS})
    """,
    example="취소되었습니다",
)

_KEYWORD = pattern(
    rf"""
    {_FIRST_LETTER}{_WORD_START}(?!(?<=[가-힣A-Za-z0-9]-)자동){_KEYWORD_PATTERN}
    (?:{_WORD_END}|{_HOLDER_NAME_FOLLOWS})
    """,
    example="카드 결제 취소",
)
_KEYWORD_PREFILTER = pattern(
    r"""
    승인 | 취소 | 매출접수 | 사용 | 이용 | 결제 | 거절 | 실패 | 불가 | 부족 | 초과
    | 오류 | 환불 | 반환
    | 출금 | 정지 | 분실 | 차단 | 미등록 | 미신청 | 불일치 | 기간 | 틀림
    | 오입력 | 해지 | 연체
    """,
    example="잔액부족상담소",
)
# A heading is no event: 카드 승인내역 알림, 이용 안내.
NOTICE_HEADING = pattern(
    rf"""
    {_WORD_START}(?:카드[ ]?|해외[ ]?)?
    (?:
        (?:승인취소|승인|이용|사용|결제|취소|거래)[ ]?내역[ ]?(?:알림|안내)?
        | (?:이용|사용|승인|거래)[ ]?(?:알림|안내)
    ){_WORD_END}
    | (?<={ISSUER})[ ]?(?:알림|안내|메시지)(?=[\])>: \n]|$)
    """,
    example="이용 안내",
    initials=" 거결메사승안알이취카해",
)
PARTIAL_CANCELLATION = pattern(
    r"""
    부분[ ]?(?:매출[ ]?|승인[ ]?|결제[ ]?)?취소
    | 일부[ ]?(?:결제[ ]?)?취소
    | 부분[ ]?환불
    """,
    example="부분 취소 완료",
)

# Announced, requested or held back: 결제 예정, 승인 대기, 결제됩니다.
PENDING = pattern(
    rf"""
    (?:승인|결제|사용|이용|구매|청구|출금|납부|취소|환불|갱신)(?:이|가|을|를)?[ ]?
    (?:{_NOT_YET})
    """,
    example="승인 대기",
)

_CHECK_CARD_WITHDRAWAL = pattern(
    r"(?:MG)?체크(?:카드)?[ ]?출금$", example="체크카드 출금"
)

PRELIMINARY_APPROVAL = pattern(r"(?:가|선|사전|임시)승인", example="삼성4451선승인")

# No name contains these, unlike a reason (한도초과 노래방).
CERTAIN_DECLINE = pattern(
    r"""
    (?:승인|결제|거래|이용|사용|출금)[^\n]{0,3}(?:거절|거부|불가|실패|불능|오류|되지|못)
    | 거절
    """,
    example="승인거절 5,000원",
)

# The lowest rank decides. Directly after an issuer, or in brackets:
RANK_ATTACHED = 0
# Beside an amount, an installment or a benefit.
RANK_ADJACENT = 1
RANK_STANDALONE = 2
# 체크카드출금 is only the type of a booking; 출금취소 beside it is the event.
RANK_WITHDRAWAL = 3
# Between a date and a name; a keyword only if the text has no other.
RANK_BEFORE_NAME = 4
_ATTACHED_BEFORE = pattern(
    rf"""
    {ISSUER}[ \])\-:·>]{{0,4}}\Z
    | [\[(<][ ]?(?:[가-힣0-9 {INSTALLMENT}]{{0,6}}[.·][ ]?)?\Z
    """,
    example="행복한동물병원( ",
)
_ADJACENT_BEFORE = pattern(
    rf"""
    [{AMOUNT}{INSTALLMENT}{BENEFIT}{NOISE}][ /|·,.:()\-이가을]{{0,5}}\Z
    """,
    example=f"보정점에서 {AMOUNT}이 ",
)
_DAY_FOLLOWS = pattern(rf"[ ]{TIMESTAMP}", example=f"승인이 {TIMESTAMP}")
_ADJACENT_AFTER = pattern(
    rf"[ /|·,:()\-]{{0,4}}[{AMOUNT}{INSTALLMENT}]", example=f"해외승인 {AMOUNT} River"
)
_EDGE_BEFORE = pattern(
    rf"(?:^|[\n{ANY_PLACEHOLDER}]|[/|·,.:\])])[ ]{{0,3}}\Z",
    example=f"{ISSUER}] 승인거절 {AMOUNT} {TIMESTAMP} ",
)
_EDGE_AFTER = pattern(
    rf"[ ]{{0,3}}(?:$|[\n{ANY_PLACEHOLDER}/|·,.:!()\]]|\.)", example="승인취소·선결제"
)
_KIND_BY_GROUP = {
    "declined": Kind.DECLINED,
    "cancelled": Kind.CANCELLATION,
    "approved": Kind.APPROVAL,
}
# Among the same rank the lowest number decides.
_KIND_PRIORITY = {Kind.DECLINED: 0, Kind.CANCELLATION: 1, Kind.APPROVAL: 2}
MAX_KEYWORDS = 60
MAX_CONTEXT_LENGTH = 24
MAX_QUALIFIER_LENGTH = 40
# Ends of whole sentences, which begin no name.
_SENTENCE_ENDS = frozenset("다요어")
# The words may be one name: 취소 전문점.
WORD_FOLLOWS = pattern(r"[ ]{1,2}(?=[가-힣A-Za-z0-9])", example="승인 거래제한")


class StatusKeyword(NamedTuple):
    kind: Kind
    span: Span
    rank: int
    # It may begin a merchant's name (승인 카페).
    has_following_word: bool = False

    @property
    def is_weak(self) -> bool:
        return self.has_following_word and self.rank > RANK_ATTACHED


# 11/15 자동납부 정상승인 바람통신 68,200원
_BEFORE_NAME = pattern(
    r"""
    (?:[가-힣]{2,7}[ ]?){0,2}(?:승인|취소|(?:승인|취소|결제)[ ]?완료)[ ]?\Z
    """,
    example="자동납부 정상승인",
)
_AFTER_DATE_OR_CARD = pattern(
    rf"[{TIMESTAMP}{ISSUER}{HOLDER_NAME}][ ,/|]{{0,3}}\Z",
    example=f"[{ISSUER}] {HOLDER_NAME} {TIMESTAMP} ",
)


def find_keywords(masked: MaskedText) -> list[StatusKeyword]:
    text = masked.text
    word = _KEYWORD_PREFILTER.search(text)
    if word is None:
        return []
    keywords: list[StatusKeyword] = []
    first = max(0, word.start() - MAX_QUALIFIER_LENGTH)
    matches = list(islice(_KEYWORD.finditer(text, first), MAX_KEYWORDS))
    starts = {match.start() for match in matches}
    before_name: list[StatusKeyword] = []
    for match in matches:
        start, end = match.span()
        is_subject = match.lastgroup != "declined" and match[0][-1] in "이가"
        if is_subject and _DAY_FOLLOWS.match(text, end):
            # 승인이 10월29일 취소되었습니다
            continue
        before = text[max(0, start - MAX_CONTEXT_LENGTH) : start]
        if match[0].endswith("출금") and _CHECK_CARD_WITHDRAWAL.match(match[0]):
            rank = RANK_WITHDRAWAL
        elif _ATTACHED_BEFORE.search(before):
            rank = RANK_ATTACHED
        elif _ADJACENT_BEFORE.search(before) or _ADJACENT_AFTER.match(text, end):
            rank = RANK_ADJACENT
        elif (
            _EDGE_AFTER.match(text, end)
            # 한도초과 may stand between an issuer or a separator and any other text.
            or (match.lastgroup == "declined" and _EDGE_BEFORE.search(before))
            or not text[:start].strip(" \n[(<")
        ):
            rank = RANK_STANDALONE
        elif _AFTER_DATE_OR_CARD.search(before) and _BEFORE_NAME.fullmatch(match[0]):
            rank = RANK_BEFORE_NAME
        else:
            continue
        following = WORD_FOLLOWS.match(text, end)
        is_sentence = match[0][-1] in _SENTENCE_ENDS
        has_following_word = (
            following is not None and following.end() not in starts and not is_sentence
        )
        kind = _KIND_BY_GROUP[match.lastgroup or "approved"]
        keyword = StatusKeyword(kind, match.span(), rank, has_following_word)
        (before_name if rank == RANK_BEFORE_NAME else keywords).append(keyword)
    return keywords or before_name


def choose_keyword(keywords: list[StatusKeyword]) -> StatusKeyword | None:
    """Prefer a decline, then the lowest rank; 승인 카페 decides only if alone."""
    return min(
        keywords,
        key=lambda keyword: (
            keyword.is_weak,
            keyword.kind is not Kind.DECLINED,
            keyword.rank,
            _KIND_PRIORITY[keyword.kind],
            keyword.span,
        ),
        default=None,
    )
