"""Purchases and the store's notifications in Django admin, to look at."""

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.models import Member
from billing.models import Purchase, StoreNotification
from core.admin import DEFERRED_MEMBER_FIELDS, NewestInline, ReadOnlyAdmin


class PurchaseInline(NewestInline):
    """A member's purchases, on the member's page."""

    model = Purchase
    verbose_name_plural = "newest purchases"
    readonly_fields = (
        "order_id",
        "product_id",
        "store",
        "purchased_at",
        "expires_at",
        "auto_renew",
        "counts",
    )
    fields = readonly_fields


@admin.register(Purchase)
class PurchaseAdmin(ReadOnlyAdmin):
    """Found by the store's order id; the token stays out of sight."""

    list_display = ["order_id", "member", "product_id", "store", "expires_at", "counts"]
    list_filter = ["auto_renew", "counts"]
    list_select_related = ["member"]
    search_fields = ["order_id"]  # shows the field; `get_search_results` searches
    search_help_text = "A whole order id or login id."
    ordering = ["-id"]
    fields = [
        ("member", "store"),
        "order_id",
        ("product_id", "state"),
        ("purchased_at", "expires_at"),
        ("auto_renew", "counts", "acknowledged"),
        "replaced_at",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Purchase]:
        rows: QuerySet[Purchase] = super().get_queryset(request)
        return rows.defer(*DEFERRED_MEMBER_FIELDS)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Purchase], search_term: str
    ) -> tuple[QuerySet[Purchase], bool]:
        """By what has an index, whatever the number of purchases."""
        term = search_term.strip()
        if not term:
            return queryset, False
        members = Member.objects.filter(login_id__iexact=term).values_list("pk")
        found = Q(order_id=term) | Q(member__in=[pk for (pk,) in members])
        return queryset.filter(found), False


@admin.register(StoreNotification)
class StoreNotificationAdmin(ReadOnlyAdmin):
    list_display = ["received_at", "kind", "outcome", "handled_at", "attempts"]
    list_filter = ["outcome"]
    search_fields = ["message_id__exact"]
    search_help_text = "A whole message id."
    ordering = ["-id"]
    fields = [
        "message_id",
        ("received_at", "handled_at"),
        ("kind", "package"),
        ("outcome", "attempts", "retry_at"),
        "body",
    ]
