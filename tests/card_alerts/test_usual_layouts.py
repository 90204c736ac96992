"""Layouts that any issuer might use, of generated names, amounts and dates."""

from typing import Any

import pytest

from card_alerts import Kind, parse
from tests.support.alert_samples import RECEIVED_AT, squeeze
from tests.support.alert_variants import variants

# fmt: off
LAYOUTS = (
    "[{card}] {shop} {paid:,}원 결제 ({minute})",
    "[{card}({digits})] {paid:,}원 승인 | {shop} | {minute}",
    "{card} 승인알림\n카드번호: {digits}\n승인금액: {paid:,}원\n가맹점: {shop}\n승인일시: {minute}",
    "{card} 결제알림\n{shop}\n{paid:,}원 (일시불)\n{minute}",
    "{card} 결제\n{paid:,}원\n{shop}",
    "{paid:,}원 결제 · {shop}\n{card}({digits}) {minute}",
    "{shop}에서 {paid:,}원을 결제했어요.\n{card}({digits})",
    "{shop} {paid:,}원 결제 완료!\n{card}로 결제했어요",
    "{card}({digits})로 {shop}에서 {paid:,}원 결제되었습니다. {minute}",
    "{card} {digits} {minute} {paid:,}원 {shop} 승인",
    "{card} {digits} 승인 {minute} {shop} {paid:,}원 일시불 누적 {won_left:,}원",
    "[{card}] 홍*동님 {minute} {shop} {paid:,}원 승인(일시불) 잔여한도 {won_left:,}원",
    "[{card}] 홍길동 고객님, {minute} {shop}에서 {paid:,}원이 승인되었습니다.",
    "홍*동님, {shop}에서 {paid:,}원 사용하셨습니다. [{card} {digits}] {minute}",
    "승인 {paid:,}원 {card}({digits}) {minute} {shop}",
    "[승인] {card}({digits}) {paid:,}원 {shop} {minute}",
    "[카드승인] {card} {digits}\n{paid:,}원\n{shop}\n{minute}\n일시불",
    "[결제완료]\n가맹점명 {shop}\n결제금액 {paid:,}원\n카드 {card}({digits})\n일시 {minute}",
    "[결제 완료] {shop} / {paid:,}원 / {card} / {minute}",
    "결제가 완료됐어요\n{shop}\n{paid:,}원\n{card}({digits})",
    "결제 완료\n{shop} {paid:,}원\n{card} 일시불",
    "{card} 체크카드 {paid:,}원 결제 {shop} 잔액 {won_left:,}원",
    "체크카드 결제\n{shop}\n{paid:,}원\n{card}\n잔액 {won_left:,}원",
    "[{card}] 체크카드 사용 {paid:,}원 {shop} {minute} 잔액 {won_left:,}원",
    "(체크) {card}({digits}) {paid:,}원 승인 {minute} {shop}",
    "{card} 자동결제 승인\n{shop} {paid:,}원\n{minute}",
    "{card} 정기결제 {paid:,}원 승인 {shop} {minute}",
    "[{card}] 해외승인 {currency} {price:,} {store} {minute}",
    "[{card}({digits})] 해외결제 승인 {store} {currency} {price} {minute}",
    "{card} 해외사용 {price} {currency} {minute} {store}",
    "[{card}] 승인취소 {shop} {paid:,}원 {minute}",
    "{card}({digits}) 취소 {paid:,}원 {minute} {shop}",
    "{shop} {paid:,}원 결제가 취소되었습니다. {card}({digits}) {minute}",
    "[{card}] 결제취소\n{shop}\n{paid:,}원\n{minute}",
    "[카카오페이] {shop} {paid:,}원 결제 완료",
    "[카카오페이] 결제완료\n결제처: {shop}\n금액: {paid:,}원\n수단: {card}",
    "카카오페이 | {paid:,}원 결제 | {shop}",
    "[네이버페이] {shop} {paid:,}원 결제 완료 (카드)",
    "네이버페이 결제완료\n{shop}\n{paid:,}원\n{minute}",
    "[토스페이] {shop}에서 {paid:,}원 결제",
    "토스뱅크 체크카드\n{shop}\n{paid:,}원 결제\n잔액 {won_left:,}원",
    "[페이코] {paid:,}원 결제 완료 {shop}",
    "PAYCO 결제완료 {shop} {paid:,}원 {minute}",
    "삼성페이 {card} {paid:,}원 결제 {shop}",
    "[삼성월렛] {card}({digits}) ₩{paid:,} {shop}",
    "[{shop}] {paid:,}원 카드결제 승인 완료 {card} {digits} {minute}",
    "{minute} {card}({digits}) 승인 {shop} {paid:,}원",
    "{minute}\n{card} {digits}\n{shop}\n{paid:,}원 승인",
    "{shop} {minute} {paid:,}원 승인 {card}",
    "▶ 카드사: {card}\n▶ 금액: {paid:,}원\n▶ 사용처: {shop}\n▶ 일시: {minute}\n▶ 구분: 승인",
    "■ {card} 승인\n■ {paid:,}원\n■ {shop}\n■ {minute}",
    "카드사 : {card}\n카드번호 : ****-****-****-{digits}\n거래금액 : {paid:,}원\n거래처 : {shop}\n거래일시 : 2026-{day} 12:33:10\n거래결과 : 정상승인",
    "{card} 이용내역\n- 이용금액 {paid:,}원\n- 이용처 {shop}\n- 이용일시 {minute}\n- 할부 일시불",
    "[{card}] 이용안내 홍*동님 {paid:,}원 {shop} {minute} 이용",
    "{card} [승인] {paid:,}원 / 일시불 / {shop} / {minute} / 누적 {won_left:,}원",
    "<{card}> {paid:,}원 승인\n{shop}\n{minute}",
    "{card}승인 {paid:,}원 {shop}",
    "{card} {paid:,}원 승인 {shop} {minute} 누적금액 {won_left:,}원",
    "[법인]{card}({digits}) {paid:,}원 승인 {shop} {minute}",
    "{card} 법인 {digits} 승인 {minute} {shop} {paid:,}원",
    "[가족카드] {card}({digits}) 승인 홍*동 {paid:,}원 {minute} {shop}",
    "[{card}] {paid:,}원 사용 승인 - {shop} ({minute})",
    "홍*동님 {card} 승인 {paid:,}원 {minute} {shop} 총누적 {won_left:,}원",
    "{card}결제 {paid:,}원({shop}) {minute}",
    "{card} 카드결제 {minute} {paid:,}원 ({shop})",
    "{shop}({paid:,}원) {card}({digits}) 승인 {minute}",
    "[{card}] 승인금액 {paid:,}원, 가맹점 {shop}, 일시 {minute}",
    "[{card}] 금액 {paid:,}원 가맹점 {shop} 일시 {minute} 승인",
    "{card}({digits}) 3개월 {paid:,}원 승인 {minute} {shop}",
    "{card} 무이자할부 3개월 {paid:,}원 {shop} {minute} 승인",
    "[{card}] 간편결제 {paid:,}원 승인 {shop} {minute}",
    "[{card}] 온라인결제 {paid:,}원 {shop} {minute} 승인완료",
    "{card} QR결제 {paid:,}원 완료 {shop} {minute}",
    "{card} 교통카드 {paid:,}원 사용 {minute}",
    "[지역화폐] {shop}에서 {paid:,}원 결제되었습니다. 잔액 {won_left:,}원",
    "경기지역화폐 결제 {paid:,}원 {shop} {minute}",
    "제로페이 {paid:,}원 결제완료 {shop}",
    "[{card}] 홍*동님 {shop} {paid:,}원 승인 {minute} 포인트 120P 적립예정",
    "[{card}] 오늘 {shop}에서 {paid:,}원 결제하셨어요",
    "{card} 홍*동님\n{shop}\n{paid:,}원 승인\n{minute}\n이번 달 누적 {won_left:,}원",
    "{card} 앱카드 승인 {paid:,}원 {shop} {minute}",
    "{card}\n✅ 승인 {paid:,}원\n🏪 {shop}\n🕐 {minute}",
    "💳 {card} {paid:,}원 결제 @ {shop}",
    "{paid:,}원 | {shop} | {card} | {minute} | 승인",
    "[{card}]{minute} {shop} {paid:,}원 승인되었습니다.",
    "{card} 홍*동({digits}) {paid:,}원 {minute} {shop} 승인",
    "{card}({digits}) {shop} {paid:,}원 승인 {minute}",
    "{card}({digits}) {minute} {shop} {paid:,}원",
    "{card} 카드이용 {paid:,}원 {shop} {minute}",
    "{card} 승인 {paid:,}원 {minute}\n{shop}\n\n※ 본 메시지는 발신전용입니다.",
    "{card} 승인 {paid:,}원 {minute} {shop}\n연체 시 연체이자가 발생할 수 있습니다.",
    "{card}승인({digits})\n{shop}\n{paid:,}원\n{minute}\n[{card} 앱에서 혜택 받기]",
)
# fmt: on
# Texts of each layout.
TEXTS = 20


def expected_fields(template: str, parts: dict[str, Any]) -> dict[str, Any]:
    """Return what a text of a template says, by its placeholders."""
    is_abroad = "{price" in template
    fields: dict[str, Any] = {
        "kind": Kind.CANCELLATION if "취소" in template else Kind.APPROVAL,
        "amount": parts["price"] if is_abroad else parts["paid"],
        "currency": parts["currency"] if is_abroad else None,
    }
    if "{card}" in template:
        fields["company"] = parts["card"].removesuffix("카드")
    if "{digits}" in template:
        fields["digits"] = parts["digits"]
    if "{shop}" in template or "{store}" in template:
        name = parts["store" if "{store}" in template else "shop"]
        fields["merchant"] = squeeze(name)
    if "{minute}" in template:
        fields["minute"] = parts["minute"]
    return fields


@pytest.mark.parametrize("template", LAYOUTS)
def test_text_of_a_usual_layout_is_read_in_every_field(template: str) -> None:
    for text, parts in list(variants(template))[:TEXTS]:
        parsed = parse(text, RECEIVED_AT)
        occurred = parsed.occurred_at
        found = {
            "kind": parsed.kind,
            "amount": parsed.original_amount if parsed.currency else parsed.amount,
            "currency": parsed.currency,
            "company": parsed.card_company,
            "digits": (parsed.card_hint or "").strip("*-"),
            "merchant": squeeze(parsed.merchant),
            "minute": f"{occurred:%m/%d %H:%M}" if occurred else None,
        }
        expected = expected_fields(template, parts)

        assert parsed.recognized, text
        assert {name: found[name] for name in expected} == expected, text
