"""Serializers of products and subscriptions."""

from datetime import datetime
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.models import Member
from billing.models import HASH_LENGTH, TOKEN_LENGTH
from billing.products import PRODUCTS, BillingPeriod, Product
from core.api.fields import OpenTextField, StrictCharField
from core.api.serializers import Serializer

PRODUCT_IDS = [product.id for product in PRODUCTS]


class ProductSerializer(Serializer):
    """A subscription product; the price in the store applies."""

    id = OpenTextField(
        known_values=PRODUCT_IDS, help_text="The id of the product in the store."
    )
    name = serializers.CharField(help_text="Name of the product, in English.")
    period = serializers.ChoiceField(
        choices=[period.value for period in BillingPeriod],
        help_text="How often it is paid.",
    )
    price = serializers.IntegerField(help_text="In whole units of the currency.")
    currency = serializers.CharField(help_text="ISO 4217 code of the price.")


class PurchaseRequestSerializer(Serializer):
    product_id = OpenTextField(
        known_values=PRODUCT_IDS,
        max_length=100,
        help_text="The `id` of one of the products.",
    )
    purchase_token = StrictCharField(
        max_length=TOKEN_LENGTH,
        trim_whitespace=False,
        help_text="The token that the store issued to the app.",
    )


class SubscriptionSerializer(Serializer):
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        help_text="The effective plan: FREE after the expiry.",
    )
    plan_expires_at = serializers.DateTimeField(
        allow_null=True, help_text="Null for FREE and for a plan without expiry."
    )
    next_payment_at = serializers.DateTimeField(
        allow_null=True, help_text="Null without auto-renew."
    )
    auto_renew = serializers.BooleanField(
        help_text="Whether the store renews the subscription at `planExpiresAt`."
    )
    product = OpenTextField(
        known_values=PRODUCT_IDS,
        allow_null=True,
        help_text="The `id` of the product; null without a subscription.",
    )


class PurchaseVerificationSerializer(SubscriptionSerializer):
    applied = serializers.BooleanField(
        help_text="False if the purchase is already recorded for this member."
    )


class AccountTokenSerializer(Serializer):
    google_play = serializers.CharField(
        max_length=HASH_LENGTH,
        help_text="For `setObfuscatedAccountId` of Google Play: 64 hex digits.",
    )
    app_store = serializers.UUIDField(
        help_text="For `appAccountToken` of the App Store, a UUID."
    )


class PushMessageRequestSerializer(Serializer):
    message_id = serializers.CharField(
        help_text="Id of the message; a second one with the same id is not stored."
    )
    data = serializers.CharField(  # type: ignore[assignment]
        help_text="The notification, JSON in base64."
    )


class PushRequestSerializer(Serializer):
    """A push request of Google Cloud Pub/Sub; one that is no JSON is stored too."""

    message = PushMessageRequestSerializer(help_text="The message of the store.")
    subscription = serializers.CharField(help_text="Name of the Pub/Sub subscription.")


class PushReceivedSerializer(Serializer):
    received = serializers.BooleanField(help_text="Always true.")


def product_payload(product: Product) -> dict[str, Any]:
    return {
        "id": product.id,
        "name": product.name,
        "period": product.period.value,
        "price": settings.PREMIUM_PRICES[product.id],
        "currency": settings.HOME_CURRENCY,
    }


def subscription_payload(member: Member, now: datetime) -> dict[str, Any]:
    renews = member.plan_auto_renew
    return {
        "plan": member.effective_plan(now),
        "planExpiresAt": member.plan_expires_at,
        "nextPaymentAt": member.plan_expires_at if renews else None,
        "autoRenew": renews,
        "product": member.plan_product or None,
    }
