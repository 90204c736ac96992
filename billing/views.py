"""Products, purchases, the subscription, and what the store pushes."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.models import Member
from billing import store_notifications, subscriptions
from billing.products import PRODUCTS
from billing.pubsub_auth import check_push
from billing.serializers import (
    AppliedBody,
    ProductBody,
    PurchaseBody,
    PushBody,
    ReceivedBody,
    SubscriptionBody,
    describe_product,
    describe_subscription,
)
from core.api.fields import read_body
from core.api.parsers import RawParser
from core.api.permissions import AllowAny, IsMember


class ProductsView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=ProductBody(many=True))
    def get(self, request: Request) -> Response:
        """The subscription products."""
        return Response([describe_product(product) for product in PRODUCTS])


class VerifyView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=PurchaseBody, responses=AppliedBody)
    def post(self, request: Request) -> Response:
        """Verify a purchase of the store and apply it once.

        It extends the plan from the later of now and its expiry by a calendar month
        or year, or to the expiry that the store names. A plan without an end keeps
        having none. 400 `PURCHASE_INVALID`, 409 `PURCHASE_ALREADY_USED`, and 502
        `PROVIDER_UNAVAILABLE` when the store does not answer.
        """
        body = read_body(PurchaseBody, request)
        verified = subscriptions.verify_purchase(
            member_of(request), body["product_id"], body["purchase_token"]
        )
        answer = describe_subscription(verified.member, timezone.now())
        return Response(answer | {"applied": verified.applied})


class SubscriptionView(APIView):
    permission_classes = [IsMember]

    @extend_schema(responses=SubscriptionBody)
    def get(self, request: Request) -> Response:
        """The plan, its expiry, the next payment and auto-renew."""
        return answer_with(subscriptions.read_subscription(member_of(request)))


class CancelView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionBody)
    def post(self, request: Request) -> Response:
        """Stop auto-renew; the plan stays until its expiry.

        Without a subscription nothing happens. 502 `PROVIDER_UNAVAILABLE`, and
        nothing has changed, when the store has to be told and does not answer.
        """
        return answer_with(subscriptions.cancel(member_of(request)))


class ResumeView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionBody)
    def post(self, request: Request) -> Response:
        """Resume auto-renew while the subscription runs.

        404 without a running subscription. Where the store decides, as Google Play
        does, the member resumes there, and this takes over what it says.
        """
        return answer_with(subscriptions.resume(member_of(request)))


class RestoreView(APIView):
    permission_classes = [IsMember]

    @extend_schema(request=None, responses=SubscriptionBody)
    def post(self, request: Request) -> Response:
        """Restore the membership from the most recent payment.

        Gives back its expiry if that lies ahead and the plan does not reach further
        already; 404 without a payment.
        """
        return answer_with(subscriptions.restore(member_of(request)))


class NotificationView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    parser_classes = [RawParser]

    @extend_schema(
        request={"application/json": PushBody}, responses=ReceivedBody, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Receive a real-time notification of the store.

        Kept once for each message id; a body that cannot be read is kept too. Where a
        push audience is set up, 401 without Google's token for it.
        """
        check_push(request.META.get("HTTP_AUTHORIZATION", ""))
        body: object = request.data  # {} where there is none
        store_notifications.take_in(body if isinstance(body, bytes) else b"")
        return Response({"received": True})


def answer_with(member: Member) -> Response:
    return Response(describe_subscription(member, timezone.now()))
