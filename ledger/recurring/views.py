"""Recurring rules and occurrences."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsPremium
from core.api.token_scopes import LEDGER
from core.errors import InvalidFieldError, LimitReachedError
from ledger.base.ownership import OwnedModelViewSet
from ledger.entries.listing import get_entry_payload
from ledger.entries.serializers import EntrySerializer
from ledger.entry_shape import MAX_SHAPE_BYTES
from ledger.errors import LinesMismatchError
from ledger.models import RecurringRule
from ledger.models.base import OwnedQuerySet
from ledger.recurring import rules as recurring
from ledger.recurring.serializers import OccurrenceSerializer, RecurringRuleSerializer


@extend_schema_view(
    list=extend_schema(description="Oldest first, inactive ones too."),
    create=extend_schema(
        description="Starts at the first due date that is not in the past."
    ),
    destroy=extend_schema(description="Entries that the rule has booked are kept."),
)
class RecurringRuleViewSet(OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Recurring rules"
    body_limits = {"create": MAX_SHAPE_BYTES, "update": MAX_SHAPE_BYTES}
    raises = {
        "create": [LimitReachedError, LinesMismatchError],
        "update": [LimitReachedError, LinesMismatchError],
        "run_recurring_rule": [InvalidFieldError, LimitReachedError],
    }
    queryset = RecurringRule.objects.all()
    serializer_class = RecurringRuleSerializer
    lookup_url_kwarg = "rule_id"

    def get_queryset(self) -> OwnedQuerySet:
        return recurring.with_category_and_tags(super().get_queryset(), self.member)

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = recurring.create_rule(
            self.member, serializer.validated_data, timezone.localdate()
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = recurring.update_rule(
            self.member, self.object_id, serializer.validated_data, timezone.now()
        )

    def perform_destroy(self, object_id: int) -> None:
        recurring.delete_rule(self.member, object_id)

    @extend_schema(
        request=None,
        responses={201: EntrySerializer},
        creates=CreatedItem("entry-detail"),
    )
    @action(detail=True, methods=["post"], url_path="run")
    def run_recurring_rule(self, request: Request, rule_id: int) -> Response:
        """Book the next due date of a recurring rule now.

        Also if the rule is inactive. `nextDate` moves on by one due date.
        """
        entry_id = recurring.run_now(self.member, rule_id, timezone.now())
        entry = get_entry_payload(self.member, entry_id)
        return Response(entry, status=status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(OccurrenceSerializer),
    )
    @action(detail=True, url_path="occurrences")
    def list_occurrences(self, request: Request, rule_id: int) -> Response:
        """List the occurrences of a recurring rule.

        The result of each past due date, newest first.
        """
        page = get_page_request(request)
        rows = recurring.list_occurrences(self.member, rule_id)
        count, occurrences = paginate_queryset(rows, page)
        body = OccurrenceSerializer(occurrences, many=True).data
        return Response(page_payload(request, page, count, body))
