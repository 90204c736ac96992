"""Session and entry list as in a DRF tutorial."""

from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ledger.models import Entry, EntryTag, Wallet


class SessionView(APIView):
    def get(self, request: Request) -> Response:
        user: Any = request.user
        return Response(
            {
                "id": user.id,
                "loginId": user.login_id,
                "displayName": user.display_name,
                "role": user.role,
                "plan": user.plan,
                "planExpiresAt": user.plan_expires_at,
            }
        )


class BaselineWalletSerializer(serializers.ModelSerializer[Wallet]):
    class Meta:
        model = Wallet
        fields = ["id", "name"]


class BaselineEntrySerializer(serializers.ModelSerializer[Entry]):
    category = serializers.CharField(source="category.name", allow_null=True)
    wallet = BaselineWalletSerializer()
    tags = serializers.SerializerMethodField()

    class Meta:
        model = Entry
        fields = [
            *("id", "date", "type", "amount", "category", "wallet_id", "wallet"),
            *("memo", "tags", "currency", "original_amount", "exchange_rate"),
            *("installment_months", "pending", "created_at", "updated_at"),
        ]

    def get_tags(self, entry: Entry) -> list[str]:
        return [link.tag.name for link in entry.tag_links.all()]


class BaselinePagination(PageNumberPagination):
    page_size = 20
    page_size_query_param = "size"
    max_page_size = 100


class EntryListView(ListAPIView[Entry]):
    """Entry list with ModelSerializer, joined names, prefetched tags and COUNT(*)."""

    serializer_class = BaselineEntrySerializer
    pagination_class = BaselinePagination

    def get_queryset(self) -> Any:
        user: Any = self.request.user
        entries = Entry.objects.filter(member=user)
        return entries.select_related("category", "wallet").prefetch_related(
            "tag_links__tag"
        )


class EntryValuesView(APIView):
    """Entry list with `.values()` and orjson, and one more query for the tags."""

    def get(self, request: Request) -> HttpResponse:
        user: Any = request.user
        entries = Entry.objects.filter(member=user)
        size = int(request.query_params["size"])
        rows = list(
            entries.values(
                *("id", "date", "type", "amount", "category__name", "wallet_id"),
                *("wallet__name", "memo", "currency", "original_amount"),
                *("exchange_rate", "installment_months", "pending"),
                *("created_at", "updated_at"),
            )[:size]
        )
        links = EntryTag.objects.filter(entry_id__in=[row["id"] for row in rows])
        tags: dict[int, list[str]] = {}
        for entry_id, name in links.values_list("entry_id", "tag__name"):
            tags.setdefault(entry_id, []).append(name)
        for row in rows:
            row["tags"] = tags.get(row["id"], [])
        body = {"count": entries.count(), "results": rows}
        return HttpResponse(
            orjson.dumps(body, default=str), content_type="application/json"
        )
