"""Fields that entries and templates share."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import MAX_AMOUNT, StrictIntegerField
from core.api.serializers import Serializer
from core.errors import NotFoundError
from ledger.base.fields import CategoryNameField, NameField, OptionalTextField
from ledger.base.ownership import MAX_ID, OwnedIdField, UncheckedPrimaryKeyField
from ledger.entries.sent_ids import SentCategory
from ledger.entry_shape import LineShape
from ledger.models import Entry, Wallet
from ledger.models.base import CategoryType, EntryType
from ledger.models.lines import MAX_LINES, MIN_LINES

TYPE_TEXT = (
    "Money received (`income`), spent (`expense`), or moved to another own wallet "
    "(`transfer`)."
)
CATEGORY_TYPE_TEXT = FieldText(
    "Type of the category, also of a missing one. `expense` on an income is a refund, "
    "which is taken from the expense.",
    left_out=(
        "Left out of a new entry: that of the entry, and `expense` for a transfer."
    ),
)
CATEGORY_TEXT = FieldText(
    "Name of the category; null without one.",
    requests="An unknown one is created as a major category.",
)
CATEGORY_ID_TEXT = FieldText(
    "Id of the category; null without one.",
    requests=(
        "Instead of `category`. Beside it, the one that differs from what is stored "
        "counts."
    ),
    left_out="Left out: `category` counts.",
)
WALLET_TEXT = FieldText(
    "Id of a wallet of the caller; null: no wallet.", left_out="Left out: no wallet."
)
TAGS_TEXT = FieldText(
    "Names of tags, in their order.", requests="Unknown ones are created."
)


class LineAmountField(StrictIntegerField):
    def __init__(self) -> None:
        super().__init__(
            min_value=-MAX_AMOUNT,
            max_value=MAX_AMOUNT,
            help_text=(
                "In whole home-currency units, in the direction of the entry; not 0, "
                "negative for what is taken off."
            ),
        )

    def to_internal_value(self, data: Any) -> int:
        amount = super().to_internal_value(data)
        if amount == 0:
            raise serializers.ValidationError(gettext("Must not be 0."))
        return amount


class CategoryTypeField(serializers.ChoiceField):
    # The OpenAPI document reads it.
    is_null_only_in_requests = True

    def __init__(self, **kwargs: Any) -> None:
        fixed = {
            "choices": CategoryType.choices,
            "required": False,
            "allow_null": True,
            "help_text": CATEGORY_TYPE_TEXT,
        }
        super().__init__(**(kwargs | fixed))


class RowIdField(StrictIntegerField):
    """An id that the write looks up, under the lock of the ledger."""

    default_error_messages = {"does_not_exist": NotFoundError.detail}

    def to_internal_value(self, data: Any) -> int:
        row_id = super().to_internal_value(data)
        if not 0 < row_id <= MAX_ID:
            self.fail("does_not_exist")
        return row_id


class CategoryIdField(RowIdField):
    def __init__(self, **kwargs: Any) -> None:
        fixed = {"required": False, "allow_null": True, "help_text": CATEGORY_ID_TEXT}
        super().__init__(**(kwargs | fixed))


def with_sent_category(
    values: dict[str, Any], data: Any, line_id: int | None = None
) -> dict[str, Any]:
    """Return the values of a body with its id of a category as `category`."""
    if "category_id" not in values:
        return values
    name, has_name = values.get("category"), "category" in data
    sent = SentCategory(values.pop("category_id"), name, has_name, line_id)
    return values | {"category": sent}


class NamedWalletSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the wallet.")
    name = serializers.CharField(help_text="Name of the wallet.")


class LineListSerializer(serializers.ListSerializer[Any]):
    """No lines, or 2 to 50; null is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Null is no line; `allow_null` is of the list.
        child: Any = self.child
        child.allow_null = False

    def get_attribute(self, instance: Any) -> Any:
        """Return the lines of a row that was read with its `line_values`."""
        return instance.line_values

    def to_representation(self, data: Any) -> list[Any]:
        return [
            {
                "id": line["id"],
                "amount": line["amount"],
                "category": line["category"],
                "categoryId": line["category_id"],
                "categoryType": line["category_type"],
                "walletId": line["wallet_id"],
                "wallet": line["wallet_id"]
                and {"id": line["wallet_id"], "name": line["wallet"]},
                "memo": line["memo"],
            }
            for line in data
        ]

    def run_validation(self, data: Any = serializers.empty) -> Any:
        # Before each line is judged, which takes 35 microseconds.
        if isinstance(data, list) and data and not MIN_LINES <= len(data) <= MAX_LINES:
            detail = gettext("Must have {minimum} to {maximum} lines, or none.")
            raise serializers.ValidationError(
                [detail.format(minimum=MIN_LINES, maximum=MAX_LINES)]
            )
        rows = super().run_validation(data)
        return tuple(LineShape(**row) for row in rows or ())


class LineSerializer(Serializer):
    """A part of an amount: for a category, for another own wallet, or for nothing."""

    class Meta:
        list_serializer_class = LineListSerializer

    id = serializers.IntegerField(read_only=True, help_text="Id of the line.")
    amount = LineAmountField()
    category = NameField(
        required=False,
        allow_null=True,
        help_text=CATEGORY_TEXT,
    )
    category_id = CategoryIdField()
    category_type = CategoryTypeField()
    wallet_id = UncheckedPrimaryKeyField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        help_text=(
            "Id of another wallet of the caller, to which the amount goes; null for a "
            "line of a category, or of none."
        ),
    )
    wallet = NamedWalletSerializer(
        read_only=True,
        allow_null=True,
        help_text="The wallet with its name; null without one.",
    )
    memo = OptionalTextField()

    def to_internal_value(self, data: Any) -> Any:
        line = super().to_internal_value(data)
        # A partial update of the entry has whole lines too.
        if "amount" not in line:
            raise serializers.ValidationError(
                {"amount": [gettext("This field is required.")]}, code="required"
            )
        line_id = data.get("id")
        return with_sent_category(line, data, line_id if type(line_id) is int else None)


class EntryLineSerializer(LineSerializer):
    """A line of an entry, which can bring an expense back."""

    refund_of = UncheckedPrimaryKeyField(
        Entry,
        required=False,
        allow_null=True,
        help_text=(
            "Id of the expense that comes back, on a positive line of an income with "
            "the category type `expense`; null for all else. Without `category` it "
            "gets that of a flat expense."
        ),
    )


def make_lines_field(serializer: type[LineSerializer] = LineSerializer) -> Any:
    return serializer(
        many=True,
        required=False,
        allow_null=True,
        help_text=FieldText(
            "2 to 50 lines that add up to `amount`; empty for an entry that has only "
            "`category` or `toWalletId`.",
            requests="Null or empty: none.",
            left_out="Left out: unchanged.",
        ),
    )


_SHARED = ("toWalletId", "toWallet", "categoryId", "categoryType", "lines")


def make_type_field() -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=EntryType.choices, help_text=TYPE_TEXT)


def make_category_field() -> CategoryNameField:
    return CategoryNameField(
        required=False,
        allow_null=True,
        default=None,
        help_text=CATEGORY_TEXT,
    )


def make_wallet_field() -> OwnedIdField:
    return OwnedIdField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        default=None,
        help_text=WALLET_TEXT,
    )


class ShapeSerializer(Serializer):
    """The fields of entries and templates that say what an amount is for."""

    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        fields = super().get_fields()
        shared = {name: fields.pop(name) for name in _SHARED if name in fields}
        return fields | shared

    to_wallet_id = UncheckedPrimaryKeyField(
        Wallet,
        source="to_wallet",
        required=False,
        allow_null=True,
        help_text=(
            "Id of the wallet of the caller that a transfer without lines goes to; "
            "null for all else."
        ),
    )
    to_wallet = NamedWalletSerializer(
        read_only=True,
        allow_null=True,
        help_text="That wallet with its name; null without one.",
    )
    category_id = CategoryIdField()
    category_type = CategoryTypeField()
    lines = make_lines_field()

    def to_internal_value(self, data: Any) -> Any:
        return with_sent_category(super().to_internal_value(data), data)
