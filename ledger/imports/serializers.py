"""Bodies and answers of imports."""

from typing import Any

from django.utils.timezone import localtime
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from core.api.fields import (
    ClosedChoiceField,
    OpenTextField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictListField,
)
from core.api.serializers import (
    QuerySerializer,
    Serializer,
    validate_body,
    validate_part,
)
from ledger.base.fields import CategoryNameField
from ledger.base.ownership import OwnedIdField
from ledger.imports.choices import CategoryName, WalletChoice
from ledger.imports.column_names import FIELDS
from ledger.imports.dates import DATE_ORDERS
from ledger.imports.judging import Reason, allowed_actions
from ledger.imports.reasons import SENTENCES
from ledger.imports.record_json import load_record
from ledger.imports.row_choices import MAX_ROWS_OF_CHANGE, SentRow
from ledger.imports.shapes import category_type_of
from ledger.imports.sources import SOURCES
from ledger.imports.storing import LIFETIME
from ledger.models import (
    Entry,
    Import,
    ImportAction,
    ImportRow,
    ImportStatus,
    Wallet,
)
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType

MAX_PASSWORD_LENGTH = 200
MAX_COLUMNS = 64
# Of one request; others follow in the next one.
MAX_FILE_NAMES = 75
SAMPLE_ROWS = 20
MAX_CELL_LENGTH = 200
SOURCE_TEXT = "What the file is of: " + ", ".join(f"`{name}`" for name in SOURCES) + "."
NAME_TEXT = "As the file has it; null for rows without a wallet."


class FormIdField(OwnedIdField):
    """An id in a form, whose values are texts."""

    def to_internal_value(self, data: Any) -> Any:
        is_number = isinstance(data, str) and data.isascii() and data.isdigit()
        return super().to_internal_value(int(data[:20]) if is_number else data)


class ImportFileRequestSerializer(Serializer):
    file = serializers.FileField(
        # An empty file is IMPORT_UNREADABLE, like any other that holds no rows.
        allow_empty_file=True,
        help_text="The file, at most 10 MB and 100,000 rows. Its kind is found by "
        "its content, not by its name.",
    )
    source = OpenTextField(
        known_values=list(SOURCES),
        required=False,
        help_text=SOURCE_TEXT + " Found by the header where it is left out.",
    )  # type: ignore[assignment]
    wallet_id = FormIdField(
        Wallet,
        required=False,
        help_text="The wallet of rows that name none.",
    )
    password = serializers.CharField(
        max_length=MAX_PASSWORD_LENGTH,
        trim_whitespace=False,
        required=False,
        help_text="Opens an encrypted file. It is not stored.",
    )


class NewWalletSerializer(Serializer):
    kind = serializers.ChoiceField(
        choices=Wallet.Kind.choices, help_text="Kind of the new wallet."
    )


class ImportedWalletRequestSerializer(Serializer):
    name = StrictCharField(
        max_length=MAX_CELL_LENGTH, help_text="Name of the wallet in the file."
    )
    wallet_id = OwnedIdField(
        Wallet,
        required=False,
        allow_null=True,
        help_text="The wallet that it is.",
    )
    create = NewWalletSerializer(
        required=False,
        allow_null=True,
        help_text="Make a wallet of the name at the commit.",
    )  # type: ignore[assignment]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [attrs.get("wallet_id"), attrs.get("create")]
        if given.count(None) != 1:
            raise serializers.ValidationError(
                {"walletId": gettext("Give either `walletId` or `create`.")}
            )
        return attrs


class ImportedCategoryRequestSerializer(Serializer):
    name = StrictCharField(
        max_length=MAX_CELL_LENGTH, help_text="Name of the category in the file."
    )
    parent = StrictCharField(
        max_length=MAX_CELL_LENGTH,
        required=False,
        allow_null=True,
        default=None,
        help_text="Name of its major category in the file, for a minor one.",
    )  # type: ignore[assignment]
    type = ClosedChoiceField(choices=CategoryType.choices, help_text="Its type.")
    category = CategoryNameField(
        allow_null=True,
        help_text="Name of the category that it becomes, which is made at the commit "
        "if the ledger has none; null for none.",
    )


class MappedColumnRequestSerializer(Serializer):
    column = StrictIntegerField(help_text="Index of the column, from 0.")
    name = StrictCharField(
        max_length=MAX_CELL_LENGTH,
        required=False,
        allow_null=True,
        allow_blank=True,
        help_text="Its name in the header, as an answer has it; for a reader only.",
    )
    field = StrictCharField(
        max_length=40,
        allow_null=True,
        help_text="What the column is: "
        + ", ".join(f"`{each}`" for each in sorted(FIELDS))
        + "; null to pass it over.",
    )


class ImportChangeRequestSerializer(Serializer):
    """Null is as left out, but for `walletId` and `mapping`, which it clears."""

    source = OpenTextField(
        known_values=list(SOURCES),
        required=False,
        allow_null=True,
        help_text=SOURCE_TEXT,
    )  # type: ignore[assignment]
    wallet_id = OwnedIdField(
        Wallet,
        required=False,
        allow_null=True,
        help_text="The wallet of rows that name none.",
    )
    mapping = StrictListField(
        child=MappedColumnRequestSerializer(),
        max_length=MAX_COLUMNS,
        required=False,
        allow_null=True,
        help_text="What the columns are. Columns that are left out are passed over. "
        "It is remembered for files with the same header. Null guesses them anew.",
    )
    date_order = ClosedChoiceField(
        choices=DATE_ORDERS,
        required=False,
        allow_null=True,
        help_text="Order of year, month and day in dates such as 03/04/2026.",
    )
    wallets = StrictListField(
        child=ImportedWalletRequestSerializer(),
        max_length=MAX_FILE_NAMES,
        required=False,
        allow_null=True,
        help_text="What wallets of the file become; others stay as they are.",
    )
    categories = StrictListField(
        child=ImportedCategoryRequestSerializer(),
        max_length=MAX_FILE_NAMES,
        required=False,
        allow_null=True,
        help_text="What categories of the file become; others stay as they are.",
    )
    balances = StrictBooleanField(
        required=False,
        allow_null=True,
        help_text="Apply the balances that the file tells: the first balance of new "
        "wallets, and the value of the day of wallets with a manual valuation.",
    )


def validate_changes(request: Request) -> dict[str, Any]:
    """Return the fields of a change that are sent; null counts for two alone."""
    values = validate_body(ImportChangeRequestSerializer, request)
    return {
        name: value
        for name, value in values.items()
        if value is not None or name in {"wallet_id", "mapping"}
    }


def read_changes(values: dict[str, Any]) -> dict[str, Any]:
    """Return what `ledger.imports.choices.merge` takes, but for the mapping."""
    changes: dict[str, Any] = {
        name: values[name]
        for name in ("source", "wallet_id", "balances")
        if name in values
    }
    if "wallets" in values:
        changes["wallets"] = {
            each["name"]: WalletChoice(
                each.get("wallet_id"),
                each["create"]["kind"] if each.get("create") else None,
            )
            for each in values["wallets"]
        }
    if "categories" in values:
        changes["categories"] = {
            CategoryName(each["type"], each["parent"], each["name"]): each["category"]
            for each in values["categories"]
        }
    return changes


class RowEntryRequestSerializer(Serializer):
    id = OwnedIdField(
        Entry,
        required=False,
        allow_null=True,
        help_text="The entry that the row is merged with; null for none.",
    )
    to_wallet_id = OwnedIdField(
        Wallet,
        required=False,
        allow_null=True,
        help_text="The other wallet of a transfer.",
    )
    category = CategoryNameField(
        required=False,
        allow_null=True,
        help_text="Category of the entry; null for none.",
    )
    memo = StrictCharField(
        max_length=MAX_MEMO_LENGTH,
        required=False,
        allow_blank=True,
        help_text="Memo of the entry.",
    )


class ImportRowChangeSerializer(Serializer):
    row = StrictIntegerField(min_value=1, help_text="Number of the row.")
    action = ClosedChoiceField(
        choices=ImportAction.values,
        required=False,
        allow_null=True,
        help_text="What becomes of the row; it stays where this is left out.",
    )
    entry = RowEntryRequestSerializer(
        required=False, allow_null=True, help_text="Changes of what the row becomes."
    )


class _RowChangesSerializer(Serializer):
    rows = StrictListField(
        child=ImportRowChangeSerializer(),
        min_length=1,
        max_length=MAX_ROWS_OF_CHANGE,
        help_text=f"Rows to change, at most {MAX_ROWS_OF_CHANGE:,}.",
    )


def validate_row_changes(request: Request) -> list[dict[str, Any]]:
    """Return the rows of a body that is a list; errors are named by their index."""
    try:
        values = validate_part(_RowChangesSerializer, {"rows": request.data}, request)
    except serializers.ValidationError as error:
        detail: Any = error.detail
        raise serializers.ValidationError(detail["rows"]) from None
    rows: list[dict[str, Any]] = values["rows"]
    return rows


_EDITS = {
    "id": "id",
    "to_wallet_id": "toWalletId",
    "category": "category",
    "memo": "memo",
}


def read_row(sent: dict[str, Any]) -> SentRow:
    entry = sent.get("entry") or {}
    action = sent.get("action")
    edits = {_EDITS[name]: value for name, value in entry.items()}
    return SentRow(sent["row"], action and ImportAction(action), edits)


class ImportRowsQuerySerializer(QuerySerializer):
    status = serializers.ChoiceField(
        choices=ImportStatus.values,
        required=False,
        help_text="Only rows of this status.",
    )


class ImportColumnSerializer(Serializer):
    column = serializers.IntegerField(help_text="Index of the column, from 0.")
    name = serializers.CharField(help_text="Its name in the header.")


class MappedColumnSerializer(ImportColumnSerializer):
    field = serializers.CharField(help_text="What the column is read as.")


class ImportedWalletSerializer(Serializer):
    name = serializers.CharField(allow_null=True, help_text=NAME_TEXT)
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The wallet that it is; null for a new one or none."
    )
    create = NewWalletSerializer(
        allow_null=True, help_text="The wallet that the commit makes."
    )  # type: ignore[assignment]
    guess = OpenTextField(
        known_values=["NAME", "INSTITUTION"],
        allow_null=True,
        help_text="By what the wallet was found; null for a choice and a new one.",
    )
    rows = serializers.IntegerField(help_text="Number of rows that name it.")


class ImportedCategorySerializer(Serializer):
    name = serializers.CharField(help_text="Name of the category in the file.")
    parent = serializers.CharField(
        allow_null=True, help_text="Its major category in the file, for a minor one."
    )  # type: ignore[assignment]
    type = serializers.ChoiceField(choices=CategoryType.choices, help_text="Its type.")
    category = serializers.CharField(
        allow_null=True, help_text="The category that it becomes; null for none."
    )
    rows = serializers.IntegerField(help_text="Number of rows that name it.")


class ImportBalanceSerializer(Serializer):
    wallet = serializers.CharField(help_text="Name of the wallet in the file.")
    amount = serializers.IntegerField(
        help_text="Balance in whole home-currency units at the end of the day."
    )
    date = serializers.DateField(help_text="Day of the balance.")
    kind = serializers.CharField(
        allow_null=True, help_text="Kind of wallet that the file tells, if it does."
    )


class ImportRowErrorSerializer(Serializer):
    field = serializers.CharField(help_text="What cannot be read.")
    message = serializers.CharField(help_text="Why, for a person.")


class RowEntrySerializer(Serializer):
    date = serializers.DateField(help_text="Day of the entry.")
    time = serializers.CharField(
        allow_null=True, help_text="Time of day, HH:MM; null if the file has none."
    )
    direction = serializers.ChoiceField(
        choices=["OUT", "IN"], help_text="Out of the wallet, or into it."
    )
    amount = serializers.IntegerField(
        allow_null=True,
        help_text="In whole home-currency units; null until it is converted.",
    )
    currency = serializers.CharField(
        allow_null=True, help_text="ISO code of a foreign currency."
    )
    original_amount = serializers.CharField(
        allow_null=True, help_text="Amount in the foreign currency."
    )
    wallet = serializers.CharField(allow_null=True, help_text=NAME_TEXT)
    to_wallet = serializers.CharField(
        allow_null=True, help_text="The other wallet of a transfer, as in the file."
    )
    to_wallet_id = serializers.IntegerField(
        allow_null=True, help_text="The other wallet that was chosen for the row."
    )
    category = serializers.CharField(
        allow_null=True,
        help_text="Category of the file, or that of earlier entries with such a memo.",
    )
    category_type = serializers.ChoiceField(
        choices=CategoryType.choices, help_text="Type of the category."
    )
    is_learned = serializers.BooleanField(
        help_text="True if the category is that of earlier entries."
    )
    memo = serializers.CharField(help_text="Memo of the entry.")
    tags = serializers.ListField(
        child=serializers.CharField(), help_text="Names of tags."
    )
    installment_months = serializers.IntegerField(
        allow_null=True, help_text="Months of a purchase in installments."
    )


class ImportRowSerializer(Serializer):
    row = serializers.IntegerField(help_text="Number of the row in the file, from 1.")
    status = OpenTextField(
        known_values=ImportStatus.values, help_text="What the ledger has of the row."
    )
    reason = OpenTextField(
        known_values=[each.value for each in Reason], help_text="Why, as a code."
    )
    detail = serializers.CharField(help_text="Why, for a person.")
    action = serializers.ChoiceField(
        choices=ImportAction.choices, help_text="What the commit does with the row."
    )
    deleted = serializers.BooleanField(
        help_text="True if the row was imported and its entry was deleted."
    )
    entry = RowEntrySerializer(
        allow_null=True, help_text="What the row says; null if it cannot be read."
    )
    entry_id = serializers.IntegerField(
        allow_null=True,
        help_text="The entry of the ledger that the row is or completes; of a refund, "
        "the expense.",
    )
    other_row = serializers.IntegerField(
        allow_null=True,
        help_text="The other row of the transfer, or of the cancelled purchase.",
    )
    errors = ImportRowErrorSerializer(
        many=True, help_text="Why the row cannot be read; empty if it can."
    )  # type: ignore[assignment]
    cells = serializers.ListField(
        child=serializers.CharField(),
        help_text="The cells of a row that cannot be read; empty for others.",
    )


class ImportResultSerializer(Serializer):
    created = serializers.IntegerField(help_text="Number of new entries.")
    merged = serializers.IntegerField(
        help_text="Number of rows that were entries of the ledger already."
    )
    paired = serializers.IntegerField(
        help_text="Number of rows that are the second side of a transfer."
    )
    skipped = serializers.IntegerField(
        help_text="Number of rows that were left out, those with errors too."
    )
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What was done otherwise than the file says, for a person.",
    )


class CommittedImportSerializer(ImportResultSerializer):
    operation_id = serializers.IntegerField(
        allow_null=True,
        help_text="The operation by which it can be undone; null if nothing changed.",
    )


class ImportSummarySerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the import.")
    source = OpenTextField(known_values=list(SOURCES), help_text=SOURCE_TEXT)  # type: ignore[assignment]
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Number of rows by status."
    )
    created_at = serializers.DateTimeField(help_text="When the file was sent.")
    expires_at = serializers.DateTimeField(
        help_text="When the import is forgotten; entries stay."
    )
    committed_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was committed; null before."
    )
    result = ImportResultSerializer(
        allow_null=True, help_text="What the commit did; null before."
    )


class ImportSerializer(ImportSummarySerializer):
    columns = ImportColumnSerializer(
        many=True, help_text="Columns of the header; empty where the source knows them."
    )
    mapping = MappedColumnSerializer(
        many=True, help_text="What the columns are read as; others are passed over."
    )
    header_row = serializers.IntegerField(
        allow_null=True, help_text="Number of the header's row; null without one."
    )
    date_order = serializers.CharField(
        allow_null=True, help_text="Order of dates: `ymd`, `dmy` or `mdy`."
    )
    wallets = ImportedWalletSerializer(
        many=True, help_text="Wallets that the file names."
    )
    categories = ImportedCategorySerializer(
        many=True, help_text="Categories that the file names."
    )
    balances = ImportBalanceSerializer(
        many=True, help_text="Balances that the file tells."
    )
    apply_balances = serializers.BooleanField(
        help_text="True if the commit applies the balances."
    )
    passed_over = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Number of rows that are no entry, by the reason.",
    )
    left_out = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the file has and the ledger cannot hold, for a person.",
    )  # type: ignore[assignment]
    sample = ImportRowSerializer(many=True, help_text=f"The first {SAMPLE_ROWS} rows.")


def describe_summary(row: Import) -> dict[str, Any]:
    return {
        "id": row.id,
        "source": row.source,
        "counts": row.description["counts"],
        "createdAt": localtime(row.created_at),
        "expiresAt": localtime(row.created_at + LIFETIME),
        "committedAt": row.committed_at and localtime(row.committed_at),
        "result": row.result,
    }


def describe_import(row: Import, sample: list[ImportRow]) -> dict[str, Any]:
    return {
        **describe_summary(row),
        **row.description,
        "applyBalances": row.choices["balances"],
        "sample": [describe_row(each) for each in sample],
    }


def describe_row(row: ImportRow) -> dict[str, Any]:
    unread = row.errors or {"errors": [], "cells": []}
    return {
        "row": row.row,
        "status": row.status,
        "reason": row.reason,
        "detail": str(SENTENCES[row.reason]),
        "action": _action_of(row),
        "deleted": row.reason == Reason.KNOWN_DELETED,
        "entry": None if row.record is None else _describe_entry(row, row.record),
        "entryId": (row.edits or {}).get("id") or row.entry_id,
        "otherRow": row.other_row,
        "errors": unread["errors"],
        "cells": unread["cells"],
    }


def _action_of(row: ImportRow) -> str:
    """Return the choice, if the row can still have it."""
    has_target = bool(row.edits and row.edits.get("id"))
    allowed = allowed_actions(row.status, row.reason, has_target=has_target)
    return row.chosen if row.chosen in allowed else row.action


def _describe_entry(row: ImportRow, stored: dict[str, Any]) -> dict[str, Any]:
    record, edits = load_record(stored), row.edits or {}
    named = record.minor_category or record.category or row.learned
    original = record.original_amount
    return {
        "date": record.date,
        "time": record.time and record.time.strftime("%H:%M"),
        "direction": record.direction,
        "amount": record.amount,
        "currency": record.currency,
        "originalAmount": None if original is None else format(original, "f"),
        "wallet": record.wallet,
        "toWallet": record.other_wallet,
        "toWalletId": edits.get("toWalletId"),
        "category": edits.get("category", named),
        "categoryType": category_type_of(record),
        "isLearned": row.learned is not None and "category" not in edits,
        "memo": edits.get("memo", record.memo or record.text),
        "tags": list(record.tags),
        "installmentMonths": record.months,
    }
