"""Find a merchant at a place where only its name can be.

The name is masked first, so that no part of it is mistaken.
"""

import re
from itertools import islice, takewhile

from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

COUNTRIES = frozenset(read_words("words.toml")["countries"])
_COUNTRIES = alternatives(tuple(sorted(COUNTRIES, reverse=True)))
# SOL트래블 체크카드(1234), behind a bar or dot
_CARD_WITH_DIGITS = r"[^\n|]{0,16}카드(?:\([\d*]{4}\)|[ ]\d\*\d\*)"
MERCHANT_LABEL = r"""
    (?:
        (?:이용|사용|승인|결제|취소)?가맹점(?:[ ]?이름|명)?
        | 사용처명? | 이용처명? | 결제처 | 거래처명? | 상호명? | 매장명? | 상점명?
        | 구매처 | 주문처 | 판매자 | 음식점 | 납부처 | 이용[ ]?장소 | 사용[ ]?장소
        | 이용점포 | 점포명
        | 요청[ ]?사이트 | 사이트명? | 상점 | 판매점 | 업체명? | 서비스명 | 구매[ ]?상점
    )
"""
# Many names end in these words; only a colon makes them labels.
_PLACE_LABEL = r"""
    (?:
        충전소 | 주유소 | 주차장 | 정비소 | 가게 | 판매처 | 구입처 | (?<=\n)서비스
        | (?:구매|사용|이용|결제|방문)[ ]?매장
        | (?:사용|이용|결제|구매)(?:한|하신)[ ]?곳
        | (?:가게|지점|사업자|병원|약국|식당|시설|주차장|충전소|주유소)(?:명|[ ]?이름)
    )
"""
_RUNNING_TOTAL = r"""
    (?:총[ ]?)?(?:누적|누계|잔액|통장잔액)(?:금액|이용금액)?[ :\-]{0,3}[\d₩-]
"""
_NEXT_LABEL = r"""
    (?:승인|결제|이용|사용|거래|취소|할부|카드|일시|금액|고객|잔액|누적)
    [가-힣]{0,4}[ ]?[:=]
"""
_NAME_END = pattern(
    rf"""
    [ ]/[ ]
    | [ ][\d,]{{1,15}}원(?:을|이)?[ ]?(?:결제|승인|사용)
    | [ ](?:결제|승인|이용|사용)[ ]?금액[ :]{{1,2}}\d
    | [ ]{{0,3}}(?:
          $ | \n | \| | [ ]· | [ ]▶
          | \((?:일시불|(?:할부|무이자)?[ ]?\d{{1,2}}개월(?:[ ]?(?:할부|무이자))?)\)
          | [ ]{_RUNNING_TOTAL}
          | [ ,/\-]{{1,4}}{_NEXT_LABEL}
          | [ ](?:잔액|한도|비밀번호|유효기간)[ ]?(?:부족|초과|오류)[ ]*(?:\n|$)
          | [ ]\((?=\d\d?[/.]\d\d?[ ]\d\d?:\d)
          | [ ]\[ | \[\d{{2,4}}-\d | [ ]-[ ] | [ ]{{4}}
          | [ ]{{2,}}(?:해외|국내|이용|자동)
          # 바람커피 페이스페이 3,000원 할인
          | [ ][가-힣]{{1,6}}(?:페이|카드)[ ][\d,]{{1,15}}[ ]?원[ ]?
            (?:즉시[ ]?|청구[ ]?)?(?:할인|캐시백|적립)
      )
    """,
    example="솔팡[1577-7011]",
)
MAX_LABELED_MERCHANT_LENGTH = 200
MAX_LABEL_MATCHES = 3
# The label of 가맹점명: 바람커피.
_LABELED = pattern(
    rf"""
    (?<![가-힣])(?:{MERCHANT_LABEL}|{_PLACE_LABEL})[ ]?[:=][ ]?\n?[ ]?(?=[^\n])
    """,
    example="이용처: Google",
    initials="가거결구납매방병사상서승시식약업요음이점정주지충취판",
)
# The product names the shop if no label does.
_LABELED_PRODUCT = pattern(
    r"""
    (?<![가-힣])(?:
        (?:주문[ ]?|구독[ ]?|구매[ ]?)?상품명? | 이용권 | 주문명 | 품명
        | (?:펜션|숙소|호텔|공연|강의|클래스|강좌|과정|프로그램)명
        | (?:신청[ ]?)?서비스 | 주문[ ]?내역
    )[ ]?[:=][ ]?(?=[^\n])
    """,
    example="▣상품명 : 파도랜드",
)
_LABEL_ENDS = "점처호자소장체게곳품명름트스역권"
_HAS_LABEL = pattern(
    rf"[:=](?:(?<=[{_LABEL_ENDS}][:=])|(?<=[{_LABEL_ENDS}][ ][:=]))",
    example="- 가맹점명: 바람커피성수",
)
# A cheap check before the pattern
_INLINE_LABELS = (
    *("처 ", "점 ", "명 ", "상호 ", "가게 ", "매장 ", "판매자 ", "운수사 "),
    *("장  ", "소  ", "호  ", "포  "),
)
# 사용처 느루공방 거래시간 11/12 14:22
_LABELED_INLINE = pattern(
    r"""
    (?:^|(?<=\n)|(?<=[,·/|원][ ]))[ \-·•■◆▶]{0,3}
    (?:사용처|이용처|결제처|가맹점명?|상호명?)[ ]
    (?P<field>(?![가-힣]{1,8}(?:은|는|에|이|가|의)[ ])[^\n:,]{1,60}?)
    (?=
        ,[ ]
        | [ ](?:거래|승인|이용|결제)?(?:시간|일시|일자|번호|금액|시각)[ :]
        | (?:
              [ ]\d{1,3}(?:[ ]\d{3}){1,3},\d\d[ ][A-Z]{3}
              | [ ][\d,.]{1,12}[ ]?(?:[A-Z]{3}|원)
          )?[ ]*(?:\n|$)
    )
    | (?<![가-힣])(?:사용처|이용처|결제처|가맹점명?|상호)[ ](?P<merchant>[^\n:]{1,60}?)
      (?=[ ](?:거래|승인|이용|결제)(?:시간|일시|일자|번호|금액)[ ]|[ ]할부[ ])
    | (?<=\n)(?:가게|매장|판매자)[ ](?P<shop>[^\n:]{1,60})(?=\n[^\n]{0,6}금액[ ])
    | (?:^|(?<=\n))(?:
          (?:이용|승인|사용|결제)가맹점 | 운수사
          | (?:상점|매장|상호|업체|지점|가게|충전소|주유소|주차장|병원)명
      )[ ](?P<line>[^\n:]{1,60})(?=\n|$)
    | (?:^|(?<=\n))(?:주차장|충전소|매장|가맹점|사용처|상호|가게|점포)[ ]{1,12}
      (?<=[ ]{2})(?P<column>[^\n: ][^\n:]{1,40})(?=\n|$)
    """,
    example="사용처 느티찻집",
    initials=r" \-·•■▶◆가결매병사상승업운이점주지충판",
)
# 신한카드 ・ 바람커피, 5,500원 · 바람커피, and the arrow
_DAY = r"""
    (?:\d{2,4}[./년-][ ]?)?\d{1,2}[./월-][ ]?\d{1,2}일?[ ]?
    (?:\(?[월화수목금토일]\)?[ ]?)?(?:오[전후][ ]?)?\d{1,2}:\d\d
"""
_METHOD_BAR = pattern(
    rf"""
    (?:
        (?:
            카드(?:\d\.\d)?(?:[ ][A-Z][A-Za-z]{{1,8}})?
            | 체크 | 은행 | 뱅크 | 머니 | 포인트 | 통장 | 계좌 | 페이 | 저축 | 증권
            | \d원
            | 결제[ ]?(?:완료|취소)?
            | \(\d{{4}}\)
        )[ ]?·
        | (?:은행|뱅크|머니|포인트|계좌|페이)[ ]?\|
        | (?:체크카드|통장|계좌)(?:[ ]?\([\d*]{{2,8}}\))?[ ]?(?:→|->|➔|▶)
    )[ ]{{0,2}}(?=[^\s|·])
    (?!
        [^\n(]{{0,6}}(?:승인|취소|일시불|\d{{1,2}}개월|잔액|누적)
        | {_CARD_WITH_DIGITS}
        | [가-힣A-Za-z.]{{0,8}}[ ]?[\d,]{{1,9}}[ ]?(?:원|P|점)?[ ]?(?:적립|할인|캐시백)
        | [ ]?{_DAY} | (?:약[ ]?)?[\d,]{{1,15}}원 | 남은[ ] | (?:적립|할인)[ ]?예정
        | [^\n]{{0,6}}(?:한도|비밀번호|유효기간)[ ]?(?:초과|부족|오류|불일치|경과)
        | 결제(?![가-힣])
        | [가-힣A-Za-z.]{{1,8}}(?:페이|머니)(?:\([^()\n]{{1,12}}\))?[ ]*(?:[\n·]|$|결제)
        | (?:Apple|Google|Samsung)[ ]?(?:Pay|Wallet)[ ]*(?:[\n·]|$)
        | [^\n]{{0,12}}(?:통장|계좌|카드)(?:에서)?[ ](?:해외|국내)?[ ]?결제[ ]*(?:\n|$)
        | [^\n]{{0,14}}(?:머니|통장|계좌)[ ]잔액
        | [가-힣A-Za-z]{{0,8}}(?:카드|체크|머니|포인트|쿠폰)
          (?:[ ]?(?:결제|사용|이용)|[ ]?\(?[\d*]{{4}}\)?)?[ ]*(?:[\n|·/]|$)
        | [가-힣A-Za-z]{{1,8}}[ ]\(?[\d*]{{4}}\)?[ ]*(?:[\n|·]|$)
        | [가-힣]{{2,5}}[ ](?:머니|포인트)[ ]?결제
    )
    """,
    example="카드·계좌 모두",
)
_METHOD_BARS = ("·", "→", "|", "->", "➔", "▶")
# 9,900원 | 바람커피
_AFTER_BAR = pattern(
    rf"""
    (?:
        \d원
        | 결제(?:[ ]?(?:취소|실패|완료))?
        | \)
        | (?:카드|체크)(?:[ ][A-Z][A-Za-z0-9+]{{0,11}})?
          (?![ ]?\|[^\n]{{0,60}}\d[ ]?원|[ ]?\|[ ]?(?:승인|결제|취소)[ ])
    )[ ]?\|[ ]?(?=[^\n|])
    (?!
        [가-힣]{{2,6}}(?:카드|체크)[ ]*(?:[\n|]|$)
        | {_CARD_WITH_DIGITS}
        | [ ]?{_DAY} | [₩]?[\d,]{{1,15}}[ ]?원
        | [ ]?(?:잔액|한도|누적|남은) | [ ]?(?:일시불|\d{{1,2}}개월)
        | \[?[가-힣\d.·]{{0,5}}(?:승인|취소|결제)[ ]?(?:완료|취소|알림|안내)?\]?[ ]*
          (?:[\n|]|$)
    )
    """,
    example="KB국민카드 | 별빛",
)
# Before a name: 결제가 완료되었어요, 카카오페이.
_STATUS_SENTENCE = r"""
    (?:
        (?:결제|승인|취소)(?:이|가)?[ ]?(?:완료|취소)?[ ]?(?:되었|됐)(?:어요|습니다)
        [.!]?[ ]?
        | (?:결제|승인|취소)[ ]?완료[ ]?(?=[가-힣A-Z])
    )
"""
_PAY_APP = r"""
    (?:
        (?:
            네이버[ ]?페이 | 카카오[ ]?페이 | 토스페이 | 페이코 | PAYCO
            | 삼성(?:페이|월렛)
            | 쿠팡페이 | 애플페이 | Npay | SSG[ ]?PAY | 토스[ ]
        )[ ]?(?!에서|[\d\n])
    )
"""
_BEFORE_AMOUNT = pattern(
    rf"""
    (?:^|\n|\])[ ]?+(?:\d\d?[/.]\d\d?[ ]\d\d:\d\d[ ])?+
    (?>{_STATUS_SENTENCE}?)(?>{_PAY_APP}?)
    (?![^\n]{{0,60}}(?:님|카드(?:\([\d*]{{4}}\))?로|페이로)[ ,])
    # 🇫🇷 프랑스에서 23.40 EUR 결제, above the shop
    (?!\W{{0,3}}(?:{_COUNTRIES})에서)
    (?P<merchant>(?!\d\d?[/.]\d\d?[ ]\d\d:)[^\n\]|]{{1,40}}?)
    (?<!카드\([\d*]{{4}}\))(?<!통장\([\d*]{{4}}\))(?:
        에서[ ,]{{0,2}}\n?(?:[가-힣A-Za-z]{{1,8}}(?:머니|포인트|통장|계좌)로[ ])?
        | 에서[ ][가-힣A-Za-z]{{1,8}}[ ]?카드\([*\d-]{{4,12}}\)로[ ]
        | 님에게[ ](?=[\d,]{{1,15}}원[^\n]{{0,4}}결제)
        | (?<=[가-힣)])에[ ](?:[가-힣]{{1,6}}(?:머니|포인트)[ ])?
          (?=[\d,]{{1,15}}원[^\n]{{0,4}}(?:결제|냈))
    )(?=
        (?:[$₩€-]|[A-Z]{{3}})?[ ]?[\d,.]{{1,15}}[ ]?(?:원|달러|엔|[A-Z]{{3}})
        | [$₩€]
        | 결제(?:한|하신)[ ]
    )
    """,
    example="바람커피에서 9,900원",
)

# [바람커피]에서 9,900원, '바람커피'에서 9,900원
_QUOTED_BEFORE_AMOUNT = pattern(
    r"""
    [\[‘“'\"](?P<merchant>[^\[\]\n‘’“”'\"]{1,40})[\]’”'\"]에서[ ,]{0,2}\n?
    (?=₩?[\d,]{1,15}[ ]?원)
    """,
    example="[바람커피]에서 9,900원",
)

# 바람커피 → 입출금통장(1234), below 취소 or 환불
_BEFORE_ACCOUNT = pattern(
    r"""
    (?:취소|환불)[^\n]{0,20}\n(?P<merchant>[^\n→>|]{1,40}?)[ ]?(?:→|->|➔|▶)
    [ ]?[^\n]{0,12}(?:통장|계좌|체크카드)(?![가-힣])
    """,
    example="취소 4,500원\n매머드커피 → 입출금통장(3319)",
)


# 10월21일 이용하신 바람치과 4,200원 거래가 취소
_USED_AT = pattern(
    r"""
    (?:이용|사용|결제)하신[ ](?P<merchant>[^\n]{1,40}?)[ ]
    (?:
        (?=[\d,]{1,15}원[ ](?:거래|결제|승인|이용)(?:가|이|건|내역))
        | (?:이용|사용|결제|승인)[ ]?금액[ ](?=[\d,]{1,15}원)
    )
    """,
    example="이용하신 미소치과의원 4,200원 거래가",
)

# 주문하신 작은족발의 결제가, 고객님의 바람몰 결제가
_ORDERED = pattern(
    r"""
    주문하신[ ](?P<merchant>[^\n]{2,40}?)의[ ]결제가
    | (?:^|(?<=\n)|[ ]-[ ])(?P<told>[^\n!?.-]{2,30}?)
      (?:
          에서[ ](?:(?:주문|예약|구매)[ ]?완료를[ ]|주문을[ ]확인했)
          | 의[ ]결제[ ]?내역입니다
      )
    | 고객님의[ ](?P<shop>[^\n]{2,20}?)[ ]결제가
    | (?:^|(?<=\n))(?P<of>[^\n\d]{2,30}?)의[ ]결제가[ ]취소
    """,
    example="주문하신 작은족발의 결제가",
)
# 바람분식 / 신용(일시불,7*0*) / 11/04 20:38
_BEFORE_CARD_KIND = pattern(
    r"""
    (?:^|(?<=\n))(?![^\n/]{1,40}\d원)(?P<merchant>[^\n/]{1,40}?)[ ]/[ ](?:신용|체크)\(
    """,
    example="바람분식 / 신용(일시불",
)
# 레깅스 2종 반품 처리가 끝나 16,900원이
_RETURNED = pattern(
    r"""
    (?:^|\][ ]?|(?<=\n))(?![가-힣]{2,4}님)(?P<merchant>[^\n\]]{2,40}?)
    [ ](?:반품|취소|환불)[ ]?처리(?:가|를)[ ](?:끝나|완료)
    """,
    example="레깅스 2종 반품 처리가 끝나",
)
# 작은족발 주문이 취소되어, 새벽명상 멤버십이 갱신되었습니다
_DONE_WITH = pattern(
    r"""
    (?:^|(?<=\n))(?P<merchant>[^\n]{2,40}?)
    (?:
        [ ](?:주문이|(?<![A-Z][ ])(?<!\d[ ])(?<!원[ ])결제가)[ ]취소(?=되|됐)
        | [이가][ ]갱신되었 | [ ]이용이[ ](?:종료|완료)(?=되|됐)
    )
    """,
    example="작은족발 주문이 취소되어",
)
# Google Play에서 별빛게임즈의 상품을 구매하셨습니다, Google Play에서 구매해 주셔서
_BOUGHT_OF = pattern(
    r"""
    에서[ ](?P<merchant>[^\n]{1,40}?)의[ ]
    (?:상품|앱|콘텐츠|구독권?|이용권|아이템)[을를][ ]?구매하
    | 에서[ ](?P<item>[^\n]{2,40}?)을\(를\)[ ]구매
    | (?:^|(?<=\n))(?P<shop>[^\n]{2,20}?)에서[ ]구매해[ ]?주셔서
    """,
    example="에서 별빛게임즈의 상품을 구매하",
)

# 바람편의점에서 결제했어요, above the amount
_PAID_AT = pattern(
    r"(?P<merchant>[^\n\d]{1}[^\n]{1,30}?)에서[ ]결제했(?:어요|습니다)[.!]?[ ]*\n",
    example="바람편의점에서 결제했어요\n",
)
_COLUMN_GAP = pattern(r"[ ]{2,}|\t", example="잔액    870,210")
_COLUMN_LABEL = pattern(
    rf"""
    (?P<merchant>{MERCHANT_LABEL})
    | (?:거래|승인|결제|이용|사용)?[ ]?
      (?:일시|일자|시간|금액|번호|수단|구분|유형|방법|상태|내역)
    | 카드(?:사|명|번호)?
    | 할부 | 상품명?
    """,
    example="거래구분",
)
_HAS_LABEL_LINE = pattern(
    r"""
    (?<=\n)[ ]{0,3}(?:가맹점명?|사용처|이용처|결제처|상호명?|매장명?)[ ]?\n
    """,
    example="결제완료\n상호명\n",
)
MAX_COLUMNS = 8


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, words))


def find_labeled_merchant(text: str) -> Span | None:
    may_be_line = "처" in text or "가맹점" in text or "상호" in text or "매장" in text
    if "  " in text or "\t" in text or (may_be_line and _HAS_LABEL_LINE.search(text)):
        span = _find_name_in_columns(text)
        if span:
            return span
    if _HAS_LABEL.search(text):
        span = _find_name_after(_LABELED, text)
        span = span or _find_name_after(_LABELED_PRODUCT, text)
        if span:
            return span
    match = None
    if _has_any(text, _INLINE_LABELS):
        match = _LABELED_INLINE.search(text)
    if match is None and "|" in text:
        span = _find_name_after(_AFTER_BAR, text)
        if span:
            return span
    match = match or _find_shop_above(text)
    if match is None and _has_any(text, _METHOD_BARS):
        span = _find_name_after(_METHOD_BAR, text)
        if span:
            return span
    match = match or _find_name_in_sentence(text)
    return match.span(match.lastgroup or 0) if match else None


def _find_shop_above(text: str) -> re.Match[str] | None:
    return _PAID_AT.match(text) if "에서 결제했" in text else None


def _find_name_in_columns(text: str) -> Span | None:
    """Return the value of a label in a row of labels, or in some lines of labels.

    Values have the order of the labels: 가맹점명  거래일시⏎노을분식  2026.11.15 18:49
    """
    lines = _split_lines(text)
    for number, (start, end) in enumerate(lines[:-1]):
        cells = _split_cells(text, start, end)
        if len(cells) == 1:
            # Lines of one label each, then as many values.
            count = _count_labels(text, lines[number : number + MAX_COLUMNS])
            cells = lines[number : number + count]
            values = lines[number + count : number + 2 * count]
        else:
            values = _split_cells(text, *lines[number + 1])
        if not 2 <= len(cells) <= min(len(values), MAX_COLUMNS):
            continue
        labels = [_COLUMN_LABEL.fullmatch(text[slice(*cell)].strip()) for cell in cells]
        if all(labels):
            for label, value in zip(labels, values, strict=False):
                if label and label["merchant"] and value[1] > value[0]:
                    return value
    return None


def _split_lines(text: str) -> list[Span]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _split_cells(text: str, start: int, end: int) -> list[Span]:
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    cells = []
    for gap in _COLUMN_GAP.finditer(text, start, end):
        cells.append((start, gap.start()))
        start = gap.end()
    return [*cells, (start, end)]


def _count_labels(text: str, lines: list[Span]) -> int:
    labels = (_COLUMN_LABEL.fullmatch(text[slice(*line)].strip()) for line in lines)
    return sum(1 for _ in takewhile(bool, labels))


def _find_name_in_sentence(text: str) -> re.Match[str] | None:
    match = None
    if "→" in text or "->" in text or "➔" in text:
        match = _BEFORE_ACCOUNT.search(text)
    if " / 신용(" in text or " / 체크(" in text:
        match = _BEFORE_CARD_KIND.search(text)
    if match is None and "하신 " in text:
        match = _USED_AT.search(text)
    is_order = "주문하신" in text or "님의 " in text or "완료를 " in text
    is_order = is_order or "주문을 확인" in text
    if match is None and (is_order or "의 결제" in text):
        match = _ORDERED.search(text)
    if match is None and "처리" in text:
        match = _RETURNED.search(text)
    if match is None and (
        "이 취소" in text or "가 취소" in text or "갱신되" in text or "이용이 " in text
    ):
        match = _DONE_WITH.search(text)
    if match is None and "구매" in text and "에서" in text:
        match = _BOUGHT_OF.search(text)
    if match is None and ("]에서" in text or ("에서" in text and "'" in text)):
        match = _QUOTED_BEFORE_AMOUNT.search(text)
    if match is None and ("에서" in text or "에 " in text or "님에게 " in text):
        match = _BEFORE_AMOUNT.search(text)
    return match


def _find_name_after(label: re.Pattern[str], text: str) -> Span | None:
    for match in islice(label.finditer(text), MAX_LABEL_MATCHES):
        start = match.end()
        end = _NAME_END.search(text, start + 1, start + MAX_LABELED_MERCHANT_LENGTH)
        if end:
            return start, _cut_open_bracket(text, start, end.start())
    return None


def _cut_open_bracket(text: str, start: int, end: int) -> int:
    """Return the end before an unpaired bracket, else `end`."""
    depth = 0
    for position in range(start, end):
        if text[position] == "(":
            depth += 1
        elif text[position] == ")":
            depth -= 1
            if depth < 0:
                return position if position > start else end
    return end
