"""The better one of two names of a merchant."""

import pytest

from card_alerts import (
    choose_better_name,
    is_beginning_of,
    is_cut_name,
    is_gateway_name,
)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "이니시스",
            "KG이니시스",
            "(주)케이지이니시스",
            "NICE",
            "NICE페이",
            "NHN KCP",
            "KICC",
        ),
        *(
            "토스페이먼츠",
            "통신판매",
            "통신판매_NIC",
            "네이버파이낸셜(주)",
            "카카오페이",
        ),
    ],
)
def test_gateway_is_known(name: str) -> None:
    assert is_gateway_name(name)


@pytest.mark.parametrize(
    "name",
    ["이니시스-바람책방", "나이스마트", "네이버페이_솔뫼", "바람책방", "", "(주)"],
)
def test_shop_is_no_gateway(name: str) -> None:
    assert not is_gateway_name(name)


@pytest.mark.parametrize("name", ["바람책방(", "바람책방(강", "바람책방…", "바람.."])
def test_cut_name_is_recognized(name: str) -> None:
    assert is_cut_name(name)
    assert not is_cut_name("바람책방(강남)")


@pytest.mark.parametrize(
    ("one", "other", "better"),
    [
        ("이니시스", "바람책방", "바람책방"),
        ("바람책방", "이니시스", "바람책방"),
        ("바람책", "(주)바람책방", "(주)바람책방"),
        ("바람책방 강남", "바람책방(", "바람책방 강남"),
        ("바람책방", "솔뫼", "바람책방"),
        (None, "솔뫼", "솔뫼"),
        ("솔뫼", None, "솔뫼"),
        (None, None, None),
    ],
)
def test_shop_before_gateway_and_whole_before_cut(
    one: str | None, other: str | None, better: str | None
) -> None:
    assert choose_better_name(one, other) == better


def test_beginning_ignores_spaces_and_legal_forms() -> None:
    assert is_beginning_of("바람 책", "(주)바람책방")
    assert not is_beginning_of("바람책방", "바람책방")
    assert not is_beginning_of("", "바람책방")
