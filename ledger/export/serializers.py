"""Serializers of exports."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import IsoDateField
from core.api.serializers import QuerySerializer
from ledger.export.export import FORMATS


class ExportQuerySerializer(QuerySerializer):
    """The format of an export, and the entries that it has."""

    format = serializers.ChoiceField(
        choices=list(FORMATS),
        help_text=(
            "`json` is the whole ledger, `csv` has a row for each line of an entry, "
            "`xlsx` tables to read; `beancount` and `hledger` are journals of "
            "plain-text accounting."
        ),
    )
    from_ = IsoDateField(
        required=False,
        source="from_",
        help_text="Only entries of this day and later; not with `json`.",
    )
    to = IsoDateField(
        required=False,
        help_text="Only entries of this day and before; not with `json`.",
    )
    wallet_id = serializers.IntegerField(
        required=False,
        help_text=(
            "Only entries of this wallet, and transfers to it; not with `json`."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        names = {"from_": "from", "to": "to", "wallet_id": "walletId"}
        given = [sent for name, sent in names.items() if name in attrs]
        if given and FORMATS[attrs["format"]].is_always_whole:
            detail = gettext("This format has the whole ledger.")
            raise serializers.ValidationError({name: [detail] for name in given})
        if "from_" in attrs and "to" in attrs and attrs["from_"] > attrs["to"]:
            detail = gettext("Must not be before `from`.")
            raise serializers.ValidationError({"to": [detail]})
        return attrs
