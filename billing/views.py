"""Products, purchases and the subscription."""

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import InvalidIdTokenError
from accounts.models import Member
from accounts.sessions.authentication import current_member
from billing import store_notifications, subscriptions
from billing.account_tokens import get_account_token
from billing.errors import InvalidPurchaseError, PurchaseAlreadyUsedError
from billing.products import PRODUCTS
from billing.pubsub_auth import verify_push
from billing.serializers import (
    AccountTokenSerializer,
    ProductSerializer,
    PurchaseRequestSerializer,
    PurchaseVerificationSerializer,
    PushReceivedSerializer,
    PushRequestSerializer,
    SubscriptionSerializer,
    product_payload,
    subscription_payload,
)
from core.api.operations import extend_schema
from core.api.parsers import RawBodyParser
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.api.views import APIView, ViewSet
from core.client_ip import get_client_ip, rate_limit_key
from core.errors import (
    DomainError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitedError,
)


class VerifyPurchaseView(APIView):
    permission_classes = [IsMember]
    schema_tag = "Billing"
    raises = {
        "post": [
            InvalidPurchaseError,
            PurchaseAlreadyUsedError,
            ProviderUnavailableError,
        ]
    }

    @extend_schema(
        operation_id="verifyPurchase",
        request=PurchaseRequestSerializer,
        responses=PurchaseVerificationSerializer,
    )
    def post(self, request: Request) -> Response:
        """Verify a store purchase.

        A purchase is applied once. It extends the plan by a calendar month or year
        from the later of now and the present expiry, or to the expiry that the store
        reports. A plan without expiry is not changed. Errors: 400 `PURCHASE_INVALID`,
        409 `PURCHASE_ALREADY_USED`, and 502 `PROVIDER_UNAVAILABLE` if the store cannot
        be reached.
        """
        body = validate_body(PurchaseRequestSerializer, request)
        member, is_applied = subscriptions.verify_purchase(
            current_member(request), body["product_id"], body["purchase_token"]
        )
        payload = subscription_payload(member, timezone.now())
        return Response(payload | {"applied": is_applied})


class BillingViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Billing"
    raises = {
        "cancel_subscription": [ProviderUnavailableError],
        "resume_subscription": [NotFoundError, ProviderUnavailableError],
        "restore_subscription": [NotFoundError],
    }

    @extend_schema(responses=ProductSerializer(many=True))
    @action(detail=False, url_path="products")
    def list_products(self, request: Request) -> Response:
        """List the subscription products.

        The monthly and the yearly one; the store charges the price that it shows.
        """
        return Response([product_payload(product) for product in PRODUCTS])

    @extend_schema(responses=SubscriptionSerializer)
    @action(detail=False, url_path="subscription")
    def get_subscription(self, request: Request) -> Response:
        """Get the subscription.

        The plan, its expiry, the next payment and auto-renew.
        """
        return subscription_response(
            subscriptions.reload_member(current_member(request))
        )

    @extend_schema(request=None, responses=SubscriptionSerializer)
    @action(detail=False, methods=["post"], url_path="cancel")
    def cancel_subscription(self, request: Request) -> Response:
        """Cancel auto-renew.

        The plan stays until its expiry. Without a subscription nothing changes. If the
        store must be notified and cannot be reached, nothing changes and the error is
        502 `PROVIDER_UNAVAILABLE`.
        """
        return subscription_response(subscriptions.cancel(current_member(request)))

    @extend_schema(request=None, responses=SubscriptionSerializer)
    @action(detail=False, methods=["post"], url_path="resume")
    def resume_subscription(self, request: Request) -> Response:
        """Resume auto-renew.

        404 without a running subscription. With Google Play the member resumes in the
        store; this request then reads the state from the store.
        """
        return subscription_response(subscriptions.resume(current_member(request)))

    @extend_schema(request=None, responses=SubscriptionSerializer)
    @action(detail=False, methods=["post"], url_path="restore")
    def restore_subscription(self, request: Request) -> Response:
        """Restore the membership from the most recent payment.

        The plan gets the expiry of that payment if it is in the future and later than
        the present one. 404 without a payment.
        """
        return subscription_response(
            subscriptions.restore_membership(current_member(request))
        )

    @extend_schema(responses=AccountTokenSerializer)
    @action(detail=False, url_path="account-token")
    def get_account_token(self, request: Request) -> Response:
        """Get what the app passes to the store with a purchase.

        It names the member, and no other account can apply the purchase then; one that
        is made or renewed outside of the app finds its member by it. It never changes.
        """
        token = get_account_token(current_member(request))
        return Response({"googlePlay": token.digest, "appStore": token.uuid})


class PushParser(RawBodyParser):
    max_bytes = store_notifications.MAX_BODY_BYTES


class StoreNotificationView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Billing"
    body_limits = {"post": store_notifications.MAX_BODY_BYTES}
    raises = {
        "post": [
            DomainError,
            InvalidIdTokenError,
            RateLimitedError,
            ProviderUnavailableError,
        ]
    }
    parser_classes = [PushParser]

    @extend_schema(
        operation_id="receiveStoreNotification",
        request={"application/json": PushRequestSerializer},
        responses=PushReceivedSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Receive a real-time developer notification.

        Each message id is stored once; a body that is no JSON is stored as well, JSON
        that is no object is refused.
        If a push audience is configured, a request without a valid Google token for it
        is 401; without one, 120 a minute and address are accepted, and 300 in all. 429
        `RATE_LIMITED` also while too many wait to be processed.
        """
        address = rate_limit_key(get_client_ip(request))
        verify_push(request.META.get("HTTP_AUTHORIZATION", ""), address)
        # {} if the request has no body.
        body: object = request.data
        store_notifications.save_notification(body if isinstance(body, bytes) else b"")
        return Response({"received": True})


def subscription_response(member: Member) -> Response:
    return Response(subscription_payload(member, timezone.now()))
