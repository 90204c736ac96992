"""Budgets of a month."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body, read_query
from core.api.permissions import IsPremium
from ledger import budgets
from ledger.budgets import Month
from ledger.ownership import OwnedViewSet
from ledger.serializers.budgets import (
    BudgetBody,
    BudgetChartBody,
    BudgetStatusBody,
    CopiedBody,
    CopyBody,
    IncomeBody,
    describe_budget,
    describe_status,
)
from ledger.serializers.periods import MonthQuery, month_from


class BudgetViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(parameters=[MonthQuery], responses=BudgetBody(many=True))
    def list(self, request: Request) -> Response:
        """The budgets of one month, in the order of their categories."""
        rows = budgets.list_budgets(self.member, self._read_month(request))
        return Response([describe_budget(budget) for budget in rows])

    @extend_schema(request=BudgetBody, responses={201: BudgetBody})
    def create(self, request: Request) -> Response:
        """One budget for each category and month; another one is 409."""
        body = read_body(BudgetBody, request)
        month = Month(body["year"], body["month"])
        budget = budgets.create_budget(
            self.member, body["category"], month, body["amount"]
        )
        return Response(describe_budget(budget), status=status.HTTP_201_CREATED)

    @extend_schema(responses=BudgetBody)
    def retrieve(self, request: Request, budget_id: int) -> Response:
        return Response(describe_budget(budgets.find_budget(self.member, budget_id)))

    @extend_schema(request=BudgetBody, responses=BudgetBody)
    def update(self, request: Request, budget_id: int) -> Response:
        return self._change(request, budget_id, partial=False)

    @extend_schema(request=BudgetBody, responses=BudgetBody)
    def partial_update(self, request: Request, budget_id: int) -> Response:
        return self._change(request, budget_id, partial=True)

    def _change(self, request: Request, budget_id: int, *, partial: bool) -> Response:
        budgets.find_budget(self.member, budget_id)
        body = read_body(BudgetBody, request, partial=partial)
        budget = budgets.change_budget(self.member, budget_id, body)
        return Response(describe_budget(budget))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, budget_id: int) -> Response:
        budgets.delete_budget(self.member, budget_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=CopyBody, responses=CopiedBody)
    def copy(self, request: Request) -> Response:
        """Copy a month's budgets; those of the same category are overwritten."""
        body = read_body(CopyBody, request)
        created, overwritten = budgets.copy_budgets(
            self.member,
            Month(body["from_year"], body["from_month"]),
            Month(body["to_year"], body["to_month"]),
        )
        return Response({"created": created, "overwritten": overwritten})

    @extend_schema(parameters=[MonthQuery], responses=BudgetStatusBody)
    def status(self, request: Request) -> Response:
        """Each budget beside what was spent, the total, and the month's income."""
        month = self._read_month(request)
        body = describe_status(budgets.read_status(self.member, month))
        return Response({"year": month.year, "month": month.month} | body)

    @extend_schema(parameters=[MonthQuery], responses=BudgetChartBody)
    def chart(self, request: Request) -> Response:
        """Budgeted and spent up to each day of the month."""
        month = self._read_month(request)
        days = [
            {"date": day, "budgeted": budgeted, "spent": spent}
            for day, budgeted, spent in budgets.read_chart(self.member, month)
        ]
        return Response({"year": month.year, "month": month.month, "days": days})

    @extend_schema(parameters=[MonthQuery], responses=IncomeBody)
    def income(self, request: Request) -> Response:
        """The income that is expected in the month; 0 where none was set."""
        return self._describe_income(self._read_month(request))

    @extend_schema(request=IncomeBody, responses=IncomeBody)
    def set_income(self, request: Request) -> Response:
        body = read_body(IncomeBody, request)
        month = Month(body["year"], body["month"])
        budgets.set_income(self.member, month, body["amount"])
        return self._describe_income(month)

    def _describe_income(self, month: Month) -> Response:
        amount = budgets.read_income(self.member, month)
        return Response({"year": month.year, "month": month.month, "amount": amount})

    def _read_month(self, request: Request) -> Month:
        return month_from(read_query(MonthQuery, request))
