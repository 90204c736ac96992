"""A browser for the tests of Django admin."""

import pytest

from accounts.models import Member
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient


@pytest.fixture
def browser(administrator: Member) -> JSONClient:
    return logged_in_browser(administrator)
