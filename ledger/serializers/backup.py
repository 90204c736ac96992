"""Wire shapes of backup and restore."""

from rest_framework import serializers

from core.api.serializers import QuerySerializer, Serializer


class RestoreQuerySerializer(QuerySerializer):
    """`?dryRun=` is refused: who writes it does not mean to lose a ledger."""

    keep_blank_values = True

    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Check and count; write nothing."
    )


class RestoreFileRequestSerializer(Serializer):
    file = serializers.FileField(
        allow_empty_file=True,  # which is no backup, as other files are none
        help_text="A workbook (xlsx), or JSON of the same structure; at most 10 MB.",
    )


class RestoreRequestSerializer(Serializer):
    """The sheets of the workbook as lists; tags are lists of names.

    A list that is left out is an empty one. The fields are the headers of the
    workbook that `GET /api/account/backup` writes.
    """

    wallets = serializers.ListField(child=serializers.DictField(), required=False)
    tags = serializers.ListField(child=serializers.DictField(), required=False)
    categories = serializers.ListField(child=serializers.DictField(), required=False)
    entries = serializers.ListField(child=serializers.DictField(), required=False)
    recurring = serializers.ListField(child=serializers.DictField(), required=False)
    budgets = serializers.ListField(child=serializers.DictField(), required=False)
    quick_entries = serializers.ListField(child=serializers.DictField(), required=False)


class RestoreResultSerializer(Serializer):
    """How many rows of each sheet were restored, or would be."""

    dry_run = serializers.BooleanField()
    wallets = serializers.IntegerField()
    tags = serializers.IntegerField()
    categories = serializers.IntegerField()
    entries = serializers.IntegerField()
    recurring = serializers.IntegerField()
    budgets = serializers.IntegerField(help_text="In the current month.")
    quick_entries = serializers.IntegerField()
