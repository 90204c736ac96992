"""Layouts beside those of the fifth exam: other issuers, words and places."""

import pytest

from card_alerts import Kind, ParseResult, parse
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import variants


def read(text: str, title: str = "") -> ParseResult:
    return parse(text, RECEIVED_AT, title=title)


ENGLISH_NAMES = (
    *(("Shinhan Card", "신한"), ("KB Card", "KB국민"), ("Samsung Card", "삼성")),
    *(("Hyundai Card", "현대"), ("Lotte Card", "롯데"), ("Woori Card", "우리")),
    *(("Hana Card", "하나"), ("NH Card", "NH농협"), ("Toss Bank", "토스뱅크")),
)


@pytest.mark.parametrize(("name", "company"), ENGLISH_NAMES)
@pytest.mark.parametrize("mark", ["", "[Web발신]\n"])
def test_english_approval_is_read_in_any_order_of_its_parts(
    mark: str, name: str, company: str
) -> None:
    for text, parts in variants(
        f"{mark}[{name}] Approval KRW {{paid:,}} (Lump sum) {{minute}} {{store}} Card(0*4*)",
        f"{mark}[{name}] Approved KRW {{paid:,}} (3 months) {{minute}} {{store}} Card(0*4*) "
        "Accumulated KRW 98,402,110",
        f"{mark}[{name}] Approval\nCard(0*4*) KRW {{paid:,}} Lump-sum\n{{minute}}\n{{store}}"
        "\nAccumulated KRW 98,402,110",
        f"{mark}[{name}] Approved\nAccumulated KRW 98,402,110\nCard(0*4*) KRW {{paid:,}}\n"
        "{minute}\n{store}",
        f"{mark}[{name}] Approved {{paid:,}} KRW (Lump sum) {{store}} {{minute}} Card(0*4*)",
        f"{mark}{name} Approval: KRW {{paid:,}} / {{minute}} / {{store}} / Card(0*4*) / "
        "Accumulated 98,402,110 KRW",
    ):
        parsed = read(text)
        found = (parsed.kind, parsed.card_company, parsed.amount, parsed.merchant)
        expected = (Kind.APPROVAL, company, parts["paid"], parts["store"])
        assert found == expected, text
        assert parsed.card_hint == "0*4*", text
        assert parsed.occurred_at, text
        assert f"{parsed.occurred_at:%m/%d %H:%M}" == parts["minute"], text
        total = 98_402_110 if "Accumulated" in text else None
        assert parsed.running_total == total, text
        assert parsed.installment_months == (3 if "3 months" in text else None), text


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Approval cancelled", Kind.CANCELLATION),
        ("Canceled", Kind.CANCELLATION),
        ("Cancellation", Kind.CANCELLATION),
        ("Declined", Kind.DECLINED),
    ],
)
def test_english_event_of_a_korean_issuer(word: str, kind: Kind) -> None:
    for text, _ in variants(
        f"[Web발신]\n[Hana Card] {word} KRW {{paid:,}} {{minute}} {{store}} Card(0*4*)",
        f"[Web발신]\nSamsung Card {word} KRW {{paid:,}} Lump sum\n{{minute}}\n{{store}}",
    ):
        assert read(text).kind is kind, text


def test_korean_title_above_an_english_text_names_the_issuer() -> None:
    for text, parts in variants(
        "[Web발신]\nApproval\nCard(8820) KRW {paid:,} Lump-sum\n{minute}\n{store}",
        "[Shinhan Card] Approved\nCard(8820) KRW {paid:,} Lump-sum\n{minute}\n{store}\n"
        "Accumulated KRW 98,402,110",
    ):
        parsed = read(text, title="신한카드")
        found = (parsed.card_company, parsed.amount, parsed.merchant)
        assert found == ("신한", parts["paid"], parts["store"]), text


def test_free_cancellation_in_an_english_text_cancels_nothing() -> None:
    text = "You spent $120.00 at GRAND HOTEL with your card. Free cancellation until May 5."

    assert read(text).kind is Kind.APPROVAL
