"""Purchases and the store's notifications in the Django admin, read-only."""

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.timesince import timeuntil

from accounts.models import Member
from billing.models import Purchase, StoreNotification
from billing.unpresented_purchases import SEARCH_DURATION
from core.admin import DEFERRED_MEMBER_FIELDS, NewestInline, ReadOnlyAdmin


class PurchaseInline(NewestInline):
    """The newest purchases of a member, on the member's page."""

    model = Purchase
    verbose_name_plural = "newest purchases"
    readonly_fields = (
        "order_id",
        "product_id",
        "store",
        "purchased_at",
        "expires_at",
        "auto_renew",
        "is_active",
    )
    fields = readonly_fields


@admin.register(Purchase)
class PurchaseAdmin(ReadOnlyAdmin):
    """Purchases by order id or member.

    The purchase token is not shown: whoever knows it can act on the purchase.
    """

    list_display = [
        "order_id",
        "member",
        "product_id",
        "store",
        "expires_at",
        "is_active",
    ]
    list_filter = ["auto_renew", "is_active"]
    list_select_related = ["member"]
    # Makes the search field appear; `get_search_results` does the search.
    search_fields = ["order_id"]
    search_help_text = "Complete order id or login id."
    ordering = ["-id"]
    fields = [
        ("member", "store"),
        "order_id",
        ("product_id", "state"),
        ("purchased_at", "expires_at"),
        ("auto_renew", "is_active", "is_acknowledged"),
        "replaced_at",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Purchase]:
        purchases: QuerySet[Purchase] = super().get_queryset(request)
        return purchases.defer(*DEFERRED_MEMBER_FIELDS)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Purchase], search_term: str
    ) -> tuple[QuerySet[Purchase], bool]:
        """Search only by what has an index."""
        term = search_term.strip()
        if not term:
            return queryset, False
        members = Member.objects.with_login_id(term).values_list("pk")
        matches = Q(order_id=term) | Q(member__in=[pk for (pk,) in members])
        return queryset.filter(matches), False


@admin.register(StoreNotification)
class StoreNotificationAdmin(ReadOnlyAdmin):
    """Notifications of the store as received, with their outcome."""

    list_display = [
        *("received_at", "kind", "outcome", "time_left"),
        *("processed_at", "attempts"),
    ]
    list_filter = ["outcome"]
    search_fields = ["message_id__exact"]
    search_help_text = "Complete message id."
    ordering = ["-id"]
    fields = [
        "message_id",
        ("received_at", "processed_at"),
        ("kind", "package"),
        ("outcome", "attempts", "next_attempt_at", "time_left"),
        "body",
    ]
    readonly_fields = ["time_left"]

    @admin.display(description="time left to find the owner")
    def time_left(self, notification: StoreNotification) -> str | None:
        is_waiting = notification.outcome == StoreNotification.Outcome.NO_OWNER
        if not is_waiting or notification.processed_at is not None:
            return None
        return timeuntil(notification.received_at + SEARCH_DURATION)
