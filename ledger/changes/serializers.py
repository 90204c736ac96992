"""Queries and answers of the feed of changes."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import Member
from core.api.fields import OpenTextField
from core.api.serializers import QuerySerializer, Serializer
from ledger.changes.feed import ChangePage, Digest
from ledger.models import RowKind

DEFAULT_SIZE, MAX_SIZE = 500, 1_000


class ChangesQuerySerializer(QuerySerializer):
    since = serializers.CharField(
        required=False,
        help_text="The `cursor` of the last answer; left out: a whole copy.",
    )
    size = serializers.IntegerField(
        min_value=1,
        default=DEFAULT_SIZE,
        help_text=f"Rows of a page, at most {MAX_SIZE:,}.",
    )


@extend_schema_field({"type": "object", "additionalProperties": {}})
class RowDataField(serializers.JSONField):
    """The stored values of a row, by the names that its kind has in the API."""


class ChangeSerializer(Serializer):
    kind = OpenTextField(known_values=RowKind.values, help_text="What the row is.")
    id = serializers.IntegerField(help_text="Id of the row among those of its kind.")
    version = serializers.IntegerField(
        help_text="Version of the row; of several, the highest counts."
    )
    deleted = serializers.BooleanField(help_text="True if the row is not there.")
    data = RowDataField(
        allow_null=True,
        help_text="What is stored, by ids and not by names; null if it was deleted.",
    )  # type: ignore[assignment]


class BalanceSerializer(Serializer):
    wallet_id = serializers.IntegerField(help_text="Id of the wallet.")
    balance = serializers.IntegerField(
        help_text="In whole home-currency units, as wallets have it."
    )
    current_value = serializers.IntegerField(
        allow_null=True, help_text="As wallets have it; null without one."
    )


class ChangesSerializer(Serializer):
    changes = ChangeSerializer(
        many=True, help_text="Rows in the order of version, kind and id."
    )
    cursor = serializers.CharField(help_text="Where to read on, as `since`.")
    has_more = serializers.BooleanField(help_text="True if there are more rows now.")
    balances = BalanceSerializer(
        many=True,
        allow_null=True,
        help_text="Of all wallets, with the last page; null with any other.",
    )


class KindDigestSerializer(Serializer):
    count = serializers.IntegerField(help_text="Number of rows.")
    digest = serializers.CharField(
        help_text=(
            "Sum, modulo 2^60, of the first 15 hexadecimal digits of the MD5 of "
            "`kind:id:version` of all rows, in decimal."
        )
    )


class DigestSerializer(Serializer):
    cursor = serializers.CharField(help_text="The place in the feed that it is of.")
    kinds = serializers.DictField(
        child=KindDigestSerializer(),
        help_text="By kind, those that are open to the caller.",
    )


def describe_page(page: ChangePage, member: Member) -> dict[str, Any]:
    return {
        "changes": page.changes,
        "cursor": page.cursor.seal(member),
        "hasMore": page.has_more,
        "balances": page.balances,
    }


def describe_digest(digest: Digest, member: Member) -> dict[str, Any]:
    return {"cursor": digest.cursor.seal(member), "kinds": digest.kinds}
