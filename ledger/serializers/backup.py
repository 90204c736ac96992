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

    wallets = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `wallets`.",
    )
    tags = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `tags`.",
    )
    categories = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text=(
            "Rows of the sheet `categories`; `parent` is the name of the major one."
        ),
    )
    entries = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `entries`; `wallet` and `category` are names.",
    )
    recurring = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `recurring`; `wallet` and `category` are names.",
    )
    budgets = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `budgets`; `category` is a name.",
    )
    quick_entries = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Rows of the sheet `quickEntries`, as in `recurring`.",
    )


class RestoreResultSerializer(Serializer):
    """The number of rows of each sheet that were restored, or would be."""

    dry_run = serializers.BooleanField(help_text="True if nothing was written.")
    wallets = serializers.IntegerField(help_text="Number of wallets.")
    tags = serializers.IntegerField(help_text="Number of tags.")
    categories = serializers.IntegerField(help_text="Number of categories.")
    entries = serializers.IntegerField(help_text="Number of entries.")
    recurring = serializers.IntegerField(help_text="Number of recurring rules.")
    budgets = serializers.IntegerField(help_text="Budgets of the current month.")
    quick_entries = serializers.IntegerField(help_text="Number of quick entries.")
