"""Messages about money that are no purchases, of generated names, amounts and dates.

Each is also read with what makes a message look like a purchase: a mark, a title, a card
with its digits, a holder and a time.
"""

from collections.abc import Iterator

import pytest

from card_alerts import parse
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import variants

# fmt: off
REFUSED = (
    "[{card}] {day} 결제 예정금액은 {paid:,}원입니다. 결제계좌 잔액을 확인해 주세요.",
    "[{card}] 이번 달 결제하실 금액 {paid:,}원 (결제일 {day})",
    "{card} 결제일 안내\n결제일: {day}\n결제금액: {paid:,}원\n결제계좌: 신한은행 110-***-1234",
    "{card} 11월 명세서가 도착했어요\n총 {paid:,}원",
    "[{card}] 고객님, {day} 출금 예정 금액 {paid:,}원. 미리 입금해 주세요.",
    "{card}({digits}) 한도가 {paid:,}원으로 변경되었습니다",
    "[{card}] 이용한도 {paid:,}원 증액이 완료되었습니다.",
    "[{card}] 임시한도 {paid:,}원 신청이 접수되었습니다 {minute}",
    "{card} 잔여한도 {paid:,}원 남았어요. 확인해 보세요",
    "[{card}] 월 이용한도 {paid:,}원 중 80%를 사용하셨습니다.",
    "[{card}] 이번 달 {paid:,}원을 사용하셨어요. 지난달보다 줄었어요!",
    "{card}\n이번 주 {paid:,}원 썼어요\n가장 많이 쓴 곳은 {shop}",
    "[{card}] 카드 이용금액 {paid:,}원 이상 이용 시 캐시백 제공",
    "{shop}에서 {card}로 {paid:,}원 결제하면 즉시 할인!",
    "오늘만! {shop} {paid:,}원 할인쿠폰이 도착했어요",
    "[{shop}] 예약이 확정되었습니다. 현장에서 {paid:,}원 결제해 주세요. {minute}",
    "[{shop}] 주문이 접수되었습니다. 결제금액 {paid:,}원, 배송예정 {day}",
    "[{shop}] 상품이 발송되었습니다. 주문금액 {paid:,}원 운송장 123456789012",
    "{shop} 주문 취소 요청이 접수되었습니다. 환불예정금액 {paid:,}원",
    "{shop} 입금 확인 요청: {paid:,}원을 {day}까지 국민은행 123456-01-123456 으로 입금해 주세요",
    "[{shop}] 무통장입금 안내 {paid:,}원 가상계좌 신한 56212345678901",
    "인증번호 [{digits}12] {card} 온라인 결제 {paid:,}원",
    "[{card}] 결제 인증번호 {digits}12를 입력해 주세요. {shop} {paid:,}원",
    "[{card}] ARS 인증 {shop} {paid:,}원 결제를 승인하시려면 1번을 눌러주세요",
    "{card} 간편결제 비밀번호 {digits}12 {paid:,}원",
    "[{card}] 앱에서 {shop} {paid:,}원 결제를 승인해 주세요",
    "[{card}] {shop} {paid:,}원 결제 승인 요청이 왔어요",
    "{card} {shop} {paid:,}원 결제가 진행 중입니다",
    "{shop} {paid:,}원 결제가 완료되지 않았어요. 다시 시도해 주세요",
    "[{card}] {shop} {paid:,}원 결제에 실패하여 다음 날 재시도합니다",
    "{shop} 정기결제 안내: {day}에 {paid:,}원이 결제될 예정입니다",
    "{shop} 구독이 {day} 갱신됩니다. {paid:,}원이 {card}로 청구됩니다.",
    "[{shop}] 무료체험이 곧 종료됩니다. {day}부터 월 {paid:,}원이 자동결제됩니다.",
    "[{shop}] 자동결제일이 {day}로 변경되었습니다. 결제금액 {paid:,}원",
    "[{card}] 자동납부 신청이 완료되었습니다. {shop} 매월 {paid:,}원",
    "[{card}] {shop} 자동이체 등록이 승인되었습니다. 월 {paid:,}원",
    "[신한은행] {minute} 입금 {paid:,}원 홍*동 잔액 {won_left:,}원",
    "[KB] {minute} 123***456 홍길동 전자금융입금 {paid:,} 잔액{won_left:,}",
    "[우리은행] {minute} 출금 {paid:,}원 김*수 잔액 {won_left:,}원",
    "카카오뱅크\n{minute}\n출금 {paid:,}원\n홍길동\n잔액 {won_left:,}원",
    "토스뱅크 | {paid:,}원 출금\n내 통장 → 홍길동",
    "홍길동님이 {paid:,}원을 보냈어요",
    "홍길동님에게 {paid:,}원을 보냈어요",
    "카카오페이\n홍길동님에게 송금 {paid:,}원 완료",
    "[카카오페이] {paid:,}원 정산 요청이 도착했어요",
    "[카카오페이] 카카오페이머니 {paid:,}원이 충전되었습니다",
    "네이버페이 포인트 {paid:,}원이 적립되었습니다",
    "[네이버페이] {shop} 구매확정 시 {paid:,}원 적립 예정",
    "[네이버페이] 결제하신 {shop} 상품 구매확정을 해주세요. {paid:,}원",
    "토스 {paid:,}원 캐시백 받았어요",
    "[{card}] 포인트 {paid:,}P가 소멸 예정입니다 ({day})",
    "[{card}] {paid:,}포인트 사용 안내",
    "[{card}] 카드대출 {paid:,}원 입금 완료 {minute}",
    "[{card}] 단기카드대출(현금서비스) {paid:,}원 이용 가능합니다",
    "[{card}] 현금서비스 {paid:,}원 이용한도 부여",
    "[{card}] 할부 전환 신청: {shop} {paid:,}원을 3개월 할부로 전환하시겠습니까?",
    "[{card}] 리볼빙 이월금액 {paid:,}원 {day}",
    "[{card}] 연체금액 {paid:,}원 {day}까지 납부 바랍니다",
    "[{card}] 연회비 {paid:,}원이 {day} 청구될 예정입니다",
    "[{card}] 카드가 발급되었습니다. 연회비 {paid:,}원",
    "[{card}] 부정사용 의심 거래 {shop} {paid:,}원이 차단되었습니다",
    "[{card}] 해외결제 차단으로 {shop} USD {price} 결제가 거절되었습니다 {minute}",
    "[{card}({digits})] 승인거절 {minute} {shop} {paid:,}원 한도초과",
    "{card}({digits}) 비밀번호 오류로 승인이 거절되었습니다 {paid:,}원 {shop} {minute}",
    "[{card}] {shop} {paid:,}원 승인 취소 요청이 접수되었습니다",
    "[{card}] {shop} {paid:,}원 매출취소는 영업일 3~5일 소요됩니다",
    "[{shop}] 환불 접수 완료. {paid:,}원은 3~5일 내 {card}로 환불될 예정입니다",
    "[{shop}] 취소 수수료 {paid:,}원이 부과될 수 있습니다",
    "재산세 {paid:,}원 납부기한 {day} 위택스",
    "[한국전력] 10월 전기요금 {paid:,}원 납기일 {day}",
    "[도시가스] 10월분 요금 {paid:,}원 청구",
    "SKT 11월 요금 {paid:,}원이 {day} {card}로 납부될 예정입니다.",
    "[SKT] 소액결제 한도가 {paid:,}원으로 변경되었습니다",
    "[KT] 휴대폰결제 이용한도 {paid:,}원 안내",
    "[LGU+] 당월 소액결제 이용금액 {paid:,}원, 잔여한도 {won_left:,}원",
    "[{shop}] 멤버십 {paid:,}원권 상품권이 도착했습니다. 유효기간 {day}",
    "[카카오톡 선물하기] {shop} {paid:,}원권 선물이 도착했어요",
    "[{shop}] 교환권 사용 안내 {paid:,}원",
    "온누리상품권 {paid:,}원 충전이 완료되었습니다",
    "[지역화폐] {paid:,}원 충전 완료 잔액 {won_left:,}원",
    "[하이패스] 잔액 {paid:,}원 자동충전 예정",
    "[주차관제] 주차요금 {paid:,}원 정산해 주세요",
    "[{shop}] 진료비 {paid:,}원 수납 안내",
    "[{shop}] 회비 {paid:,}원 {day}까지 납부 부탁드립니다",
    "엄마 나 {shop}에서 {paid:,}원 결제했어?",
    "어제 {shop}에서 {paid:,}원 썼다 ㅋㅋ",
    "저녁값 {paid:,}원 계산했어 나중에 보내줘",
    "[국제발신] {card} {paid:,}원 결제완료. 본인 아닐시 문의 02-123-4567 http://bit.ly/x",
    "[Web발신][국외발신] 해외직구 {paid:,}원 결제 승인완료 본인아니면 즉시신고 070-1234-5678",
    "[{card}] 결제알림 서비스 가입이 완료되었습니다. 월 300원",
    "[{card}] 이용대금 {paid:,}원이 {day} 정상 출금되었습니다",
    "[{card}] {day} 결제대금 {paid:,}원 중 일부가 미납되었습니다",
    "KB국민은행 {minute} 카드대금 {paid:,}원 출금 잔액 {won_left:,}원",
    "[{card}] 즉시결제 {paid:,}원이 처리되었습니다",
    "[{card}] 선결제 {paid:,}원 완료 {minute}",
    "보험료 {paid:,}원이 {day} 출금됩니다. ",
    "[{card}] 보이스피싱 주의! {paid:,}원 이체 전 확인하세요",
    "[{shop}] 견적 금액 {paid:,}원 카드결제 가능합니다",
    "{shop} 카드결제 링크 {paid:,}원 https://pay.example/1",
    "[{shop}] 결제 대기: {paid:,}원 ({minute}까지)",
    "[{shop}] 미결제 주문 {paid:,}원이 있어요",
    "[{shop}] 보증금 {paid:,}원 가결제 예정",
    "[{card}] 승인번호 안내 {digits}12 {paid:,}원",
    "[{card}] {shop} 이용 후기 남기고 {paid:,}원 받으세요",
    "{card} 결제 혜택 {paid:,}원을 받았어요! ",
    "{card} {shop} {paid:,}원 결제 시 5% 할인 {day}까지",
    "[{card}] 무이자 할부 이벤트 {shop} 5만원 이상 결제 시",
    "[Apple] {shop} 구독 {paid:,}원 갱신 예정 {day}",
    "Google Play: {shop} 정기 결제가 {day}에 갱신됩니다 ({paid:,}원/월)",
    "[쿠팡] 와우 월회비 {paid:,}원 {day} 결제 예정",
    "[배달의민족] 주문이 취소되었습니다. {paid:,}원 환불 예정",
    "[카카오T] 예상 요금 {paid:,}원 호출 완료",
    "[카카오T] 자동결제 실패 {paid:,}원 미결제 요금을 결제해 주세요",
    "[티머니] 잔액이 {paid:,}원 남았습니다",
    "코레일 승차권 예약 완료 {paid:,}원 {minute}까지 결제하세요",
    "[{shop}] {paid:,}원 현금영수증이 발급되었습니다 {minute}",
    "[국세청] 현금영수증 {shop} {paid:,}원 {minute} 승인번호 123456789",
    "[{card}] 카드론 상환 {paid:,}원 {day} 예정",
    "[건강보험] 보험료 {paid:,}원 카드 자동납부 예정일 {day}",
    "{card} 승인내역 {paid:,}원 매입 완료 안내 {day}",
    "[{card}] 전표매입 안내 {shop} {paid:,}원",
    "[{card}] 포인트로 {paid:,}원 결제 가능",
    "[{card}] {shop} 결제금액 {paid:,}원 할부 변경 완료 3개월",
    "[{card}] 결제금액 {paid:,}원 나눠 내기 신청",
    "{card}({digits}) 교통카드 등록 완료 {paid:,}원",
    "삼성페이 {card}({digits}) 등록 완료",
    "해외원화결제 차단 서비스 신청 {card} {paid:,}원",
    "[{card}] 가족카드 이용한도 {paid:,}원 설정 승인",
    "[{card}] 연말정산 소득공제 이용금액 {paid:,}원",
    "[{card}] 작년 11월 총 {paid:,}원 이용",
)
# fmt: on
# What is printed before and behind a message.
AROUND = (
    ("", ""),
    ("[Web발신]\n", ""),
    ("{card}({digits}) ", ""),
    ("", " {minute}"),
    ("[{card}] 홍*동님({digits}) ", " {minute}"),
    ("{card} 알림\n", "\n{minute}\n{shop}"),
)
# Texts of each message and surrounding, and the share of all that may be booked: those
# of strangers abroad with a card and a time around them look like purchases.
TEXTS = 4
MAX_BOOKED_SHARE = 0.01


def surrounded(template: str) -> Iterator[tuple[str, bool]]:
    """Yield texts of a template with all that may be around, and if nothing is."""
    for text, parts in list(variants(template))[:TEXTS]:
        for before, behind in AROUND:
            full = before.format_map(parts) + text + behind.format_map(parts)
            yield full, full == text


@pytest.mark.parametrize("template", REFUSED)
def test_message_that_tells_no_purchase_is_not_booked(template: str) -> None:
    for text, is_plain in surrounded(template):
        if is_plain:
            assert not parse(text, RECEIVED_AT).recognized, text


def test_what_is_around_a_message_makes_no_purchase_of_it() -> None:
    texts = [text for template in REFUSED for text, _ in surrounded(template)]
    booked = [text for text in texts if parse(text, RECEIVED_AT).recognized]

    assert len(booked) <= MAX_BOOKED_SHARE * len(texts), booked[:5]
