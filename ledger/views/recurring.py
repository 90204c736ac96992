"""Recurring transactions."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from ledger import recurring
from ledger.entry_list import get_entry_payload
from ledger.ownership import OwnedViewSet
from ledger.serializers.entries import EntrySerializer
from ledger.serializers.recurring import (
    OccurrenceSerializer,
    RecurringRuleSerializer,
    occurrence_payload,
    recurring_rule_payload,
)


class RecurringRuleViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=RecurringRuleSerializer(many=True))
    def list(self, request: Request) -> Response:
        rules = recurring.list_rules(self.member)
        return Response([recurring_rule_payload(rule) for rule in rules])

    @extend_schema(
        request=RecurringRuleSerializer, responses={201: RecurringRuleSerializer}
    )
    def create(self, request: Request) -> Response:
        """It starts at the first due date that is not before today."""
        body = validate_body(RecurringRuleSerializer, request)
        rule = recurring.create_rule(self.member, body, timezone.localdate())
        return Response(recurring_rule_payload(rule), status=status.HTTP_201_CREATED)

    @extend_schema(responses=RecurringRuleSerializer)
    def retrieve(self, request: Request, rule_id: int) -> Response:
        return Response(
            recurring_rule_payload(recurring.get_rule(self.member, rule_id))
        )

    @extend_schema(request=RecurringRuleSerializer, responses=RecurringRuleSerializer)
    def update(self, request: Request, rule_id: int) -> Response:
        return self._change(request, rule_id, partial=False)

    @extend_schema(request=RecurringRuleSerializer, responses=RecurringRuleSerializer)
    def partial_update(self, request: Request, rule_id: int) -> Response:
        return self._change(request, rule_id, partial=True)

    def _change(self, request: Request, rule_id: int, *, partial: bool) -> Response:
        recurring.get_rule(self.member, rule_id)
        body = validate_body(RecurringRuleSerializer, request, partial=partial)
        rule = recurring.update_rule(self.member, rule_id, body, timezone.now())
        return Response(recurring_rule_payload(rule))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, rule_id: int) -> Response:
        """The entries that it booked stay."""
        recurring.delete_rule(self.member, rule_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={201: EntrySerializer})
    def run(self, request: Request, rule_id: int) -> Response:
        """Book the next due date now, also of a rule that is off; `nextDate` moves."""
        entry_id = recurring.run_now(self.member, rule_id, timezone.now())
        body = get_entry_payload(self.member, entry_id)
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(OccurrenceSerializer),
    )
    def occurrences(self, request: Request, rule_id: int) -> Response:
        """What became of each due date, newest first."""
        page = get_page_request(request)
        rows = recurring.list_occurrences(self.member, rule_id)
        count, found = paginate_queryset(rows, page)
        body = [occurrence_payload(occurrence) for occurrence in found]
        return Response(page_payload(request, page, count, body))
