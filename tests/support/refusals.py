"""Bad transfers, lines and refunds, which must be refused and write nothing."""

import re
from typing import Any

from accounts.models import Member
from tests.support.factories import dump_rows_of
from tests.support.households import ENTRIES, Household, category_line
from tests.support.problems import assert_problem

MOST = 999_999_999_999
TWO = [category_line(60, "외식"), category_line(40, "교통")]
LINE_WALLET = r"lines\.\d+\.walletId"


class Refusals:
    """Sends what must be refused, and checks that nothing was written."""

    def __init__(self, household: Household, member: Member) -> None:
        self.household, self.member = household, member

    def send(self, method: str, path: str, body: Any, code: str, field: str) -> Any:
        before = dump_rows_of(self.member)
        response = self.household.client.send(
            method, path, self.household.resolve(body)
        )
        assert response.status_code == 400, (body, response.content)
        assert_problem(response, 400, code)
        fields = [error["field"] for error in response.data["errors"]]
        assert fields, response.data
        assert all(re.fullmatch(field, each) for each in fields), (body, fields)
        assert dump_rows_of(self.member) == before
        return response.data

    def post(self, body: Any, field: str, code: str = "VALIDATION_ERROR") -> Any:
        return self.send("POST", ENTRIES, body, code, field)

    def patch(
        self, entry: Any, body: Any, field: str, code: str = "VALIDATION_ERROR"
    ) -> Any:
        return self.send("PATCH", f"{ENTRIES}/{entry['id']}", body, code, field)


def expense(household: Household, **fields: Any) -> dict[str, Any]:
    return household.body("expense", 100, "카드", **fields)
