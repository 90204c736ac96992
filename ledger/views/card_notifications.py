"""Card notifications: parsed only, or taken in as pending entries."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from card_alerts.result import Parsed
from core.api.fields import read_body
from core.api.permissions import IsPremium
from core.errors import NotFound
from ledger.card_notifications.processing import (
    Action,
    Received,
    read_notification,
    take_in,
)
from ledger.card_notifications.wallet_matching import match_wallet
from ledger.entry_list import read_entry
from ledger.models import Wallet
from ledger.ownership import OwnedViewSet
from ledger.serializers.card_notifications import (
    NotificationBody,
    OutcomeBody,
    ParseBody,
    ParsedBody,
    describe_parsed,
)


class NotificationViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(
        request=NotificationBody, responses={200: OutcomeBody, 201: OutcomeBody}
    )
    def create(self, request: Request) -> Response:
        """Make a pending entry of a payment, once; 201 where one was made."""
        received = received_from(read_body(NotificationBody, request))
        outcome = take_in(self.member, received, timezone.now())
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

    @extend_schema(request=ParseBody, responses=ParsedBody)
    def parse(self, request: Request) -> Response:
        """What a text says, and the card that it is of; nothing is stored."""
        received = received_from(read_body(ParseBody, request))
        return Response(self._describe(read_notification(received), None))

    def _describe(self, parsed: Parsed, given: Wallet | None) -> dict[str, Any]:
        told = parsed.kind is not None
        wallet = match_wallet(self.member, parsed, given) if told else None
        return describe_parsed(parsed, wallet)

    def _find_entry(self, entry_id: int | None) -> dict[str, Any] | None:
        """The entry, unless another request has deleted it since."""
        try:
            return read_entry(self.member, entry_id) if entry_id else None
        except NotFound:
            return None


def received_from(body: dict[str, Any]) -> Received:
    return Received(
        text=body["text"],
        received_at=body["received_at"] or timezone.now(),
        sender=body["sender"] or "",
        wallet=body.get("wallet"),
    )
