"""Wire shapes of products, purchases and the subscription."""

from datetime import datetime
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.models import Member
from billing.models import TOKEN_LENGTH
from billing.products import Period, Product
from core.api.fields import Serializer, Text


class ProductBody(Serializer):
    """A subscription product; the store charges its own price in the end."""

    id = serializers.CharField()
    name = serializers.CharField()
    period = serializers.ChoiceField(choices=[period.value for period in Period])
    price = serializers.IntegerField(help_text="In whole units of the currency.")
    currency = serializers.CharField()


class PurchaseBody(Serializer):
    product_id = Text(max_length=100)
    purchase_token = Text(
        max_length=TOKEN_LENGTH,
        trim_whitespace=False,
        help_text="As the store gave it to the app.",
    )


class SubscriptionBody(Serializer):
    plan = serializers.ChoiceField(choices=Member.Plan.choices)
    plan_expires_at = serializers.DateTimeField(
        allow_null=True, help_text="Null for FREE and for a plan without an end."
    )
    next_payment_at = serializers.DateTimeField(
        allow_null=True, help_text="Null without auto-renew."
    )
    auto_renew = serializers.BooleanField()
    product = serializers.CharField(allow_null=True)


class AppliedBody(SubscriptionBody):
    applied = serializers.BooleanField(
        help_text="False for a purchase that is recorded for this member already."
    )


class PushMessageBody(Serializer):
    message_id = serializers.CharField()
    data = serializers.CharField(  # type: ignore[assignment]
        help_text="The notification, JSON in base64."
    )


class PushBody(Serializer):
    """A push of Cloud Pub/Sub; any other body is kept as well."""

    message = PushMessageBody()
    subscription = serializers.CharField()


class ReceivedBody(Serializer):
    received = serializers.BooleanField()


def describe_product(product: Product) -> dict[str, Any]:
    return {
        "id": product.id,
        "name": product.name,
        "period": product.period.value,
        "price": settings.PREMIUM_PRICES[product.id],
        "currency": settings.HOME_CURRENCY,
    }


def describe_subscription(member: Member, now: datetime) -> dict[str, Any]:
    """`SubscriptionBody`: the plan that counts now, and what comes next."""
    renews = member.plan_auto_renew
    return {
        "plan": member.current_plan(now),
        "planExpiresAt": member.plan_expires_at,
        "nextPaymentAt": member.plan_expires_at if renews else None,
        "autoRenew": renews,
        "product": member.plan_product or None,
    }
