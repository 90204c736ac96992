"""The switch that opens and closes sign-up."""

from typing import Any

import pytest

from accounts.models import AuditLogEntry, Member
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

PATH = "/api/admin/signup-enabled"
PUBLIC = "/api/auth/signup-enabled"


def test_administrator_closes_and_opens_sign_up(
    anonymous: JSONClient, client: JSONClient
) -> None:
    assert client.get_json(PATH) == {"enabled": True}
    for enabled in (False, False, True):
        response = client.send("PUT", PATH, {"enabled": enabled})
        assert (response.status_code, response.data) == (200, {"enabled": enabled})
        assert client.get_json(PATH) == {"enabled": enabled}
        assert anonymous.get_json(PUBLIC) == {"enabled": enabled}


def test_log_says_who_closed_sign_up(administrator: Member, client: JSONClient) -> None:
    client.send("PUT", PATH, {"enabled": False})
    entry = AuditLogEntry.objects.get()
    assert (entry.actor_id, entry.text) == (administrator.pk, "Enabled false.")


@pytest.mark.parametrize("enabled", ["false", 0, 1, None, [], "", {}])
def test_switch_is_true_or_false(enabled: Any, client: JSONClient) -> None:
    response = client.send("PUT", PATH, {"enabled": enabled})
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert client.get_json(PATH) == {"enabled": True}


def test_switch_is_in_the_admin_as_well(
    browser: JSONClient, client: JSONClient
) -> None:
    client.send("PUT", PATH, {"enabled": False})
    page = browser.get("/admin/accounts/applicationsetting/")
    assert page.status_code == 200
    assert b"Sign-up is open" in page.content
