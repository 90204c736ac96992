"""The names of cards in messages without digits."""

from datetime import datetime, timedelta, timezone

import pytest

from card_alerts import parse
from card_alerts.card_names import find_card_name, names_card
from card_alerts.tables import read_words

RECEIVED_AT = datetime(2026, 12, 1, 9, 0, tzinfo=timezone(timedelta(hours=9)))
TABLE = read_words("card_names.toml")
NAMES = [name for key in ("korean", "english", "japanese") for name in TABLE[key]]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "[신한카드]홍*동님 새봄문구에서 12,000원을 한아름 달빛카드로 결제했어요",
            "한아름 달빛카드",
        ),
        (
            (
                "새봄은행 체크카드 이용\n카드 우리집 하루체크카드\n금액 3,800원\n사용처 새봄문구"
                "\n일시 2026/10/11 10:05"
            ),
            "우리집 하루체크카드",
        ),
        (
            "[KB국민카드] 승인\n새봄문구\n12,000원\n결제카드: 하루한잔\n11/09 10:46",
            "하루한잔",
        ),
        (
            "[KB국민카드] 승인\n새봄문구\n12,000원\n결제카드: KB국민 체크카드\n11/09 10:46",
            None,
        ),
        (
            "[신한카드(Deep Dream)]승인 홍*동 9,000원(일시불)11/12 12:27 새봄문구",
            "Deep Dream",
        ),
        (
            "우리(카드의정석 EVERY DISCOUNT)승인\n홍*동님\n9,000원 일시불\n11/12 12:27\n새봄문구",
            "카드의정석 EVERY DISCOUNT",
        ),
        (
            "Chase: Your Freedom Unlimited card was used for $12.10 at MAPLE BOOKS on Nov 3.",
            "Freedom Unlimited card",
        ),
        (
            "You made a purchase of $12.10 at MAPLE BOOKS with your Chase credit card.",
            None,
        ),
        (
            (
                "カード：三菱UFJカード VIASO\n加盟店：みどり書店\n金額：7,315円\n"
                "日時：2026年11月01日 06:00"
            ),
            "三菱UFJカード VIASO",
        ),
        (
            "楽天カードのご利用がありました。\n利用日 2026/10/07\n利用先 みどり書店\n利用金額 874円",
            None,
        ),
    ],
)
def test_name_of_a_card_is_its_hint(text: str, hint: str | None) -> None:
    parsed = parse(text, RECEIVED_AT, with_opinion=False)

    assert parsed.recognized
    assert parsed.card_hint == hint
    if hint:
        start, end = parsed.spans["cardHint"]
        assert text[start:end] == hint


@pytest.mark.parametrize("name", NAMES)
def test_each_name_of_the_table_is_found(name: str) -> None:
    text = f"12,000\n{name}\n"

    span = find_card_name(text, (), has_issuer=False)

    assert span is not None
    assert name in text[slice(*span)]


@pytest.mark.parametrize("name", TABLE["beside_issuer"])
def test_everyday_word_is_a_name_behind_an_issuer_alone(name: str) -> None:
    assert find_card_name(f"12,000\n{name}\n", (), has_issuer=True) is None
    assert find_card_name(f"12,000\n신한카드 {name}\n", (), has_issuer=True) == (
        7,
        13 + len(name) - 1,
    )


def test_name_in_the_merchant_is_no_card() -> None:
    text = "신한카드 승인 9,000원 노리2 문구"

    assert find_card_name(text, [(15, 21)], has_issuer=True) is None
    assert find_card_name(text, [(19, 21)], has_issuer=True) == (15, 18)


@pytest.mark.parametrize(
    "name",
    [
        "신한 체크카드",
        "KB국민카드",
        "개인 신용카드",
        "Chase Credit Card",
        "N26 card",
        "楽天カード",
        "카드",
        "",
    ],
)
def test_issuer_and_kind_are_no_product(name: str) -> None:
    assert not names_card(name)


@pytest.mark.parametrize(
    "name", ["노리2 체크카드", "현대카드 M", "7", "JCB GOLD", "Cobalt Card"]
)
def test_product_is_one(name: str) -> None:
    assert names_card(name)
