"""Null in optional fields of bodies: left out on creation, cleared in changes (1.3)."""

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework import serializers

from core.api.fields import (
    IsoDateField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    UniqueListField,
)
from core.api.serializers import Serializer


class PartSerializer(Serializer):
    note = StrictCharField(required=False, allow_blank=True)


class BodySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = StrictCharField()
    memo = StrictCharField(required=False, allow_blank=True)
    tags = UniqueListField(child=StrictCharField(), required=False)
    is_shown = StrictBooleanField(required=False)
    is_active = StrictBooleanField(required=False, default=True)
    fee = StrictIntegerField(required=False, default=3)
    day = IsoDateField(required=False, allow_null=True)
    code = StrictCharField(required=False)
    parts = PartSerializer(many=True, required=False)


NULLS = {
    **dict.fromkeys(("id", "memo", "tags", "isShown", "isActive", "fee", "day")),
    "parts": None,
    "name": "a",
}
DEFAULTS = {"is_active": True, "fee": 3}
CLEARED = {"memo": "", "tags": [], "is_shown": False, "parts": []}


def validate(method: str, body: Any, *, is_partial: bool = False) -> Any:
    context = {"request": SimpleNamespace(method=method)}
    serializer = BodySerializer(data=body, partial=is_partial, context=context)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


@pytest.mark.parametrize(
    ("method", "is_partial", "values"),
    [
        ("POST", False, DEFAULTS),
        ("PUT", False, DEFAULTS | CLEARED),
        ("PATCH", True, DEFAULTS | CLEARED),
        # A confirmation corrects an entry.
        ("POST", True, DEFAULTS | CLEARED),
    ],
)
def test_null_is_left_out_or_cleared(
    method: str, is_partial: bool, values: dict[str, Any]
) -> None:
    found = validate(method, NULLS, is_partial=is_partial)
    assert found == {"name": "a", "day": None, **values}


@pytest.mark.parametrize(
    ("method", "refused"),
    [("POST", {"name"}), ("PUT", {"name", "code"}), ("PATCH", {"name", "code"})],
)
def test_null_of_what_cannot_be_cleared_is_refused(
    method: str, refused: set[str]
) -> None:
    with pytest.raises(serializers.ValidationError) as caught:
        validate(method, {"name": None, "code": None}, is_partial=method == "PATCH")
    detail: Any = caught.value.detail
    codes = {name: [error.code for error in errors] for name, errors in detail.items()}
    assert codes == {name: ["null"] for name in refused}


@pytest.mark.parametrize(("method", "part"), [("POST", {}), ("PUT", {"note": ""})])
def test_items_of_lists_follow_the_same_rule(method: str, part: dict[str, str]) -> None:
    found = validate(method, {"name": "a", "parts": [{"note": None}, {"note": "b"}]})
    assert found["parts"] == [part, {"note": "b"}]
