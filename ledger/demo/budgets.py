"""Rules, budgets and expected incomes."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from accounts.models import Member
from ledger.backup.columns import BudgetRow, LineRow, RecurringRow
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.demo.entries import start_date
from ledger.models import BudgetIncome, RecurringRule
from ledger.models.schedule import Frequency, Schedule
from ledger.periods import add_months
from ledger.recurring.occurrences import process_due_dates
from ledger.recurring.rules import update_rule


@dataclass(frozen=True, slots=True)
class DemoRule:
    """A recurring rule that runs from the first day of the ledger.

    `resumed_days_ago` ends a pause. For a loan, `amount` is the interest.
    """

    name: str
    category: str
    wallet: str
    amount: int
    anchor_day: int
    type: str = "expense"
    frequency: Frequency = Frequency.MONTHLY
    tags: tuple[str, ...] = ()
    duration_months: int | None = None
    paused_days_ago: int | None = None
    resumed_days_ago: int | None = None
    loan: str | None = None
    principal: int = 0


RULES = (
    DemoRule("실손보험", "보험", "국민은행 주거래", 87_400, 5, tags=("고정비",)),
    DemoRule("휴대폰 요금", "통신비", "신한카드", 62_000, 10, tags=("고정비",)),
    DemoRule("음악 구독", "구독", "신한카드", 10_900, 12),
    DemoRule(
        "전세대출 상환",
        "대출이자",
        "국민은행 주거래",
        286_000,
        31,
        type="transfer",
        loan="전세자금대출",
        principal=250_000,
    ),
    DemoRule("용돈", "용돈", "현금", 30_000, 6, frequency=Frequency.WEEKLY),
    DemoRule("자동차세", "세금", "신한카드", 310_000, 16, frequency=Frequency.YEARLY),
    DemoRule("예금 이자", "이자", "비상금", 14_200, 28, type="income"),
    DemoRule("정수기 렌탈", "가구/가전", "신한카드", 27_900, 15, duration_months=24),
    DemoRule(
        "헬스장",
        "운동",
        "신한카드",
        55_000,
        3,
        paused_days_ago=200,
        resumed_days_ago=100,
    ),
    DemoRule("신문 구독", "구독", "신한카드", 20_000, 2, paused_days_ago=80),
)

BUDGET_MONTHS = 6
DEMO_BUDGETS = {
    "식비": 1_400_000,
    "배달": 180_000,
    "교통": 450_000,
    "생활": 350_000,
    "통신비": 65_000,
    "구독": 60_000,
    "여행": 300_000,
}
EXPECTED_INCOME = 3_850_000


def make_rules(today: date) -> list[RecurringRow]:
    first = start_date(today)
    rows = []
    for rule in RULES:
        # January has all 31 days for an anchor.
        anchor = date(first.year, 1, rule.anchor_day)
        end = None
        if rule.duration_months is not None:
            end = date(*add_months(first.year, first.month, rule.duration_months), 1)
        schedule = Schedule(rule.frequency, 1, anchor, end)
        row = RecurringRow(
            name=rule.name,
            type=rule.type,
            amount=rule.amount + rule.principal,
            category=None if rule.loan else rule.category,
            wallet=rule.wallet,
            memo=rule.name,
            tags=rule.tags,
            frequency=rule.frequency.value,
            anchor_date=anchor,
            end_date=end,
            next_date=schedule.first_due_date(first),
            key=rule.name if rule.loan else None,
        )
        rows.append(row)
    return rows


def make_rule_lines() -> list[LineRow]:
    return [
        line
        for rule in RULES
        if rule.loan
        for line in (
            LineRow(
                entry=rule.name, amount=rule.principal, wallet=rule.loan, memo="원금"
            ),
            LineRow(
                entry=rule.name, amount=rule.amount, category=rule.category, memo="이자"
            ),
        )
    ]


def process_rules(member: Member, now: datetime, today: date) -> int:
    rule_ids = dict(RecurringRule.objects.owned_by(member).values_list("name", "pk"))
    first = start_date(today)
    booked = 0
    for rule in RULES:
        rule_id = rule_ids[rule.name]
        if rule.paused_days_ago is not None:
            paused_since = timedelta(days=rule.paused_days_ago)
            booked += _book_until(member, rule_id, first, today - paused_since, now)
            update_rule(member, rule_id, {"active": False}, now - paused_since)
            if rule.resumed_days_ago is None:
                continue
            # Resuming skips the due dates of the pause.
            resumed_since = timedelta(days=rule.resumed_days_ago)
            update_rule(member, rule_id, {"active": True}, now - resumed_since)
        booked += _book_until(member, rule_id, first, today, now)
    return booked


@ledger_write
def _book_until(
    ledger: LockedLedger, rule_id: int, first: date, until: date, now: datetime
) -> int:
    rule = RecurringRule.objects.owned_by(ledger.member).get(pk=rule_id)
    return process_due_dates(ledger, [(rule, first)], until, now).booked


def make_budgets(today: date) -> list[BudgetRow]:
    return [
        BudgetRow(category=category, year=year, month=month, amount=amount)
        for year, month in _list_budget_months(today)
        for category, amount in DEMO_BUDGETS.items()
    ]


def create_expected_incomes(member: Member, today: date) -> None:
    BudgetIncome.objects.bulk_create(
        BudgetIncome(member=member, year=year, month=month, amount=EXPECTED_INCOME)
        for year, month in _list_budget_months(today)
    )


def _list_budget_months(today: date) -> list[tuple[int, int]]:
    return [
        add_months(today.year, today.month, offset)
        for offset in range(2 - BUDGET_MONTHS, 2)
    ]
