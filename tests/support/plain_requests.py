"""Requests of a member who uses nothing but income and expenses, and their answers.

The answers were recorded before entries had lines. Whatever is added since, such a
member gets them again: same values in the same order, besides added fields.
"""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.alert_texts import (
    APPROVAL,
    CANCELLATION,
    FOREIGN,
    INSTALLMENT,
    PARTIAL,
    UNTIMED,
)
from tests.support.clients import JSONClient

RECORDED = Path(__file__).parents[1] / "samples" / "plain_answers.json"
# Bank texts of a withdrawal to oneself and of a card bill, and a card statement.
DEPOSIT = "[Web발신]\n[KB]11/20 09:12\n123456**567\n홍길동\n입금\n50,000\n잔액1,050,000"
WITHDRAWAL = (
    "[Web발신]\n[KB]11/20 10:12\n123456**567\n홍길동\n출금\n30,000\n잔액1,020,000"
)
STATEMENT = (
    "[Web발신]\n[신한카드] 홍*동님 12월 결제금액 안내\n결제금액 512,300원\n결제일 12/14"
)
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


class Step(NamedTuple):
    """A request; its name also stands for the id of what it makes."""

    name: str
    method: str
    path: str
    body: Any = None


def entry(type_: str, day: str, amount: int, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "date": f"2026-{day}", "amount": amount} | fields


NOVEMBER = "year=2026&month=11"
WRITES = [
    Step(
        "통장",
        "POST",
        "/wallets",
        {"name": "통장", "kind": "BANK", "openingBalance": 50_000},
    ),
    Step(
        "카드",
        "POST",
        "/wallets",
        {"name": "신한카드", "kind": "CARD", "institution": "신한"},
    ),
    Step("현금", "POST", "/wallets", {"name": "현금", "kind": "CASH"}),
    Step(
        "집",
        "POST",
        "/wallets",
        {"name": "집", "kind": "OTHER", "manualValuation": True, "currentValue": 9_000},
    ),
    Step("식비", "POST", "/categories", {"type": "expense", "name": "식비"}),
    Step(
        "점심",
        "POST",
        "/categories",
        {"type": "expense", "name": "점심", "parentId": "{식비}"},
    ),
    Step("급여", "POST", "/categories", {"type": "income", "name": "급여"}),
    Step("같은 이름", "POST", "/categories", {"type": "income", "name": "식비"}),
    Step("회사", "POST", "/tags", {"name": "회사"}),
    Step(
        "점심값",
        "POST",
        "/entries",
        entry(
            "expense",
            "11-02",
            12_000,
            category="점심",
            walletId="{통장}",
            tags=["회사", "새 태그"],
            memo="김밥천국",
        ),
    ),
    Step(
        "월급",
        "POST",
        "/entries",
        entry("income", "11-02", 3_000_000, category="급여", walletId="{통장}"),
    ),
    Step("홀로", "POST", "/entries", entry("expense", "11-03", 1)),
    Step(
        "새 분류", "POST", "/entries", entry("expense", "10-31", 700, category="교통")
    ),
    Step(
        "할부",
        "POST",
        "/entries",
        entry("expense", "11-05", 90_000, walletId="{카드}", installmentMonths=3),
    ),
    Step(
        "외화",
        "POST",
        "/entries",
        entry("expense", "11-06", 0)
        | {
            "amount": None,
            "currency": "USD",
            "originalAmount": "12.34",
            "exchangeRate": "1380.5",
            "walletId": "{집}",
        },
    ),
    Step(
        "미래", "POST", "/entries", entry("income", "12-31", 5_000, walletId="{현금}")
    ),
    Step(
        "바뀐 종류", "POST", "/entries", entry("expense", "11-07", 40, category="식비")
    ),
    Step("바꿈", "PATCH", "/entries/{바뀐 종류}", {"type": "income"}),
    Step(
        "다시 바꿈",
        "PUT",
        "/entries/{바뀐 종류}",
        entry("expense", "11-08", 41, category="식비", walletId="{현금}"),
    ),
    Step(
        "수입으로",
        "PUT",
        "/entries/{바뀐 종류}",
        entry("income", "11-08", 42, category="식비", walletId="{현금}"),
    ),
    Step("지움", "DELETE", "/entries/{홀로}"),
    Step("승인", "POST", "/entries/notification", {"text": APPROVAL}),
    Step("중복", "POST", "/entries/notification", {"text": APPROVAL}),
    Step("확인", "POST", "/entries/{승인}/confirm", {"tags": ["회사"]}),
    Step("취소", "POST", "/entries/notification", {"text": UNTIMED}),
    Step("부분 취소", "POST", "/entries/notification", {"text": PARTIAL}),
    Step("할부 승인", "POST", "/entries/notification", {"text": INSTALLMENT}),
    Step("입금", "POST", "/entries/notification", {"text": DEPOSIT}),
    Step("출금", "POST", "/entries/notification", {"text": WITHDRAWAL}),
    Step("명세서", "POST", "/entries/notification", {"text": STATEMENT}),
    Step("승인 취소", "POST", "/entries/notification", {"text": CANCELLATION}),
    Step("해석", "POST", "/entries/parse", {"text": FOREIGN}),
    Step(
        "빠른 입력",
        "POST",
        "/quick-entries",
        {
            "name": "커피",
            "type": "expense",
            "amount": 4_500,
            "category": "식비",
            "walletId": "{카드}",
            "tags": ["회사"],
        },
    ),
    Step(
        "반복",
        "POST",
        "/recurring",
        {
            "name": "월세",
            "type": "expense",
            "amount": 500_000,
            "category": "주거",
            "walletId": "{통장}",
            "frequency": "MONTHLY",
            "anchorDate": "2026-11-30",
        },
    ),
    Step("실행", "POST", "/recurring/{반복}/run"),
    Step(
        "예산",
        "POST",
        "/budgets",
        {"category": "식비", "year": 2026, "month": 11, "amount": 300_000},
    ),
    Step(
        "예산 없는 분류",
        "POST",
        "/budgets",
        {"category": "주거", "year": 2026, "month": 11, "amount": 400_000},
    ),
    Step("예상", "PUT", "/budgets/income", {"year": 2026, "month": 11, "amount": 7}),
    Step(
        "예산 복사",
        "POST",
        "/budgets/copy",
        {"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 12},
    ),
    # Refused
    Step("금액 0", "POST", "/entries", entry("expense", "11-02", 0)),
    Step("없는 종류", "POST", "/entries", entry("gift", "11-02", 1)),
    Step("없는 지갑", "POST", "/entries", entry("expense", "11-02", 1, walletId=10**9)),
    Step(
        "현금 할부",
        "POST",
        "/entries",
        entry("expense", "11-02", 1, walletId="{현금}", installmentMonths=2),
    ),
    Step("쓰는 지갑", "DELETE", "/wallets/{통장}"),
    Step("쓰는 분류", "DELETE", "/categories/{점심}"),
    Step("큰 분류", "DELETE", "/categories/{식비}"),
    Step("있는 이름", "POST", "/categories", {"type": "income", "name": "급여"}),
]
READS = [
    Step(path, "GET", path)
    for path in (
        "/wallets",
        "/wallets/{통장}",
        "/categories",
        "/categories?type=income",
        "/tags",
        "/entries",
        "/entries?size=3&page=2",
        f"/entries?{NOVEMBER}&type=income",
        "/entries?category=식비",
        "/entries?walletId={통장}&minAmount=100",
        "/entries?tag=회사",
        "/entries?keyword=김밥",
        "/entries?pending=true",
        "/entries/{점심값}",
        "/entries/{외화}",
        "/entries/pending/count",
        "/quick-entries",
        "/recurring",
        f"/budgets?{NOVEMBER}",
        f"/budgets/status?{NOVEMBER}",
        f"/budgets/chart?{NOVEMBER}",
        f"/budgets/income?{NOVEMBER}",
        f"/statistics/month?{NOVEMBER}",
        "/statistics/month?year=2026&month=12",
        "/statistics/year?year=2026",
        "/statistics/range?from=2026-10-30&to=2026-11-20&groupBy=week",
        "/statistics/range?from=2026-10-30&to=2026-11-04",
        "/networth",
        "/networth/trend",
        "/networth/trend?unit=WEEK&weeks=5",
    )
]
MOVES = [
    Step("지갑 옮김", "DELETE", "/wallets/{현금}?moveTo={통장}"),
    Step("분류 옮김", "DELETE", "/categories/{점심}?moveTo={식비}"),
]
AFTER_MOVES = [
    Step(f"after: {path}", "GET", path)
    for path in (
        "/wallets",
        "/categories",
        "/entries",
        f"/budgets/status?{NOVEMBER}",
        f"/statistics/month?{NOVEMBER}",
        "/networth/trend?months=2",
    )
]


class Answer(NamedTuple):
    status: int
    body: Any
    queries: int


def answer_all(client: JSONClient) -> dict[str, Answer]:
    """Send all requests in their order, and return the answers by the step's name."""
    ids: dict[str, int] = {}
    answers = {}
    for step in (*WRITES, *READS, *MOVES, *AFTER_MOVES):
        path = "/api/account" + _PLACEHOLDER.sub(
            lambda found: str(ids[found[1]]), step.path
        )
        with CaptureQueriesContext(
            connection,
        ) as queries:
            response = client.send(step.method, path, fill(step.body, ids))
        answers[step.name] = Answer(
            response.status_code, mask(response.data), len(queries)
        )
        made = (response.data or {}) if isinstance(response.data, dict) else {}
        made = made.get("entry") or made
        if "id" in made:
            ids[step.name] = made["id"]
    return answers


def fill(value: Any, ids: dict[str, int]) -> Any:
    """Put the ids in the place of the names of steps."""
    if isinstance(value, dict):
        return {name: fill(each, ids) for name, each in value.items()}
    if isinstance(value, str) and (found := _PLACEHOLDER.fullmatch(value)):
        return ids[found[1]]
    return value


def mask(value: Any, name: str = "") -> Any:
    """Leave out ids, and the addresses of pages; exact decimals become texts."""
    if isinstance(value, dict):
        return {key: mask(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [mask(each, name) for each in value]
    if isinstance(value, Decimal):
        return str(value)
    if (name == "id" or name.endswith("Id")) and value is not None:
        return "#"
    return value


def load_recorded() -> dict[str, Answer]:
    rows = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {name: Answer(*row) for name, row in rows.items()}
