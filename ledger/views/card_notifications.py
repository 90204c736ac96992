"""Card notifications: parse them, and create pending entries from them."""

from contextlib import suppress
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from core.errors import NotFoundError
from ledger.card_notifications import processing
from ledger.card_notifications.processing import Action, IncomingNotification
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entry_list import get_entry_payload
from ledger.errors import LimitReachedError, MovingError
from ledger.ownership import OwnedViewSet
from ledger.serializers.card_notifications import (
    NotificationOutcomeSerializer,
    NotificationRequestSerializer,
    ParsedNotificationSerializer,
    ParseNotificationRequestSerializer,
    parsed_notification_payload,
)


class CardNotificationViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    schema_tag = "Card notifications"
    raises = {
        "process_notification": [MovingError, LimitReachedError],
    }

    @extend_schema(
        request=NotificationRequestSerializer,
        responses={
            200: NotificationOutcomeSerializer,
            201: NotificationOutcomeSerializer,
        },
    )
    @action(detail=False, methods=["post"], url_path="notification")
    def process_notification(self, request: Request) -> Response:
        """Create a pending entry from a card notification.

        201 if an entry was created. A payment is recorded once: a repeated
        notification returns the existing entry with 200.
        """
        notification = to_incoming_notification(
            validate_body(NotificationRequestSerializer, request)
        )
        outcome = processing.process_notification(
            self.member, notification, timezone.now()
        )
        entry = None
        if outcome.entry_id is not None:
            # Another request may have deleted it in the meantime.
            with suppress(NotFoundError):
                entry = get_entry_payload(self.member, outcome.entry_id)
        is_new = outcome.action is Action.CREATED
        return Response(
            {
                "action": outcome.action,
                "reason": outcome.reason,
                "entry": entry,
                "parsed": parsed_notification_payload(outcome.parsed, outcome.wallet),
            },
            status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
        )

    @extend_schema(
        request=ParseNotificationRequestSerializer,
        responses=ParsedNotificationSerializer,
    )
    @action(detail=False, methods=["post"], url_path="parse")
    def parse_notification(self, request: Request) -> Response:
        """Parse a card notification.

        Returns the fields found in the text, and the wallet of the card. Nothing is
        stored.
        """
        notification = to_incoming_notification(
            validate_body(ParseNotificationRequestSerializer, request)
        )
        parsed = processing.parse_notification(notification)
        wallet = match_wallet(self.member, parsed) if parsed.kind else None
        return Response(parsed_notification_payload(parsed, wallet))


def to_incoming_notification(body: dict[str, Any]) -> IncomingNotification:
    return IncomingNotification(
        text=body["text"],
        received_at=body["received_at"] or timezone.now(),
        sender=body["sender"] or "",
        wallet=body.get("wallet"),
    )
