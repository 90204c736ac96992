"""Amounts, months, currencies, tags and texts of files."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.errors import UnreadableValueError
from ledger.imports.values import (
    clean_text,
    guess_decimal_mark,
    join_memo,
    normalize_text,
    parse_amount,
    parse_currency,
    parse_months,
    parse_rate,
    parse_tags,
    to_home_units,
    to_positive_units,
)

AMOUNTS: list[tuple[Any, str | None]] = [
    ("5000", "5000"), ("5,000", "5000"), ("₩1,234", "1234"), ("￦1,234", "1234"),
    ("\\1,234", "1234"), ("1,234원", "1234"), ("KRW 1,234", "1234"), ("-5,000", "-5000"),
    ("(5,000)", "-5000"), ("(₩5,000)", "-5000"), ("5,000-", "-5000"), ("−5,000", "-5000"),
    ("- 5,000원", "-5000"), ("▲5,000", "-5000"), ("+5,000", "5000"), ("$-5.00", "-5"),
    ("-$5.00", "-5"), ("5,000 CR", "5000"), ("5,000DR", "-5000"), ("DR 5", "-5"),
    ("-1 234,50", "-1234.5"), ("1\u00a0234,50", "1234.5"), ("1.234,50", "1234.5"),
    ("1,234.50", "1234.5"), ("1'234.50", "1234.5"), ("1.234.567", "1234567"),
    ("1,23,456.7", "123456.7"), ("12,5", "12.5"), ("1.234", "1.234"), ("５０００", "5000"),
    ('="5000"', "5000"), ("'-5000", "-5000"), (".5", "0.5"), ("5.", "5"), ("0", "0"),
    (5, "5"), (5.0, "5"), (-1234.5, "-1234.5"), (0.1, "0.1"),
    (None, None), ("", None), ("  ", None), ("-", None), ("–", None), ("원", None),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "expected"), AMOUNTS)
def test_amount_is_read(cell: Any, expected: str | None) -> None:
    assert parse_amount(cell) == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize(
    "cell",
    ["abc", "1e5", "1,2,3", "12,34,5", "--5", "(5)-", "1 2 3", "5 5", "1.2.3", "0x10", True,
     float("nan"), float("inf"), 1e300, "9" * 30, "5\0", "5%", "-", "2026-09-05", "5" + " " * 100 + "5", "USD" * 300],
)  # fmt: skip
def test_nonsense_is_no_amount(cell: Any) -> None:
    if cell == "-":
        assert parse_amount(cell) is None
        return
    with pytest.raises(UnreadableValueError):
        parse_amount(cell)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("1.234", "1234"), ("1,234", "1.234"), ("1,50", "1.5"), ("1.50", "1.5")],
)
def test_decimal_mark_of_a_column_decides(cell: str, expected: str) -> None:
    assert parse_amount(cell, ",") == Decimal(expected)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,234", "5,000"], "."), (["1.234,50", "5,00"], ","), (["1,234.50"], "."),
        (["1.234.567"], ","), ([], "."), ([5.0, None, "x"], "."), (["1.234"], "."),
    ],
)  # fmt: skip
def test_decimal_mark_is_guessed(cells: list[Any], mark: str) -> None:
    assert guess_decimal_mark(cells) == mark


SIGNED = st.decimals(-(10**11), 10**11, places=2, allow_nan=False)


@given(SIGNED, st.sampled_from(["{}", "₩{}", "{}원", "USD {}", " {} "]))
def test_amount_with_thousands_is_read_again(amount: Decimal, form: str) -> None:
    assert parse_amount(form.format(f"{amount:,}")) == amount


@given(SIGNED)
def test_european_amount_is_read_again(amount: Decimal) -> None:
    written = f"{amount:,}".translate(str.maketrans(",.", ".,"))
    assert parse_amount(written) == amount
    assert parse_amount(written, ",") == amount


@given(SIGNED)
def test_every_negative_form_is_negative(amount: Decimal) -> None:
    size = f"{abs(amount):,}"
    forms = (f"({size})", f"{size}-", f"-{size}", f"−{size}", f"▲{size}", f"{size} DR")
    assert {parse_amount(form) for form in forms} == {-abs(amount)}


@given(st.text(max_size=30), st.sampled_from([".", ","]))
def test_any_text_is_a_finite_amount_none_or_an_error(text: str, mark: str) -> None:
    try:
        amount = parse_amount(text, mark)
    except UnreadableValueError:
        return
    assert amount is None or amount.is_finite()


@pytest.mark.parametrize(
    ("amount", "units"),
    [("0.49", 0), ("0.5", 1), ("-0.5", -1), ("1.5", 2), ("2.5", 3), ("999999999999", 999_999_999_999)],
)  # fmt: skip
def test_home_units_are_rounded_half_up(amount: str, units: int) -> None:
    assert to_home_units(Decimal(amount)) == units


@pytest.mark.parametrize(
    "amount", ["1000000000000", "-1000000000000", "999999999999.5"]
)
def test_amount_beyond_the_range_is_an_error(amount: str) -> None:
    with pytest.raises(UnreadableValueError):
        to_home_units(Decimal(amount))


@pytest.mark.parametrize("amount", ["0", "0.4", "-1"])
def test_positive_units_are_at_least_one(amount: str) -> None:
    with pytest.raises(UnreadableValueError):
        to_positive_units(Decimal(amount))


@pytest.mark.parametrize(
    ("cell", "months"),
    [
        ("일시불", None), ("일시불(체크)", None), ("", None), (None, None), ("-", None), ("0", None),
        ("1", None), ("03개월", 3), ("3", 3), (3.0, 3), ("할부 12개월", 12), ("12회", 12), ("24", 24),
    ],
)  # fmt: skip
def test_months_are_read(cell: Any, months: int | None) -> None:
    assert parse_months(cell) == months


@pytest.mark.parametrize("cell", ["25", "x", "-3", "3/12", "2.5"])
def test_nonsense_is_no_number_of_months(cell: str) -> None:
    with pytest.raises(UnreadableValueError):
        parse_months(cell)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("KRW", "KRW"),
        ("usd", "USD"),
        ("원", "KRW"),
        ("$", "USD"),
        ("", None),
        (None, None),
    ],
)
def test_currency_is_read(cell: Any, code: str | None) -> None:
    assert parse_currency(cell) == code


@pytest.mark.parametrize("cell", ["XXQ", "dollars", "12"])
def test_nonsense_is_no_currency(cell: str) -> None:
    with pytest.raises(UnreadableValueError):
        parse_currency(cell)


def test_rate_is_positive_with_eight_decimals() -> None:
    assert parse_rate("1,300.123456789") == Decimal("1300.12345679")
    assert parse_rate("") is None
    for cell in ("-1", "9" * 13):
        with pytest.raises(UnreadableValueError):
            parse_rate(cell)


def test_tags_are_divided_and_once_each() -> None:
    assert parse_tags("#여행 #가족, 여행; x") == ("여행", "가족", "x")
    assert parse_tags(None) == ()
    assert parse_tags(5.0) == ("5",)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (" a \r\n b\t c ", "a b c"), (None, ""), (5.0, "5"), (5.5, "5.5"), (True, "true"),
        ('="0123"', "0123"), ("'=A1", "=A1"), ("'90년대", "'90년대"), ("\ufeff가", "가"),
    ],
)  # fmt: skip
def test_text_is_one_line(cell: Any, text: str) -> None:
    assert clean_text(cell) == text


@pytest.mark.parametrize("cell", ["a\0b", "a\x01", "\uffff", "\ud800", "a\x7f"])
def test_control_characters_are_refused(cell: str) -> None:
    with pytest.raises(UnreadableValueError):
        clean_text(cell)


def test_key_of_a_text_has_no_case_and_no_spaces() -> None:
    assert normalize_text("Ｓｔａｒ Bucks\n강남") == normalize_text("STARBUCKS강남")


@given(st.text(max_size=20))
def test_key_of_a_text_stays_the_same(text: str) -> None:
    assert normalize_text(normalize_text(text)) == normalize_text(text)


def test_memo_repeats_nothing() -> None:
    assert join_memo("커피", "", "커피 가게", "강남") == "커피 가게 · 강남"
