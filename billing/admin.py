"""Purchases and notifications in Django admin, read-only."""

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timeuntil
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from billing.models import Purchase, StoreNotification
from billing.products import MONTHLY, YEARLY, format_amount
from billing.store_notifications import describe_body
from billing.stores import TEST_STORE
from billing.unpresented_purchases import SEARCH_DURATION
from core.admin.base import DEFERRED_MEMBER_FIELDS, NewestInline, ReadOnlyAdmin
from core.admin.columns import (
    Badges,
    Column,
    Text,
    badge_column,
    link_column,
    member_column,
    number_column,
    state_column,
    text_column,
    time_column,
)
from core.admin.filters import YES_NO, badge_filter, choice_filter

PRODUCTS: Badges = {
    MONTHLY.id: (_("Premium, monthly"), ""),
    YEARLY.id: (_("Premium, yearly"), ""),
}
STORES: Badges = {
    "google_play": (_("Google Play"), ""),
    TEST_STORE: (_("Test purchase"), "warn"),
}
# States in the words of Google Play.
STORE_STATES: Badges = {
    "ACTIVE": (_("Active"), "good"),
    "CANCELED": (_("Cancelled"), "warn"),
    "IN_GRACE_PERIOD": (_("Payment failed, grace period"), "warn"),
    "ON_HOLD": (_("On hold"), "bad"),
    "PAUSED": (_("Paused"), "warn"),
    "EXPIRED": (_("Expired"), ""),
    "PENDING": (_("Payment pending"), "warn"),
}
Outcome = StoreNotification.Outcome
OUTCOMES: Badges = {
    Outcome.PENDING: (_("Waiting"), "info"),
    Outcome.REFRESHED: (_("Purchase updated"), "good"),
    Outcome.ASSIGNED: (_("Purchase given to its owner"), "good"),
    Outcome.NO_OWNER: (_("No owner found"), "warn"),
    Outcome.UNKNOWN_PURCHASE: (_("Purchase not recorded"), "warn"),
    Outcome.OTHER_PACKAGE: (_("Of another app"), ""),
    Outcome.NO_SUBSCRIPTION: (_("No subscription"), ""),
    Outcome.REJECTED: (_("Belongs to another account"), "bad"),
}
YES_OR_NO: Badges = {True: (_("Yes"), ""), False: (_("No"), "")}


def list_states(purchase: Purchase) -> list[tuple[Text, str]]:
    now = timezone.now()
    states: list[tuple[Text, str]] = []
    if purchase.replaced_at is not None:
        states.append((_("Replaced"), ""))
    elif not purchase.is_active:
        states.append((_("Set aside by staff"), "warn"))
    elif purchase.expires_at <= now:
        label = _("Renewal is due") if purchase.auto_renew else _("Ended")
        states.append((label, "warn" if purchase.auto_renew else ""))
    elif purchase.auto_renew:
        states.append((_("Running"), "good"))
    else:
        states.append((_("Cancelled, still running"), "warn"))
    if not purchase.is_acknowledged:
        states.append((_("Not confirmed to the store"), "bad"))
    return states


ORDER = link_column(
    "order",
    _("Order"),
    "billing_purchase",
    lambda row: row.pk,
    lambda row: row.order_id,
)
ORDER_ID = text_column("order_id", _("Order"))
PRODUCT = badge_column("product", _("Product"), PRODUCTS, path="product_id")
STORE = badge_column("store", _("Store"), STORES)
STATE = state_column("state", _("State"), list_states)
BOUGHT = time_column("purchased_at", _("Bought"), order="purchased_at")
ENDS = time_column("expires_at", _("Ends"))
BUYER = member_column("member", _("Member"))


def describe_payment(purchase: Purchase) -> str:
    if purchase.paid_amount is None:
        return ""
    paid = format_amount(purchase.paid_amount, purchase.paid_currency)
    if purchase.is_paid_confirmed:
        return paid
    return gettext("{amount} (our price, the store has not said)").format(amount=paid)


def describe_refund(purchase: Purchase) -> str:
    if purchase.refunded_at is None:
        return ""
    if purchase.refunded_amount is None:
        return gettext("ended early by the store, which has not said how much")
    return format_amount(purchase.refunded_amount, purchase.paid_currency)


PAID = Column("paid", _("Paid"), describe_payment)
REFUND = Column("refund", _("Refunded"), describe_refund)
REFUNDED = time_column("refunded_at", _("Refunded on"))


class PurchaseInline(NewestInline):
    model = Purchase
    verbose_name_plural = _("plan history (newest purchases)")
    all_label = _("All purchases of the member")
    columns = [ORDER, PRODUCT, STATE, STORE, BOUGHT, ENDS]

    def get_all_query(self, obj: Member) -> str:
        return f"?q={obj.login_id}"


@admin.register(Purchase)
class PurchaseAdmin(ReadOnlyAdmin):
    """Purchases without their token, which is a credential."""

    list_display = [ORDER_ID, BUYER, PRODUCT, STATE, STORE, BOUGHT, ENDS]
    list_filter = [
        choice_filter("auto_renew", _("Renews itself"), YES_NO),
        choice_filter("is_active", _("Counts for the plan"), YES_NO),
    ]
    list_select_related = ["member"]
    # Django shows the field; `get_search_results` searches.
    search_fields = ["order_id"]
    search_help_text = _("Complete order number or login ID.")
    ordering = ["-id"]
    fields = [
        (BUYER, STORE, STATE),
        (ORDER_ID, PRODUCT),
        (BOUGHT, ENDS, time_column("replaced_at", _("Replaced"))),
        (PAID, REFUND, REFUNDED),
        (
            badge_column(
                "store_state", _("State in the store"), STORE_STATES, path="state"
            ),
            badge_column("auto_renew", _("Renews itself"), YES_OR_NO),
            badge_column("is_active", _("Counts for the plan"), YES_OR_NO),
        ),
        (
            time_column("acknowledged_at", _("Confirmed to the store")),
            time_column("checked_at", _("Last asked of the store")),
        ),
    ]
    export_columns = [*list_display, PAID, REFUND, REFUNDED]

    def get_object_name(self, row: Purchase) -> str:
        return gettext("Purchase {order}").format(order=row.order_id)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Purchase]:
        purchases: QuerySet[Purchase] = super().get_queryset(request)
        return purchases.defer(*DEFERRED_MEMBER_FIELDS)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Purchase], search_term: str
    ) -> tuple[QuerySet[Purchase], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        members = Member.objects.with_login_id(term).values_list("pk")
        matches = Q(order_id=term) | Q(member__in=[pk for (pk,) in members])
        return queryset.filter(matches), False


def get_time_left(notification: StoreNotification) -> str:
    is_waiting = notification.outcome == StoreNotification.Outcome.NO_OWNER
    if not is_waiting or notification.processed_at is not None:
        return ""
    return timeuntil(notification.received_at + SEARCH_DURATION)


KIND = text_column("kind", _("Kind"))
OUTCOME = badge_column("outcome", _("Outcome"), OUTCOMES)
TIME_LEFT = Column("time_left", _("Time left to find the owner"), get_time_left)
RECEIVED = time_column("received_at", _("Received"), order="received_at")
PROCESSED = time_column("processed_at", _("Processed"))
ATTEMPTS = number_column("attempts", _("Attempts"))


@admin.register(StoreNotification)
class StoreNotificationAdmin(ReadOnlyAdmin):
    list_display = [RECEIVED, KIND, OUTCOME, TIME_LEFT, PROCESSED, ATTEMPTS]
    list_filter = [badge_filter("outcome", _("Outcome"), OUTCOMES)]
    search_fields = ["message_id__exact"]
    search_help_text = _("Complete message number.")
    ordering = ["-id"]
    fields = [
        (text_column("message_id", _("Message")), text_column("package", _("App"))),
        (RECEIVED, PROCESSED, time_column("next_attempt_at", _("Next attempt"))),
        (KIND, OUTCOME, ATTEMPTS, TIME_LEFT),
        Column("body", _("Text"), describe_body),
    ]
    export_columns = [text_column("message_id", _("Message")), *list_display]

    def get_object_name(self, row: StoreNotification) -> str:
        return gettext("Notification {id}").format(id=row.pk)
