"""Premium now: one rule in Python, in querysets and in the database (spec 1.9)."""

import itertools
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from tests.support.factories import make_member


@pytest.fixture
def members() -> list[Member]:
    """Return a member of each combination of what the rule could depend on."""
    now = timezone.now()
    return [
        make_member(
            role=role,
            status=status,
            plan=plan,
            plan_expires_at=expires_at,
            plan_auto_renew=auto_renew,
        )
        for role, status, plan, expires_at, auto_renew in itertools.product(
            Member.Role,
            Member.Status,
            Member.Plan,
            (None, now - timedelta(days=1), now + timedelta(days=1)),
            (False, True),
        )
    ]


def test_property_queryset_and_sql_function_agree(members: list[Member]) -> None:
    by_property = {member.pk for member in members if member.has_premium}
    by_queryset = set(
        Member.objects.with_premium(timezone.now()).values_list("pk", flat=True)
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM member WHERE has_premium(member)")
        by_function = {pk for (pk,) in cursor.fetchall()}
    assert by_property == by_queryset == by_function


def test_premium_is_a_running_plan_or_the_role_of_an_administrator() -> None:
    now = timezone.now()
    yesterday, tomorrow = now - timedelta(days=1), now + timedelta(days=1)
    assert not make_member().has_premium
    assert make_member(role="ADMIN").has_premium
    assert make_member(plan="PREMIUM").has_premium
    assert make_member(plan="PREMIUM", plan_expires_at=tomorrow).has_premium
    expired = make_member(plan="PREMIUM", plan_expires_at=yesterday)
    assert not expired.has_premium
    # The store says when a renewing plan ends.
    expired.plan_auto_renew = True
    assert expired.has_premium


def test_plan_ends_at_the_moment_at_which_it_expires() -> None:
    now = timezone.now()
    make_member(plan="PREMIUM", plan_expires_at=now)
    member = make_member(plan="PREMIUM", plan_expires_at=now + timedelta(seconds=1))
    assert list(Member.objects.with_premium(now)) == [member]
    assert member.effective_plan(now) == "PREMIUM"
    assert member.effective_plan(now + timedelta(seconds=1)) == "FREE"
