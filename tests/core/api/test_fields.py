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
    assert {name: error[0].code for name, error in body.errors.items()} == {
        "walletId": "required",
        "wallet_id": "unknown",
    }


def test_fields_of_the_answer_are_ignored() -> None:
    body = OuterBody(data={"walletId": 5, "fullName": "x"})
    assert body.is_valid()
    assert set(body.validated_data) == {"wallet_id"}


TEXT, INTEGER, AMOUNT = StrictCharField(), StrictIntegerField(), AmountField()
BOOLEAN, LIST = StrictBooleanField(), StrictListField(child=INTEGER)
DECIMAL = ExactDecimalField(max_digits=10, decimal_places=4)
POSITIVE = PositiveDecimalField(max_digits=10, decimal_places=4)
TAKEN: list[tuple[Any, list[Any]]] = [
    (TEXT, ["텍스트", "a\tb\nc", "👩‍🚀", "\u202eabc", "\ufffd\U0001fffe"]),
    (INTEGER, [0, -5, 10**12, Decimal("5.0")]),
    (AMOUNT, [1, MAX_AMOUNT]),
    (BOOLEAN, [True, False]),
    (StrictBooleanField(allow_null=True), [None]),
]
REFUSED: list[tuple[Any, list[Any]]] = [
    (TEXT, ["a\x00b", "a\x07b", "a\x1bb", "a\x7fb", "a\x85b", "a\ud800b"]),
    (TEXT, ["a\ufffeb", "a\uffffb", 5, True, 1.5, None, [], {}]),
    (INTEGER, ["5", "", True, False, None, Decimal("5.5"), Decimal("1e400"), [5], {}]),
    (INTEGER, [Decimal("NaN")]),
    (AMOUNT, [0, -1, MAX_AMOUNT + 1, 2**63, Decimal("0.5")]),
    (BOOLEAN, ["true", "false", 0, 1, "", "on", None, [], {}]),
    (DECIMAL, ["NaN", "Infinity", "-inf", "sNaN", "1e400", "x", "", True, None, [1]]),
    (DECIMAL, ["1.23456", *map(Decimal, ("NaN", "Infinity", "1e400")), 10**12]),
    (POSITIVE, [0, "0.000", "-1", Decimal("-0.5")]),
    (LIST, ["abc", {"a": 1}, 5, None, True]),
]


@pytest.mark.parametrize(
    ("field", "value"), [(field, each) for field, values in TAKEN for each in values]
)
def test_value_is_taken_as_it_is(field: Any, value: Any) -> None:
    assert check(field, value) == value


@pytest.mark.parametrize(
    ("field", "value"), [(field, each) for field, values in REFUSED for each in values]
)
def test_value_of_another_kind_is_refused(field: Any, value: Any) -> None:
    assert is_refused(field, value)


@pytest.mark.parametrize("value", ["1.50", Decimal("1.50"), 3, "0.1", "-2.25"])
def test_exact_decimal_is_a_number_or_a_string(value: Any) -> None:
    assert check(DECIMAL, value) == Decimal(value)


def test_error_in_a_list_names_its_place() -> None:
    with pytest.raises(serializers.ValidationError) as refusal:
        check(StrictListField(child=StrictIntegerField()), [1, "2", 3])
    detail: Any = refusal.value.detail
    assert set(detail) == {1}


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        *(("1300.50", "1300.5"), ("1300", "1300"), ("100", "100")),
        *(("0.00000001", "0.00000001"), ("1E+3", "1000"), ("0.10", "0.1")),
        *(("0.00", "0"), ("123456789012.123456", "123456789012.123456")),
    ],
)
def test_decimal_is_an_exact_number_literal(value: str, literal: str) -> None:
    assert format_decimal(Decimal(value)) == literal
    assert dump_json({"rate": Decimal(value)}) == b'{"rate":' + literal.encode() + b"}"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=8))
def test_no_decimal_passes_through_a_float(value: Decimal) -> None:
    assert Decimal(dump_json(value).decode()) == value
