"""Card notifications: parsed only, or taken in as pending entries."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from card_alerts.result import ParseResult
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from core.errors import NotFoundError
from ledger.card_notifications.processing import (
    Action,
    IncomingNotification,
    parse_notification,
    process_notification,
)
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entry_list import get_entry_payload
from ledger.models import Wallet
from ledger.ownership import OwnedViewSet
from ledger.serializers.card_notifications import (
    NotificationOutcomeSerializer,
    NotificationRequestSerializer,
    ParsedNotificationSerializer,
    ParseNotificationRequestSerializer,
    parsed_notification_payload,
)


class NotificationViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(
        request=NotificationRequestSerializer,
        responses={
            200: NotificationOutcomeSerializer,
            201: NotificationOutcomeSerializer,
        },
    )
    def create(self, request: Request) -> Response:
        """Make a pending entry of a payment, once; 201 where one was made."""
        received = to_incoming_notification(
            validate_body(NotificationRequestSerializer, request)
        )
        outcome = process_notification(self.member, received, timezone.now())
        is_new = outcome.action is Action.CREATED
        return Response(
            {
                "action": outcome.action,
                "reason": outcome.reason,
                "entry": self._find_entry(outcome.entry_id),
                "parsed": self._describe(outcome.parsed, received.wallet),
            },
            status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
        )

    @extend_schema(
        request=ParseNotificationRequestSerializer,
        responses=ParsedNotificationSerializer,
    )
    def parse(self, request: Request) -> Response:
        """What a text says, and the card that it is of; nothing is stored."""
        received = to_incoming_notification(
            validate_body(ParseNotificationRequestSerializer, request)
        )
        return Response(self._describe(parse_notification(received), None))

    def _describe(self, parsed: ParseResult, given: Wallet | None) -> dict[str, Any]:
        told = parsed.kind is not None
        wallet = match_wallet(self.member, parsed, given) if told else None
        return parsed_notification_payload(parsed, wallet)

    def _find_entry(self, entry_id: int | None) -> dict[str, Any] | None:
        """The entry, unless another request has deleted it since."""
        try:
            return get_entry_payload(self.member, entry_id) if entry_id else None
        except NotFoundError:
            return None


def to_incoming_notification(body: dict[str, Any]) -> IncomingNotification:
    return IncomingNotification(
        text=body["text"],
        received_at=body["received_at"] or timezone.now(),
        sender=body["sender"] or "",
        wallet=body.get("wallet"),
    )
