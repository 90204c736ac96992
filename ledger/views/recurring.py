"""Recurring transactions."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body
from core.api.openapi import page_of
from core.api.pagination import PageQuery, cut_page, page_body, read_page
from core.api.permissions import IsPremium
from ledger import recurring
from ledger.entry_list import read_entry
from ledger.ownership import OwnedViewSet
from ledger.serializers.entries import EntryBody
from ledger.serializers.recurring import (
    OccurrenceBody,
    RecurringBody,
    describe_occurrence,
    describe_rule,
)


class RecurringViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(responses=RecurringBody(many=True))
    def list(self, request: Request) -> Response:
        rules = recurring.list_rules(self.member)
        return Response([describe_rule(rule) for rule in rules])

    @extend_schema(request=RecurringBody, responses={201: RecurringBody})
    def create(self, request: Request) -> Response:
        """It starts at the first due date that is not before today."""
        body = read_body(RecurringBody, request)
        rule = recurring.create_rule(self.member, body, timezone.localdate())
        return Response(describe_rule(rule), status=status.HTTP_201_CREATED)

    @extend_schema(responses=RecurringBody)
    def retrieve(self, request: Request, rule_id: int) -> Response:
        return Response(describe_rule(recurring.find_rule(self.member, rule_id)))

    @extend_schema(request=RecurringBody, responses=RecurringBody)
    def update(self, request: Request, rule_id: int) -> Response:
        return self._change(request, rule_id, partial=False)

    @extend_schema(request=RecurringBody, responses=RecurringBody)
    def partial_update(self, request: Request, rule_id: int) -> Response:
        return self._change(request, rule_id, partial=True)

    def _change(self, request: Request, rule_id: int, *, partial: bool) -> Response:
        recurring.find_rule(self.member, rule_id)
        body = read_body(RecurringBody, request, partial=partial)
        rule = recurring.change_rule(self.member, rule_id, body, timezone.now())
        return Response(describe_rule(rule))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, rule_id: int) -> Response:
        """The entries that it booked stay."""
        recurring.delete_rule(self.member, rule_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={201: EntryBody})
    def run(self, request: Request, rule_id: int) -> Response:
        """Book the next due date now, also of a rule that is off; `nextDate` moves."""
        entry_id = recurring.run_now(self.member, rule_id, timezone.now())
        body = read_entry(self.member, entry_id)
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[PageQuery], responses=page_of(OccurrenceBody))
    def occurrences(self, request: Request, rule_id: int) -> Response:
        """What became of each due date, newest first."""
        page = read_page(request)
        rows = recurring.list_occurrences(self.member, rule_id)
        count, found = cut_page(rows, page)
        body = [describe_occurrence(occurrence) for occurrence in found]
        return Response(page_body(request, page, count, body))
