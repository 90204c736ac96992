"""Wire shapes: camelCase names, and JSON types that are what they are."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers

from core.api.fields import (
    MAX_AMOUNT,
    AmountField,
    ExactDecimalField,
    PositiveDecimalField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictListField,
)
from core.api.renderers import dump_json, format_decimal
from core.api.serializers import Serializer, to_camel_case


class InnerBody(Serializer):
    unit_price = StrictIntegerField()


class OuterBody(Serializer):
    wallet_id = StrictIntegerField()
    line_items = InnerBody(many=True, required=False)
    full_name = serializers.SerializerMethodField()

    def get_full_name(self, instance: Any) -> str:
        return "name"


def check(field: serializers.Field[Any, Any, Any, Any], value: Any) -> Any:
    return field.run_validation(value)


def is_refused(field: serializers.Field[Any, Any, Any, Any], value: Any) -> bool:
    try:
        check(field, value)
    except serializers.ValidationError:
        return True
    return False


# --- Names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "camel"),
    [
        ("id", "id"),
        ("wallet_id", "walletId"),
        ("plan_expires_at", "planExpiresAt"),
        ("line_2", "line2"),
    ],
)
def test_names_are_camel_case(name: str, camel: str) -> None:
    assert to_camel_case(name) == camel


def test_fields_come_in_and_go_out_in_camel_case() -> None:
    body = OuterBody(data={"walletId": 5, "lineItems": [{"unitPrice": 3}]})
    assert body.is_valid(), body.errors
    assert body.validated_data["wallet_id"] == 5
    assert body.validated_data["line_items"][0]["unit_price"] == 3
    assert OuterBody({"wallet_id": 5, "line_items": [{"unit_price": 3}]}).data == {
        "walletId": 5,
        "lineItems": [{"unitPrice": 3}],
        "fullName": "name",
    }


def test_snake_case_is_an_unknown_field() -> None:
    body = OuterBody(data={"wallet_id": 5})
    assert not body.is_valid()
    assert set(body.errors) == {"walletId"}


def test_unknown_fields_are_ignored() -> None:
    body = OuterBody(data={"walletId": 5, "whatever": {"a": [1]}, "fullName": "x"})
    assert body.is_valid()
    assert set(body.validated_data) == {"wallet_id"}


# --- Types ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", ["텍스트", "a\tb\nc", "👩‍🚀", "\u202eabc", "\ufffd\U0001fffe"]
)
def test_text_is_any_script_with_tabs_and_newlines(value: str) -> None:
    assert check(StrictCharField(), value) == value


@pytest.mark.parametrize(
    "value",
    [
        "a\x00b",
        "a\x07b",
        "a\x1bb",
        "a\x7fb",
        "a\x85b",
        "a\ud800b",
        "a\ufffeb",
        "a\uffffb",
        5,
        True,
        1.5,
        None,
        [],
        {},
    ],
)
def test_other_text_is_refused(value: Any) -> None:
    assert is_refused(StrictCharField(allow_null=False), value)


@pytest.mark.parametrize("value", [0, -5, 10**12, Decimal("5.0")])
def test_whole_number_is_taken(value: Any) -> None:
    assert check(StrictIntegerField(), value) == value


@pytest.mark.parametrize(
    "value",
    [
        "5",
        "",
        True,
        False,
        None,
        Decimal("5.5"),
        Decimal("1e400"),
        [5],
        {},
        Decimal("NaN"),
    ],
)
def test_other_whole_number_is_refused(value: Any) -> None:
    assert is_refused(StrictIntegerField(), value)


@pytest.mark.parametrize("value", [1, MAX_AMOUNT])
def test_amount_is_from_one_to_just_under_a_trillion(value: int) -> None:
    assert check(AmountField(), value) == value


@pytest.mark.parametrize("value", [0, -1, MAX_AMOUNT + 1, 2**63, Decimal("0.5")])
def test_other_amount_is_refused(value: Any) -> None:
    assert is_refused(AmountField(), value)


@pytest.mark.parametrize("value", [True, False])
def test_flag_is_true_or_false(value: bool) -> None:
    assert check(StrictBooleanField(), value) is value


@pytest.mark.parametrize("value", ["true", "false", 0, 1, "", "on", None, [], {}])
def test_what_looks_like_a_flag_is_refused(value: Any) -> None:
    assert is_refused(StrictBooleanField(), value)


def test_flag_may_be_null_where_that_is_said() -> None:
    assert check(StrictBooleanField(allow_null=True), None) is None


@pytest.mark.parametrize("value", ["1.50", Decimal("1.50"), 3, "0.1", "-2.25"])
def test_exact_decimal_is_a_number_or_a_string(value: Any) -> None:
    assert check(ExactDecimalField(max_digits=10, decimal_places=4), value) == Decimal(
        value
    )


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "Infinity",
        "-inf",
        "1e400",
        "x",
        "",
        True,
        None,
        [1],
        "1.23456",
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("1e400"),
        10**12,
        "sNaN",
    ],
)
def test_other_decimal_is_refused(value: Any) -> None:
    assert is_refused(ExactDecimalField(max_digits=10, decimal_places=4), value)


@pytest.mark.parametrize("value", [0, "0.000", "-1", Decimal("-0.5")])
def test_positive_decimal_is_above_zero(value: Any) -> None:
    assert is_refused(PositiveDecimalField(max_digits=10, decimal_places=4), value)


@pytest.mark.parametrize("value", ["abc", {"a": 1}, 5, None, True])
def test_list_is_a_json_array(value: Any) -> None:
    assert is_refused(StrictListField(child=StrictIntegerField()), value)


def test_error_in_a_list_names_its_place() -> None:
    with pytest.raises(serializers.ValidationError) as refusal:
        check(StrictListField(child=StrictIntegerField()), [1, "2", 3])
    detail: Any = refusal.value.detail
    assert set(detail) == {1}


# --- Answers --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("1300.50", "1300.5"),
        ("1300", "1300"),
        ("100", "100"),
        ("0.00000001", "0.00000001"),
        ("1E+3", "1000"),
        ("0.10", "0.1"),
        ("0.00", "0"),
        ("123456789012.123456", "123456789012.123456"),
    ],
)
def test_decimal_is_an_exact_number_literal(value: str, literal: str) -> None:
    assert format_decimal(Decimal(value)) == literal
    assert dump_json({"rate": Decimal(value)}) == b'{"rate":' + literal.encode() + b"}"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=8))
def test_no_decimal_passes_through_a_float(value: Decimal) -> None:
    assert Decimal(dump_json(value).decode()) == value
