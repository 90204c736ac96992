"""A member whose plan has ended."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Member
from tests.support.factories import make_member


@pytest.fixture
def lapsed_member() -> Member:
    yesterday = timezone.now() - timedelta(days=1)
    return make_member(plan="PREMIUM", plan_expires_at=yesterday)
