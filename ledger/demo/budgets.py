"""The plans of the demonstration household: recurring rules, budgets, income."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from accounts.models import Member
from ledger.categories import get_or_create_category
from ledger.demo.entries import start_date
from ledger.models import Budget, BudgetIncome, RecurringRule, Wallet
from ledger.models.base import EntryType
from ledger.occurrences import process_due_dates
from ledger.periods import add_months
from ledger.recurring import create_rule, update_rule


@dataclass(frozen=True, slots=True)
class DemoRule:
    """A recurring rule by names; `day` is that of its anchor.

    `months` is how long it runs, None without an end. `pause` is how many days ago it
    was switched off, and `back` on again, None for not yet.
    """

    name: str
    category: str
    wallet: str
    amount: int
    anchor_day: int
    type: str = "expense"
    frequency: str = "MONTHLY"
    tags: tuple[str, ...] = ()
    duration_months: int | None = None
    paused_days_ago: int | None = None
    resumed_days_ago: int | None = None


RULES = (
    DemoRule("실손보험", "보험", "국민은행 주거래", 87_400, 5, tags=("고정비",)),
    DemoRule("휴대폰 요금", "통신비", "신한카드", 62_000, 10, tags=("고정비",)),
    DemoRule("음악 구독", "구독", "신한카드", 10_900, 12),
    DemoRule("전세대출 이자", "대출이자", "국민은행 주거래", 286_000, 31),
    DemoRule("용돈", "용돈", "현금", 30_000, 6, frequency="WEEKLY"),
    DemoRule("자동차세", "세금", "신한카드", 310_000, 16, frequency="YEARLY"),
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
"""How many months have budgets, the current one last but for the next."""
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


def create_rules(
    member: Member, wallets: dict[str, Wallet], now: datetime, today: date
) -> int:
    """Rules since the books began, each with what it booked; how many entries."""
    return sum(
        _create_rule(member, rule, wallets[rule.wallet], now, today) for rule in RULES
    )


def _create_rule(
    member: Member, rule: DemoRule, wallet: Wallet, now: datetime, today: date
) -> int:
    first = start_date(today)
    rule_id = create_rule(member, _rule_values(rule, wallet, first), first).pk
    if rule.paused_days_ago is None:
        return _process_due_dates_until(rule_id, first, today, now)
    pause = timedelta(days=rule.paused_days_ago)
    booked = _process_due_dates_until(rule_id, first, today - pause, now)
    update_rule(member, rule_id, {"active": False}, now - pause)
    if rule.resumed_days_ago is None:
        return booked
    back = timedelta(days=rule.resumed_days_ago)
    update_rule(member, rule_id, {"active": True}, now - back)
    return booked + _process_due_dates_until(rule_id, first, today, now)


def _process_due_dates_until(
    rule_id: int, first: date, until: date, now: datetime
) -> int:
    row = RecurringRule.objects.get(pk=rule_id)
    return process_due_dates(row, first, until, now).booked


def _rule_values(rule: DemoRule, wallet: Wallet, first: date) -> dict[str, Any]:
    """As the body of a request has them; January has all 31 days."""
    end = None
    if rule.duration_months is not None:
        end = date(*add_months(first.year, first.month, rule.duration_months), 1)
    return {
        "name": rule.name,
        "type": rule.type,
        "amount": rule.amount,
        "category": rule.category,
        "wallet": wallet,
        "memo": rule.name,
        "tags": list(rule.tags),
        "frequency": rule.frequency,
        "interval": 1,
        "anchor_date": date(first.year, 1, rule.anchor_day),
        "end_date": end,
    }


def create_budgets(member: Member, today: date) -> int:
    """Budgets and the expected income of the last months and the next one."""
    categories = {
        name: get_or_create_category(member, EntryType.EXPENSE, name)
        for name in DEMO_BUDGETS
    }
    months = [
        add_months(today.year, today.month, offset)
        for offset in range(2 - BUDGET_MONTHS, 2)
    ]
    BudgetIncome.objects.bulk_create(
        BudgetIncome(member=member, year=year, month=month, amount=EXPECTED_INCOME)
        for year, month in months
    )
    budgets = Budget.objects.bulk_create(
        Budget(
            member=member,
            category=categories[name],
            year=year,
            month=month,
            amount=amount,
        )
        for year, month in months
        for name, amount in DEMO_BUDGETS.items()
    )
    return len(budgets)
