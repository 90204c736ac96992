"""Who reports, writes and decides."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member


@pytest.fixture
def author() -> Member:
    return make_member(display_name="Author")


@pytest.fixture
def judge() -> Member:
    return make_member(role="MODERATOR", display_name="Judge")


@pytest.fixture
def moderator(judge: Member) -> JSONClient:
    return JSONClient(judge)


@pytest.fixture
def admin(administrator: Member) -> JSONClient:
    return JSONClient(administrator)


@pytest.fixture
def old_members() -> list[Member]:
    joined = timezone.now() - timedelta(days=8)
    return [make_member(created_at=joined) for _ in range(6)]
