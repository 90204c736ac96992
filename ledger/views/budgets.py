"""Budgets of a month."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.permissions import IsPremium
from core.api.serializers import validate_body, validate_query
from ledger import budgets
from ledger.budgets import Month
from ledger.ownership import OwnedViewSet
from ledger.serializers.budgets import (
    BudgetChartSerializer,
    BudgetIncomeSerializer,
    BudgetSerializer,
    CopyBudgetsRequestSerializer,
    CopyBudgetsResultSerializer,
    MonthlyBudgetStatusSerializer,
    budget_payload,
    monthly_budget_status_payload,
)
from ledger.serializers.periods import MonthQuerySerializer, resolve_month


class BudgetViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(
        parameters=[MonthQuerySerializer], responses=BudgetSerializer(many=True)
    )
    def list(self, request: Request) -> Response:
        """The budgets of one month, in the order of their categories."""
        rows = budgets.list_budgets(self.member, self._read_month(request))
        return Response([budget_payload(budget) for budget in rows])

    @extend_schema(request=BudgetSerializer, responses={201: BudgetSerializer})
    def create(self, request: Request) -> Response:
        """One budget for each category and month; another one is 409."""
        body = validate_body(BudgetSerializer, request)
        month = Month(body["year"], body["month"])
        budget = budgets.create_budget(
            self.member, body["category"], month, body["amount"]
        )
        return Response(budget_payload(budget), status=status.HTTP_201_CREATED)

    @extend_schema(responses=BudgetSerializer)
    def retrieve(self, request: Request, budget_id: int) -> Response:
        return Response(budget_payload(budgets.get_budget(self.member, budget_id)))

    @extend_schema(request=BudgetSerializer, responses=BudgetSerializer)
    def update(self, request: Request, budget_id: int) -> Response:
        return self._change(request, budget_id, partial=False)

    @extend_schema(request=BudgetSerializer, responses=BudgetSerializer)
    def partial_update(self, request: Request, budget_id: int) -> Response:
        return self._change(request, budget_id, partial=True)

    def _change(self, request: Request, budget_id: int, *, partial: bool) -> Response:
        budgets.get_budget(self.member, budget_id)
        body = validate_body(BudgetSerializer, request, partial=partial)
        budget = budgets.update_budget(self.member, budget_id, body)
        return Response(budget_payload(budget))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, budget_id: int) -> Response:
        budgets.delete_budget(self.member, budget_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=CopyBudgetsRequestSerializer, responses=CopyBudgetsResultSerializer
    )
    def copy(self, request: Request) -> Response:
        """Copy a month's budgets; those of the same category are overwritten."""
        body = validate_body(CopyBudgetsRequestSerializer, request)
        created, overwritten = budgets.copy_budgets(
            self.member,
            Month(body["from_year"], body["from_month"]),
            Month(body["to_year"], body["to_month"]),
        )
        return Response({"created": created, "overwritten": overwritten})

    @extend_schema(
        parameters=[MonthQuerySerializer], responses=MonthlyBudgetStatusSerializer
    )
    def status(self, request: Request) -> Response:
        """Each budget beside what was spent, the total, and the month's income."""
        month = self._read_month(request)
        body = monthly_budget_status_payload(
            budgets.get_budget_status(self.member, month)
        )
        return Response({"year": month.year, "month": month.month} | body)

    @extend_schema(parameters=[MonthQuerySerializer], responses=BudgetChartSerializer)
    def chart(self, request: Request) -> Response:
        """Budgeted and spent up to each day of the month."""
        month = self._read_month(request)
        days = [
            {"date": day, "budgeted": budgeted, "spent": spent}
            for day, budgeted, spent in budgets.get_budget_chart(self.member, month)
        ]
        return Response({"year": month.year, "month": month.month, "days": days})

    @extend_schema(parameters=[MonthQuerySerializer], responses=BudgetIncomeSerializer)
    def income(self, request: Request) -> Response:
        """The income that is expected in the month; 0 where none was set."""
        return self._describe_income(self._read_month(request))

    @extend_schema(request=BudgetIncomeSerializer, responses=BudgetIncomeSerializer)
    def set_income(self, request: Request) -> Response:
        body = validate_body(BudgetIncomeSerializer, request)
        month = Month(body["year"], body["month"])
        budgets.set_expected_income(self.member, month, body["amount"])
        return self._describe_income(month)

    def _describe_income(self, month: Month) -> Response:
        amount = budgets.get_expected_income(self.member, month)
        return Response({"year": month.year, "month": month.month, "amount": amount})

    def _read_month(self, request: Request) -> Month:
        return resolve_month(validate_query(MonthQuerySerializer, request))
