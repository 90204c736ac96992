"""Serializers of restore."""

from rest_framework import serializers

from core.api.serializers import QuerySerializer, Serializer


class RestoreQuerySerializer(QuerySerializer):
    # An empty `dryRun` is an error: taken as missing, it would replace the ledger.
    keep_blank_values = True

    dry_run = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Validate and count the rows; write nothing.",
    )


class RestoreFileRequestSerializer(Serializer):
    file = serializers.FileField(
        # An empty file is rejected as INVALID_BACKUP, like any other invalid file.
        allow_empty_file=True,
        help_text="A workbook (xlsx), or JSON of the same structure; at most 10 MB.",
    )


class RestoreRequestSerializer(Serializer):
    """The sheets of the workbook as lists; tags are lists of names.

    A missing list is empty. The fields are the column headers of the workbook that
    `GET /api/account/backup` returns.
    """

    wallets = serializers.ListField(child=serializers.DictField(), required=False)
    tags = serializers.ListField(child=serializers.DictField(), required=False)
    categories = serializers.ListField(child=serializers.DictField(), required=False)
    entries = serializers.ListField(child=serializers.DictField(), required=False)
    recurring = serializers.ListField(child=serializers.DictField(), required=False)
    budgets = serializers.ListField(child=serializers.DictField(), required=False)
    quick_entries = serializers.ListField(child=serializers.DictField(), required=False)


class RestoreResultSerializer(Serializer):
    """The number of rows of each sheet that were restored, or would be."""

    dry_run = serializers.BooleanField()
    wallets = serializers.IntegerField()
    tags = serializers.IntegerField()
    categories = serializers.IntegerField()
    entries = serializers.IntegerField()
    recurring = serializers.IntegerField()
    budgets = serializers.IntegerField(help_text="Budgets of the current month.")
    quick_entries = serializers.IntegerField()
