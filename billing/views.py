"""Products, purchases, the subscription, and what the store pushes."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import current_member
from accounts.models import Member
from billing import store_notifications, subscriptions
from billing.products import PRODUCTS
from billing.pubsub_auth import verify_push_token
from billing.serializers import (
    ProductSerializer,
    PurchaseRequestSerializer,
    PurchaseVerificationSerializer,
    PushReceivedSerializer,
    PushRequestSerializer,
    SubscriptionSerializer,
    product_payload,
    subscription_payload,
)
from core.api.parsers import RawBodyParser
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body


class ProductsView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=ProductSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The subscription products."""
        return Response([product_payload(product) for product in PRODUCTS])


class VerifyPurchaseView(APIView):
    permission_classes = [IsMember]

    @extend_schema(
        request=PurchaseRequestSerializer, responses=PurchaseVerificationSerializer
    )
    def post(self, request: Request) -> Response:
        """Verify a purchase of the store and apply it once.

        It extends the plan from the later of now and its expiry by a calendar month
        or year, or to the expiry that the store names. A plan without an end keeps
        having none. 400 `PURCHASE_INVALID`, 409 `PURCHASE_ALREADY_USED`, and 502
        `PROVIDER_UNAVAILABLE` when the store does not answer.
        """
        body = validate_body(PurchaseRequestSerializer, request)
        verified = subscriptions.verify_purchase(
            current_member(request), body["product_id"], body["purchase_token"]
        )
        answer = subscription_payload(verified.member, timezone.now())
        return Response(answer | {"applied": verified.applied})


class SubscriptionView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=SubscriptionSerializer)
    def get(self, request: Request) -> Response:
        """The plan, its expiry, the next payment and auto-renew."""
        return subscription_response(
            subscriptions.reload_member(current_member(request))
        )


class CancelView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionSerializer)
    def post(self, request: Request) -> Response:
        """Stop auto-renew; the plan stays until its expiry.

        Without a subscription nothing happens. 502 `PROVIDER_UNAVAILABLE`, and
        nothing has changed, when the store has to be told and does not answer.
        """
        return subscription_response(subscriptions.cancel(current_member(request)))


class ResumeView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionSerializer)
    def post(self, request: Request) -> Response:
        """Resume auto-renew while the subscription runs.

        404 without a running subscription. Where the store decides, as Google Play
        does, the member resumes there, and this takes over what it says.
        """
        return subscription_response(subscriptions.resume(current_member(request)))


class RestoreView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionSerializer)
    def post(self, request: Request) -> Response:
        """Restore the membership from the most recent payment.

        Gives back its expiry if that lies ahead and the plan does not reach further
        already; 404 without a payment.
        """
        return subscription_response(
            subscriptions.restore_membership(current_member(request))
        )


class StoreNotificationView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    parser_classes = [RawBodyParser]

    @extend_schema(
        request={"application/json": PushRequestSerializer},
        responses=PushReceivedSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Receive a real-time notification of the store.

        Kept once for each message id; a body that cannot be read is kept too. Where a
        push audience is set up, 401 without Google's token for it.
        """
        verify_push_token(request.META.get("HTTP_AUTHORIZATION", ""))
        body: object = request.data  # {} where there is none
        store_notifications.save_notification(body if isinstance(body, bytes) else b"")
        return Response({"received": True})


def subscription_response(member: Member) -> Response:
    return Response(subscription_payload(member, timezone.now()))
