"""Bodies and answers of operations."""

from typing import Any

from rest_framework import serializers

from core.api.fields import OpenTextField, StrictBooleanField
from core.api.serializers import Serializer
from ledger.base.ownership import OwnedIdField
from ledger.models import OperationKind, RowAction, RowKind, Wallet
from ledger.operations.undo import MAX_SHOWN_KEPT, Reason, UndoResult


class RecordedOperationSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the operation.")
    kind = OpenTextField(known_values=OperationKind.values, help_text="What was done.")
    at = serializers.DateTimeField(help_text="When it was done.")
    by = serializers.IntegerField(
        allow_null=True, help_text="Id of the member who did it; null for staff."
    )
    counts = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="Rows by kind, then by `created`, `changed` and `deleted`.",
    )
    undoable_until = serializers.DateTimeField(
        allow_null=True,
        help_text="Until when it can be undone; null if it cannot.",
    )
    undone = serializers.BooleanField(help_text="True if it was undone.")


class RecordedRowSerializer(Serializer):
    kind = OpenTextField(known_values=RowKind.values, help_text="What the row is.")
    id = serializers.IntegerField(help_text="Id of the row among those of its kind.")
    action = OpenTextField(
        known_values=RowAction.values, help_text="What was done to the row."
    )
    name = serializers.CharField(
        allow_null=True,
        help_text="Its name or memo before; null for a new row, or without one.",
    )
    date = serializers.DateField(
        allow_null=True, help_text="Its date before; null for a new row, or without."
    )
    amount = serializers.IntegerField(
        allow_null=True,
        help_text=(
            "Its amount or value before, in whole home-currency units; null for a "
            "new row, or without one."
        ),
    )


class RecordedRowPageSerializer(Serializer):
    count = serializers.IntegerField(help_text="Number of rows on all pages.")
    next = serializers.URLField(
        allow_null=True, help_text="URL of the next page; null on the last one."
    )
    previous = serializers.URLField(
        allow_null=True, help_text="URL of the page before; null on the first one."
    )
    results = RecordedRowSerializer(many=True, help_text="The rows.")


class RecordedOperationDetailSerializer(RecordedOperationSerializer):
    rows = RecordedRowPageSerializer(help_text="A page of the rows that it changed.")


class UndoRequestSerializer(Serializer):
    dry_run = StrictBooleanField(
        default=False, help_text="Answer what would happen, and write nothing."
    )
    wallet_id = OwnedIdField(
        Wallet,
        required=False,
        allow_null=True,
        help_text="The wallet that stands for wallets that were deleted since.",
    )
    force = StrictBooleanField(
        default=False,
        help_text="Undo a restore although something was written after it.",
    )


class KeptRowSerializer(Serializer):
    kind = OpenTextField(known_values=RowKind.values, help_text="What the row is.")
    id = serializers.IntegerField(help_text="Id of the row among those of its kind.")
    reason = OpenTextField(
        known_values=[reason.value for reason in Reason],
        help_text=(
            "Why it stays as it is: it was changed or deleted since, is in use, "
            "another row is in its place, or one that it needs is gone."
        ),
    )


class UndoResultSerializer(Serializer):
    restored = serializers.IntegerField(help_text="Rows that are there again.")
    reverted = serializers.IntegerField(help_text="Rows that are as they were.")
    removed = serializers.IntegerField(help_text="Rows that are gone again.")
    kept_count = serializers.IntegerField(help_text="Rows that stay as they are.")
    kept = KeptRowSerializer(
        many=True, help_text=f"The first {MAX_SHOWN_KEPT} of those."
    )
    operation_id = serializers.IntegerField(
        allow_null=True,
        help_text="Id of the undo, an operation too; null if nothing was changed.",
    )


def describe_undo(result: UndoResult, operation_id: int | None) -> dict[str, Any]:
    return {
        "restored": result.restored,
        "reverted": result.reverted,
        "removed": result.removed,
        "keptCount": len(result.kept),
        "kept": [row._asdict() for row in result.kept[:MAX_SHOWN_KEPT]],
        "operationId": operation_id,
    }
