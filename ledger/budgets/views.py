"""Budgets and expected incomes."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.serializers import validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.errors import DuplicateError, LimitReachedError
from ledger.base.month_fields import (
    MonthQuerySerializer,
    SpreadMonthQuerySerializer,
    resolve_month,
    spread_payload,
)
from ledger.base.ownership import OwnedModelViewSet
from ledger.budgets import budgets
from ledger.budgets.serializers import (
    BudgetChartSerializer,
    BudgetIncomeSerializer,
    BudgetSerializer,
    CopyBudgetsRequestSerializer,
    CopyBudgetsResultSerializer,
    MonthlyBudgetStatusSerializer,
    monthly_budget_status_payload,
)
from ledger.models import Budget
from ledger.periods import Month


@extend_schema_view(
    list=extend_schema(
        summary="List the budgets of a month",
        description="In the order of their categories.",
        parameters=[MonthQuerySerializer],
    ),
    create=extend_schema(
        description="A category has one budget per month: 409 `DUPLICATE` if it exists."
    ),
)
class BudgetViewSet(OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Budgets"
    raises = {
        "create": [DuplicateError, LimitReachedError],
        "update": [DuplicateError, LimitReachedError],
    }
    versioned_actions = OwnedModelViewSet.versioned_actions | {
        *("get_budget_income", "set_budget_income")
    }
    guarded_actions = OwnedModelViewSet.guarded_actions | {"set_budget_income"}
    queryset = Budget.objects.select_related("category")
    serializer_class = BudgetSerializer
    lookup_url_kwarg = "budget_id"

    def list_objects(self) -> Iterable[Any]:
        return budgets.list_budgets(self.member, self._get_month())

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        body = serializer.validated_data
        month = Month(body["year"], body["month"])
        serializer.instance = budgets.create_budget(
            self.member, body["category"], month, body["amount"]
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = budgets.update_budget(
            self.member, self.object_id, serializer.validated_data
        )

    def perform_destroy(self, object_id: int) -> None:
        budgets.delete_budget(self.member, object_id)

    @extend_schema(
        request=CopyBudgetsRequestSerializer, responses=CopyBudgetsResultSerializer
    )
    @action(detail=False, methods=["post"], url_path="copy")
    def copy_budgets(self, request: Request) -> Response:
        """Copy the budgets of a month to another month.

        Budgets of the same category are overwritten.
        """
        body = validate_body(CopyBudgetsRequestSerializer, request)
        created, overwritten = budgets.copy_budgets(
            self.member,
            Month(body["from_year"], body["from_month"]),
            Month(body["to_year"], body["to_month"]),
        )
        return Response({"created": created, "overwritten": overwritten})

    @extend_schema(
        parameters=[SpreadMonthQuerySerializer], responses=MonthlyBudgetStatusSerializer
    )
    @action(detail=False, url_path="status")
    def get_budget_status(self, request: Request) -> Response:
        """Get the budget status of a month.

        Spending against each budget, the total, and the month's income.
        """
        query = validate_query(SpreadMonthQuerySerializer, request)
        month, more = resolve_month(query), spread_payload(query)
        status = budgets.get_budget_status(self.member, month, spread=bool(more))
        return Response(monthly_budget_status_payload(month, status) | more)

    @extend_schema(
        parameters=[SpreadMonthQuerySerializer], responses=BudgetChartSerializer
    )
    @action(detail=False, url_path="chart")
    def get_budget_chart(self, request: Request) -> Response:
        """Get the budget chart of a month.

        Budgeted and spent amounts, cumulative by day.
        """
        query = validate_query(SpreadMonthQuerySerializer, request)
        month, more = resolve_month(query), spread_payload(query)
        chart = budgets.get_budget_chart(self.member, month, spread=bool(more))
        days = [
            {"date": day, "budgeted": budgeted, "spent": spent}
            for day, budgeted, spent in chart
        ]
        answer = {"year": month.year, "month": month.month, "days": days}
        return Response(answer | more)

    @extend_schema(parameters=[MonthQuerySerializer], responses=BudgetIncomeSerializer)
    @action(detail=False, url_path="income")
    def get_budget_income(self, request: Request) -> Response:
        """Get the expected income of a month.

        0 if none is set.
        """
        return self._income_response(self._get_month())

    @extend_schema(request=BudgetIncomeSerializer, responses=BudgetIncomeSerializer)
    @get_budget_income.mapping.put
    def set_budget_income(self, request: Request) -> Response:
        """Set the expected income of a month.

        Replaces the amount set before; 0 removes it.
        """
        body = validate_body(BudgetIncomeSerializer, request)
        month = Month(body["year"], body["month"])
        budgets.set_expected_income(self.member, month, body["amount"])
        return self._income_response(month)

    def _income_response(self, month: Month) -> Response:
        row = budgets.find_expected_income(self.member, month)
        return Response(
            {
                "year": month.year,
                "month": month.month,
                "amount": row.amount if row else 0,
                "version": row.version if row else None,
            }
        )

    def read_current(self) -> Any:
        if self.action != "set_budget_income":
            return super().read_current()
        # The body names the row.
        body = validate_body(BudgetIncomeSerializer, self.request)
        return self._income_response(Month(body["year"], body["month"])).data

    def _get_month(self) -> Month:
        return resolve_month(validate_query(MonthQuerySerializer, self.request))
