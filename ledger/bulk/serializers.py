"""Bodies and answers of writes of several entries (spec 3.25)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request

from core.api.documented_errors import ProblemSerializer
from core.api.exception_handler import problem_body, to_domain_error
from core.api.fields import (
    ClosedChoiceField,
    IsoDateField,
    StrictBooleanField,
    StrictCharField,
    StrictIntegerField,
    StrictUUIDField,
    UniqueListField,
)
from core.api.serializers import Serializer, validate_part
from core.errors import DomainError
from ledger.base.fields import LedgerTagListField, NameField
from ledger.base.ownership import OwnedIdField
from ledger.bulk.batch import MAX_OPERATIONS, Op, Operation, Outcome
from ledger.bulk.changes import MAX_ENTRIES_OF_CHANGE, BulkChange
from ledger.entries.filter_serializers import EntryFilterSerializer, make_filter
from ledger.entries.line_serializers import CategoryIdField, RowIdField
from ledger.entries.listing import EntryFilter
from ledger.entries.sent_ids import MISMATCH
from ledger.entries.serializers import EntryPatchSerializer, EntrySerializer
from ledger.models import Wallet
from ledger.models.base import MAX_MEMO_LENGTH


@extend_schema_field(EntryPatchSerializer(partial=True))
class SentEntryField(serializers.JSONField):
    """The body of a single request, which is judged for itself."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "not_a_dict": serializers.DictField.default_error_messages["not_a_dict"],
    }

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            self.fail("not_a_dict", input_type=type(data).__name__)
        return data


class OperationSerializer(Serializer):
    """A write of one entry."""

    op = ClosedChoiceField(
        choices=[each.value for each in Op], help_text="What to do with the entry."
    )
    id = RowIdField(
        required=False,
        allow_null=True,
        help_text="Id of the entry, for all but `create`.",
    )
    client_id = StrictUUIDField(
        required=False,
        allow_null=True,
        help_text=(
            "UUID of a new entry, or instead of `id` that of an entry which was "
            "made with it, also by an earlier operation."
        ),
    )
    if_version = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        help_text=(
            "Only if the entry had this version before the batch, as `If-Match` asks."
        ),
    )
    entry = SentEntryField(
        required=False,
        allow_null=True,
        help_text=(
            "What the single request has as its body: of POST for `create`, of PATCH "
            "for `update`, corrections for `confirm`."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = {name for name, value in attrs.items() if value is not None}
        op, errors = attrs["op"], {}
        if op == Op.CREATE:
            for name in given & {"id", "if_version"}:
                text = gettext("Only for an entry that is there.")
                errors[name] = ErrorDetail(text, "invalid")
        elif {"id", "client_id"} <= given:
            text = gettext("Cannot be combined with `id`.")
            errors["client_id"] = ErrorDetail(text, "invalid")
        elif not given & {"id", "client_id"}:
            text = gettext("`id` or `clientId` is required.")
            errors["id"] = ErrorDetail(text, "required")
        if op in (Op.CREATE, Op.UPDATE) and "entry" not in given:
            text = gettext("This field is required.")
            errors["entry"] = ErrorDetail(text, "required")
        if op == Op.DELETE and "entry" in given:
            text = gettext("Nothing of the entry stays.")
            errors["entry"] = ErrorDetail(text, "invalid")
        if errors:
            names = {"client_id": "clientId", "if_version": "ifVersion"}
            raise ValidationError(
                {names.get(name, name): [text] for name, text in errors.items()}
            )
        return attrs


class BatchRequestSerializer(Serializer):
    operations = OperationSerializer(  # type: ignore[call-arg]  # of the list
        many=True,
        min_length=1,
        max_length=MAX_OPERATIONS,
        help_text=f"1 to {MAX_OPERATIONS} writes, in their order.",
    )
    atomic = StrictBooleanField(
        default=True,
        help_text=(
            "True: all or nothing, and one 400 with the errors of `operations`. "
            "False: each for itself."
        ),
    )


def read_operation(sent: Mapping[str, Any], request: Request) -> Operation:
    """Return a validated operation, with the fields of its entry or their error."""
    op, client_id = Op(sent["op"]), sent.get("client_id")
    values: dict[str, Any] = {}
    error: DomainError | None = None
    try:
        if op is Op.CREATE:
            values = validate_part(EntrySerializer, sent["entry"], request)
            own_id = values.pop("client_id", None)
            if None not in (client_id, own_id) and client_id != own_id:
                text = gettext("Is not that of the operation.")
                raise ValidationError({"clientId": [ErrorDetail(text, MISMATCH)]})
            client_id = client_id or own_id
        elif op is not Op.DELETE:
            values = validate_part(
                EntryPatchSerializer, sent.get("entry") or {}, request, partial=True
            )
    except ValidationError as invalid:
        error = to_domain_error(invalid)
    return Operation(
        op, sent.get("id"), client_id, sent.get("if_version"), values, error
    )


class OutcomeSerializer(Serializer):
    """What came of an operation."""

    index = serializers.IntegerField(help_text="Its place in the batch, from 0.")
    status = serializers.IntegerField(
        min_value=100,
        max_value=599,
        help_text="The status that the single request would have had.",
    )
    id = serializers.IntegerField(
        allow_null=True, help_text="Id of the entry; null if it was not made."
    )
    client_id = serializers.UUIDField(
        allow_null=True, help_text="The client id of the entry; null without one."
    )
    version = serializers.IntegerField(
        allow_null=True,
        help_text="Version of the entry after the batch; null if it is not there.",
    )
    error = ProblemSerializer(
        allow_null=True, help_text="Why nothing was written; null if it was."
    )


class OperationIdField(serializers.IntegerField):
    """The operation by which all of it can be undone."""

    def __init__(self) -> None:
        text = "Id of the operation, to undo it; null if nothing was changed."
        super().__init__(allow_null=True, help_text=text)


class BatchSerializer(Serializer):
    results = OutcomeSerializer(
        many=True, help_text="One for each operation, in their order."
    )
    operation_id = OperationIdField()


def describe_outcome(number: int, outcome: Outcome) -> dict[str, Any]:
    return {
        "index": number,
        "status": outcome.status,
        "id": outcome.id,
        "clientId": outcome.client_id,
        "version": outcome.version,
        "error": outcome.error and problem_body(outcome.error),
    }


class EntryValuesSerializer(Serializer):
    """Values that many entries get."""

    category = NameField(
        required=False,
        allow_null=True,
        help_text=(
            "Name of a category of the type that the entry has; an unknown one is "
            "created as a major category, null is none."
        ),
    )
    category_id = CategoryIdField(
        help_text="Id of the category instead of its name; null is none."
    )
    wallet_id = OwnedIdField(
        Wallet,
        source="wallet",
        required=False,
        allow_null=True,
        help_text="Id of a wallet of the caller; null is none.",
    )
    memo = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=MAX_MEMO_LENGTH,
        help_text=f"At most {MAX_MEMO_LENGTH} characters; null is empty.",
    )
    excluded = StrictBooleanField(
        required=False, help_text="True: it counts in no statistics."
    )
    date = IsoDateField(required=False, help_text="Day of the payment.")


class BulkChangeRequestSerializer(Serializer):
    """What to change in which entries: `ids` or `filter`, and at least one change."""

    is_body_required = True
    has_stored_values = False

    ids = UniqueListField(
        child=RowIdField(),
        min_length=1,
        max_length=MAX_ENTRIES_OF_CHANGE,
        required=False,
        help_text=f"Ids of the entries, 1 to {MAX_ENTRIES_OF_CHANGE:,}.",
    )
    filter = EntryFilterSerializer(
        required=False,
        help_text="The entries that the list has with these parameters.",
    )
    set = EntryValuesSerializer(required=False, help_text="Values of the entries.")
    add_tags = LedgerTagListField(help_text="Names of tags to put on them.")
    remove_tags = LedgerTagListField(help_text="Names of tags to take off them.")
    dry_run = StrictBooleanField(
        default=False, help_text="True: tell what would happen, and write nothing."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        ids, sent = attrs.get("ids"), attrs.get("filter")
        if (ids is None) == (sent is None):
            text = gettext("Either `ids` or `filter` is required.")
            raise ValidationError({"ids": [ErrorDetail(text, "required")]})
        if sent is not None and make_filter(sent) == EntryFilter():
            text = gettext("Must name at least one filter.")
            raise ValidationError({"filter": [ErrorDetail(text, "required")]})
        changes = (attrs.get("set"), attrs.get("add_tags"), attrs.get("remove_tags"))
        if not any(changes):
            text = gettext("`set`, `addTags` or `removeTags` is required.")
            raise ValidationError({"set": [ErrorDetail(text, "required")]})
        return attrs


class RefusedEntrySerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the entry.")
    code = serializers.CharField(
        help_text=(
            "Why it stays as it is: `SPLIT` for a category of an entry with lines, "
            "else the code of the single request."
        )
    )


class BulkChangeSerializer(Serializer):
    matched = serializers.IntegerField(help_text="Number of entries that were named.")
    changed = serializers.IntegerField(help_text="Number of entries that changed.")
    unchanged = serializers.IntegerField(
        help_text="Number of entries that were so before."
    )
    refused_count = serializers.IntegerField(
        help_text="Number of entries that cannot have the values."
    )
    refused = RefusedEntrySerializer(
        many=True, help_text="Those entries, at most 100 of them."
    )
    operation_id = OperationIdField()


def describe_change(change: BulkChange) -> dict[str, Any]:
    return {
        "matched": change.matched,
        "changed": change.changed,
        "unchanged": change.unchanged,
        "refusedCount": change.refused_count,
        "refused": [{"id": pk, "code": code} for pk, code in change.refused],
    }
