"""Rows that a restore changes: budgets, recurring rules, account numbers."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from accounts.models import Member
from ledger.backup.restore import MAX_CATCH_UP_DAYS
from ledger.models import Budget, Entry, RecurringRule, Tag, Wallet
from ledger.periods import add_months
from ledger.recurring.occurrences import RecurringRunResult, process_due_rules
from tests.support.calendar_oracle import LONG_AGO, set_premium_since
from tests.support.clients import JSONClient
from tests.support.factories import make_rule
from tests.support.workbooks import (
    ENTRY,
    WHOLE,
    download_backup,
    read_book,
    send_json,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("same_day")]

KEY = bytes(range(32))


def days_ago(count: int) -> date:
    return timezone.localdate() - timedelta(days=count)


def test_budgets_become_those_of_the_current_month(restore: Any) -> None:
    today = timezone.localdate()
    months = {
        "of this month": [(-1, 5), (0, 6), (1, 7)],
        "of months before and after": [(-14, 4), (-2, 6), (-11, 5), (1, 9)],
        "of months after": [(13, 8), (1, 6), (12, 7)],
        "of one month long ago": [(-80, 6)],
    }
    rows = []
    for name, budgets in months.items():
        for distance, amount in budgets:
            year, month = add_months(today.year, today.month, distance)
            when = {"year": year, "month": month}
            rows.append({"category": name, "amount": amount, **when})
    categories = [{"type": "expense", "name": name} for name in months]
    response = restore({"categories": categories, "budgets": rows})
    assert response.data["budgets"] == len(months)
    found = Budget.objects.values_list("category__name", "year", "month", "amount")
    assert set(found) == {(name, today.year, today.month, 6) for name in months}


def test_rule_that_has_ended_stays_ended(restore: Any) -> None:
    # It has an end date and an empty next date; a missing field is not an empty one.
    today = timezone.localdate().isoformat()
    rule = {"type": "expense", "amount": 1, "frequency": "DAILY", "anchorDate": today}
    ended = rule | {"name": "ended", "endDate": today, "nextDate": None}
    restore({"recurring": [ended, rule | {"name": "endless", "nextDate": None}]})
    found = dict(RecurringRule.objects.values_list("name", "next_date"))
    assert found == {"ended": None, "endless": timezone.localdate()}


def test_rule_without_the_field_of_its_next_date_starts_today(
    client: JSONClient,
) -> None:
    today = timezone.localdate().isoformat()
    rule = {"type": "expense", "amount": 1, "frequency": "DAILY", "anchorDate": today}
    send_json(client, {"recurring": [rule | {"name": "x", "endDate": today}]})
    assert RecurringRule.objects.get().next_date == timezone.localdate()


def test_recurring_rules_continue_from_their_next_date(restore: Any) -> None:
    rule = WHOLE["recurring"][0] | {"category": None, "wallet": None, "tags": None}
    overdue = days_ago(3).isoformat()
    daily = rule | {"frequency": "DAILY", "active": True, "nextDate": overdue}
    weekly = daily | {"frequency": "WEEKLY", "anchorDate": days_ago(8).isoformat()}
    rows = [
        daily | {"name": "overdue"},
        weekly | {"name": "between two dates"},
        daily | {"name": "ended since", "endDate": days_ago(2).isoformat()},
        daily | {"name": "ended before", "endDate": days_ago(4).isoformat()},
        rule | {"name": "ahead", "nextDate": "2999-06-30"},
        rule | {"name": "over", "endDate": "2020-12-31"},
    ]
    assert restore({"recurring": rows}).status_code == 200
    found = dict(RecurringRule.objects.values_list("name", "next_date"))
    assert found == {
        "overdue": days_ago(3),
        "between two dates": days_ago(1),
        "ended since": days_ago(3),
        "ended before": None,
        "ahead": date(2999, 6, 30),
        "over": None,
    }


def test_due_dates_of_more_than_a_year_ago_are_not_booked(restore: Any) -> None:
    # An inactive rule keeps its next date: it books nothing anyway.
    past = days_ago(3_000)
    rule = {"type": "expense", "amount": 1, "frequency": "DAILY"}
    rule |= {"anchorDate": past.isoformat(), "nextDate": past.isoformat()}
    restore(
        {"recurring": [rule | {"name": "on"}, rule | {"name": "off", "active": False}]}
    )
    found = dict(RecurringRule.objects.values_list("name", "next_date"))
    assert found == {"on": days_ago(MAX_CATCH_UP_DAYS), "off": past}


def test_due_dates_missed_before_the_backup_are_booked_once_after_the_restore(
    client: JSONClient, premium_member: Member
) -> None:
    set_premium_since(premium_member, LONG_AGO)
    anchor = days_ago(5)
    make_rule(
        premium_member,
        frequency="DAILY",
        anchor_date=anchor,
        next_date=days_ago(3),
    )
    assert upload(client, download_backup(premium_member)).status_code == 200
    for _ in range(2):
        process_due_rules(timezone.now())
    booked = Entry.objects.order_by("date").values_list("date", flat=True)
    assert list(booked) == [days_ago(count) for count in (3, 2, 1, 0)]


def test_due_dates_of_before_the_plan_are_booked_for_a_restored_rule(
    client: JSONClient, premium_member: Member
) -> None:
    # The rule is older than the plan of this account, which has just begun.
    anchor = days_ago(3)
    make_rule(premium_member, frequency="DAILY", anchor_date=anchor, next_date=anchor)
    book = download_backup(premium_member)
    set_premium_since(premium_member, timezone.now() - timedelta(hours=1))
    assert upload(client, book).status_code == 200
    assert process_due_rules(timezone.now()) == RecurringRunResult(booked=4)


def test_backup_then_restore_gives_equal_rules(
    client: JSONClient, premium_member: Member
) -> None:
    for number, next_date in enumerate((days_ago(300), days_ago(1), days_ago(-40))):
        make_rule(
            premium_member,
            frequency="DAILY",
            anchor_date=days_ago(400),
            next_date=next_date,
            active=bool(number),
        )
    make_rule(premium_member, end_date=date(2026, 11, 2), next_date=None)
    before = download_backup(premium_member)
    assert upload(client, before).status_code == 200
    assert download_backup(premium_member) == before


def test_pending_foreign_entry_without_a_rate_stays_so(restore: Any) -> None:
    row = ENTRY | {"amount": 0, "currency": "usd", "originalAmount": 5, "pending": True}
    assert restore({"entries": [row]}).status_code == 200
    entry = Entry.objects.get()
    assert (entry.amount, entry.currency, entry.exchange_rate) == (0, "USD", None)
    assert entry.pending


@override_settings(ACCOUNT_NUMBER_KEYS=[KEY])
def test_account_numbers_are_plain_in_the_backup_and_encrypted_at_rest(
    restore: Any, premium_member: Member
) -> None:
    restore(WHOLE)
    stored = Wallet.objects.get(name="카드").encrypted_account_number
    assert stored.startswith("sealed:")
    wallets = read_book(download_backup(premium_member))["wallets"]
    assert [row[3] for row in wallets] == ["accountNumber", None, "0123-45", None]


def test_undecryptable_number_is_kept_with_its_wallet(
    client: JSONClient, premium_member: Member
) -> None:
    with override_settings(ACCOUNT_NUMBER_KEYS=[KEY]):
        send_json(client, WHOLE)
        sealed = Wallet.objects.get(name="카드").encrypted_account_number
    with override_settings(ACCOUNT_NUMBER_KEYS=[bytes(32)]):
        response = upload(client, download_backup(premium_member))
    assert response.status_code == 200
    assert Wallet.objects.get(name="카드").encrypted_account_number == sealed


def test_order_of_rows_is_the_order_of_lists(restore: Any) -> None:
    names = ["나", "가", "다"]
    restore({"tags": [{"name": name} for name in names]})
    assert list(Tag.objects.values_list("name", "sort_order")) == [
        ("나", 1),
        ("가", 2),
        ("다", 3),
    ]
