"""Card notifications: parse them, and create pending entries from them."""

from contextlib import suppress
from typing import Any

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
)
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from core.api.token_scopes import ScopePair, TokenScope
from core.errors import (
    DuplicateError,
    LimitReachedError,
    NotFoundError,
    ProviderUnavailableError,
)
from ledger.base.ownership import OwnedViewSet
from ledger.entries.listing import get_entry_payload
from ledger.entry_shape import MAX_SHAPE_BYTES
from ledger.notifications import processing
from ledger.notifications.booking_texts import book_text
from ledger.notifications.plan import Action, Outcome, merge_outcomes
from ledger.notifications.serializers import (
    BookRequestSerializer,
    MessageOutcomeSerializer,
    NotificationOutcomeSerializer,
    NotificationRequestSerializer,
    NotificationSettingsSerializer,
    ParsedNotificationSerializer,
    ParseNotificationRequestSerializer,
    UnsureTextSerializer,
    certainty_payload,
    parsed_message_payload,
    parsed_notification_payload,
    unsure_text_payload,
)
from ledger.notifications.unsure import list_texts, would_be_payload
from ledger.notifications.wallets import CARD_KINDS, KnownWallet, load_wallets


class CardNotificationViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = ScopePair(
        TokenScope.LEDGER_READ,
        TokenScope.LEDGER_WRITE,
        by_action={
            "process_notification": TokenScope.NOTIFICATIONS_WRITE,
            "parse_notification": TokenScope.NOTIFICATIONS_WRITE,
        },
    )
    schema_tag = "Card notifications"
    # A text is known by itself, and each message of it is a transaction.
    keyless_actions = frozenset({"process_notification", "parse_notification"})
    # The text, each character escaped.
    body_limits = {
        "process_notification": 2**16,
        "parse_notification": 2**16,
        "book_unsure_text": MAX_SHAPE_BYTES,
    }
    raises = {
        "process_notification": [LimitReachedError],
        "book_unsure_text": [
            LimitReachedError,
            DuplicateError,
            ProviderUnavailableError,
        ],
    }

    @extend_schema(
        request=NotificationRequestSerializer,
        responses={
            200: NotificationOutcomeSerializer,
            201: NotificationOutcomeSerializer,
        },
        creates=CreatedItem("entry-detail", ("entry", "id")),
    )
    @action(detail=False, methods=["post"], url_path="notification")
    def process_notification(self, request: Request) -> Response:
        """Create a pending entry from a card notification.

        201 if an entry was created. A payment is recorded once: a repeated
        notification, or that of another channel, returns the existing entry with 200.
        Of several messages in a text each is processed by itself.
        """
        now, body = (
            timezone.now(),
            validate_body(NotificationRequestSerializer, request),
        )
        outcomes, errors = [], []
        for message in processing.read_messages(self.member, now, **body):
            try:
                outcomes.append(processing.process_message(self.member, message, now))
            except Exception as error:
                # The others are processed first. Sent again, they are duplicates.
                errors.append(error)
        if errors:
            raise errors[0]
        results = [self._result_payload(each) for each in merge_outcomes(outcomes)]
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
            **certainty_payload(
                outcome.parsed, outcome.parsed.would_be if outcome.would_be else None
            ),
            "textId": outcome.text_id,
            "wouldBe": outcome.would_be
            and would_be_payload(outcome.would_be, self._load_cards()),
        }

    def _load_cards(self) -> list[KnownWallet]:
        return load_wallets(self.member, CARD_KINDS)

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(UnsureTextSerializer),
    )
    @action(detail=False, url_path="notification/unsure")
    def list_unsure_texts(self, request: Request) -> Response:
        """List texts that may be payments.

        Those that were ignored in the last 30 days and not booked, newest first; at
        most 200 are kept.
        """
        page = get_page_request(request)
        count, found = list_texts(self.member, page, timezone.now())
        cards = self._load_cards() if found else []
        results = [unsure_text_payload(each, cards) for each in found]
        return Response(page_payload(request, page, count, results))

    @extend_schema(
        request=BookRequestSerializer,
        responses={201: MessageOutcomeSerializer},
        creates=CreatedItem("entry-detail", ("entry", "id")),
    )
    @action(detail=False, methods=["post"], url_path="notification/<int:text_id>/book")
    def book_unsure_text(self, request: Request, text_id: int) -> Response:
        """Make an entry of a text that was ignored.

        The entry is pending, and further texts of its layout are payments. 409
        `DUPLICATE` the second time, and where another text has announced the payment.
        """
        body = validate_body(BookRequestSerializer, request, partial=True)
        outcome = book_text(
            self.member, text_id, body.get("corrections") or {}, timezone.now()
        )
        if outcome.action is Action.DUPLICATE:
            # The text is answered: it is not listed any more.
            raise DuplicateError
        return Response(self._result_payload(outcome), status.HTTP_201_CREATED)

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
        body = validate_body(ParseNotificationRequestSerializer, request)
        messages = processing.read_messages(self.member, timezone.now(), **body)
        outcomes = [processing.parse_message(self.member, each) for each in messages]
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
            processing.set_captures_bank_texts(
                self.member, changes["capture_bank_texts"]
            )
        return self._settings_response()

    def _settings_response(self) -> Response:
        is_on = processing.captures_bank_texts(self.member)
        return Response({"captureBankTexts": is_on})
