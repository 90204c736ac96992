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
from core.api.token_scopes import LEDGER, ScopePair, TokenScope
from core.errors import LimitReachedError, NotFoundError
from ledger import taught_layouts
from ledger.card_notifications import bank_bookings, processing
from ledger.card_notifications.outcomes import Action, IncomingNotification, Outcome
from ledger.entry_list import get_entry_payload
from ledger.errors import MovingError
from ledger.ownership import OwnedViewSet
from ledger.serializers.card_notifications import (
    NotificationOutcomeSerializer,
    NotificationRequestSerializer,
    NotificationSettingsSerializer,
    ParsedNotificationSerializer,
    ParseNotificationRequestSerializer,
    TaughtLayoutSerializer,
    parsed_message_payload,
    parsed_notification_payload,
)


class CardNotificationViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    # What an automation of a phone needs, and nothing else of the ledger.
    token_scopes = ScopePair(
        TokenScope.LEDGER_READ,
        TokenScope.LEDGER_WRITE,
        by_action={
            "process_notification": TokenScope.NOTIFICATIONS_WRITE,
            "parse_notification": TokenScope.NOTIFICATIONS_WRITE,
        },
    )
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
        notification, or that of another channel, returns the existing entry with 200.
        Of several messages in a text each is processed by itself.
        """
        notification = to_incoming_notification(
            validate_body(NotificationRequestSerializer, request)
        )
        outcomes = processing.process_notification(
            self.member, notification, timezone.now()
        )
        results = [self._result_payload(outcome) for outcome in outcomes]
        created = [each for each in results if each["action"] is Action.CREATED]
        own = created[-1] if created else results[-1]
        return Response(
            {**own, "results": results},
            status.HTTP_201_CREATED if created else status.HTTP_200_OK,
        )

    def _result_payload(self, outcome: Outcome) -> dict[str, Any]:
        entry = None
        if outcome.entry_id is not None:
            # Another request may have deleted it in the meantime.
            with suppress(NotFoundError):
                entry = get_entry_payload(self.member, outcome.entry_id)
        return {
            "action": outcome.action,
            "reason": outcome.reason,
            "entry": entry,
            "merged": outcome.merged,
            "parsed": parsed_message_payload(outcome),
        }

    @extend_schema(
        request=ParseNotificationRequestSerializer,
        responses=ParsedNotificationSerializer,
    )
    @action(detail=False, methods=["post"], url_path="parse")
    def parse_notification(self, request: Request) -> Response:
        """Parse a card notification.

        Returns the fields found in each message of the text, and the wallet of the
        card. Nothing is stored.
        """
        notification = to_incoming_notification(
            validate_body(ParseNotificationRequestSerializer, request)
        )
        outcomes = processing.parse_notification(self.member, notification)
        return Response(parsed_notification_payload(outcomes))

    @extend_schema(responses=NotificationSettingsSerializer)
    @action(detail=False, url_path="notification-settings")
    def get_notification_settings(self, request: Request) -> Response:
        """Get the settings of the intake.

        Bank texts are ignored unless they are switched on.
        """
        return self._settings_response()

    @extend_schema(
        request=NotificationSettingsSerializer,
        responses=NotificationSettingsSerializer,
    )
    @get_notification_settings.mapping.patch
    def update_notification_settings(self, request: Request) -> Response:
        """Change the settings of the intake.

        A missing field is left as it is.
        """
        changes = validate_body(NotificationSettingsSerializer, request, partial=True)
        if "capture_bank_texts" in changes:
            bank_bookings.set_captures_bank_texts(
                self.member, changes["capture_bank_texts"]
            )
        return self._settings_response()

    def _settings_response(self) -> Response:
        is_on = bank_bookings.captures_bank_texts(self.member)
        return Response({"captureBankTexts": is_on})


class TaughtLayoutViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Card notifications"
    lookup_url_kwarg = "layout_id"
    lookup_value_converter = "int"

    @extend_schema(responses=TaughtLayoutSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the layouts of texts that corrections of entries taught.

        Newest first.
        """
        return Response(
            [
                {
                    "id": layout.pk,
                    "sender": layout.sender,
                    "sample": taught_layouts.mask_sample(layout),
                    "slots": taught_layouts.layout_slots(layout),
                    "uses": layout.uses,
                    "createdAt": layout.created_at,
                }
                for layout in taught_layouts.list_layouts(self.member)
            ]
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, layout_id: int) -> Response:
        """Forget a layout.

        Texts are then read without it.
        """
        taught_layouts.delete_layout(self.member, layout_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


def to_incoming_notification(body: dict[str, Any]) -> IncomingNotification:
    return IncomingNotification(
        text=body["text"],
        received_at=body["received_at"] or timezone.now(),
        sender=body["sender"] or "",
        wallet=body.get("wallet"),
        title=body["title"] or "",
    )
