"""Session and entries as in a DRF tutorial."""

from typing import Any

from django.contrib import auth
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Member
from ledger.models import Entry, Wallet


def log_in(request: HttpRequest, member_id: int) -> HttpResponse:
    auth.login(request, Member.objects.get(pk=member_id))
    return HttpResponse()


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
                "consentsDue": [],
            }
        )


class Pagination(PageNumberPagination):
    page_size = 20
    page_size_query_param = "size"
    max_page_size = 100


class WalletSerializer(serializers.ModelSerializer[Wallet]):
    class Meta:
        model = Wallet
        fields = ["id", "name"]


class EntrySerializer(serializers.ModelSerializer[Entry]):
    category = serializers.CharField(source="category.name", allow_null=True)
    wallet = WalletSerializer()
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


class EntryListView(ListAPIView[Entry]):
    serializer_class = EntrySerializer
    pagination_class = Pagination

    def get_queryset(self) -> Any:
        user: Any = self.request.user
        entries = Entry.objects.filter(member=user)
        return entries.select_related("category", "wallet").prefetch_related(
            "tag_links__tag"
        )


urlpatterns = [
    path("login/<int:member_id>", log_in),
    path("session", SessionView.as_view()),
    path("entries", EntryListView.as_view()),
]
