"""Serializers of products, purchases and the subscription."""

from datetime import datetime
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.models import Member
from billing.models import TOKEN_LENGTH
from billing.products import BillingPeriod, Product
from core.api.fields import StrictCharField
from core.api.serializers import Serializer


class ProductSerializer(Serializer):
    """A subscription product; the price in the store applies."""

    id = serializers.CharField()
    name = serializers.CharField()
    period = serializers.ChoiceField(choices=[period.value for period in BillingPeriod])
    price = serializers.IntegerField(help_text="In whole units of the currency.")
    currency = serializers.CharField()


class PurchaseRequestSerializer(Serializer):
    product_id = StrictCharField(max_length=100)
    purchase_token = StrictCharField(
        max_length=TOKEN_LENGTH,
        trim_whitespace=False,
        help_text="The token that the store issued to the app.",
    )


class SubscriptionSerializer(Serializer):
    plan = serializers.ChoiceField(choices=Member.Plan.choices)
    plan_expires_at = serializers.DateTimeField(
        allow_null=True, help_text="Null for FREE and for a plan without expiry."
    )
    next_payment_at = serializers.DateTimeField(
        allow_null=True, help_text="Null without auto-renew."
    )
    auto_renew = serializers.BooleanField()
    product = serializers.CharField(allow_null=True)


class PurchaseVerificationSerializer(SubscriptionSerializer):
    applied = serializers.BooleanField(
        help_text="False if the purchase is already recorded for this member."
    )


class PushMessageRequestSerializer(Serializer):
    message_id = serializers.CharField()
    data = serializers.CharField(  # type: ignore[assignment]
        help_text="The notification, JSON in base64."
    )


class PushRequestSerializer(Serializer):
    """A push request of Google Cloud Pub/Sub; any other body is stored as well."""

    message = PushMessageRequestSerializer()
    subscription = serializers.CharField()


class PushReceivedSerializer(Serializer):
    received = serializers.BooleanField()


def product_payload(product: Product) -> dict[str, Any]:
    return {
        "id": product.id,
        "name": product.name,
        "period": product.period.value,
        "price": settings.PREMIUM_PRICES[product.id],
        "currency": settings.HOME_CURRENCY,
    }


def subscription_payload(member: Member, now: datetime) -> dict[str, Any]:
    """Return the payload of `SubscriptionSerializer`, with the plan at `now`."""
    renews = member.plan_auto_renew
    return {
        "plan": member.effective_plan(now),
        "planExpiresAt": member.plan_expires_at,
        "nextPaymentAt": member.plan_expires_at if renews else None,
        "autoRenew": renews,
        "product": member.plan_product or None,
    }
