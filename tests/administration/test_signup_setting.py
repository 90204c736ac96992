"""The switch that opens and closes sign-up."""

from typing import Any

import pytest

from accounts.models import AuditLogEntry, Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient

PATH = "/api/admin/signup-enabled"
PUBLIC = "/api/auth/signup-enabled"


def test_administrator_closes_and_opens_sign_up(
    administrator: Member, anonymous: JSONClient, client_of: ClientOf
) -> None:
    client = client_of(administrator)
    assert client.get_json(PATH) == {"enabled": True}
    for enabled in (False, False, True):
        response = client.send("PUT", PATH, {"enabled": enabled})
        assert (response.status_code, response.data) == (200, {"enabled": enabled})
        assert (
            client.get_json(PATH) == anonymous.get_json(PUBLIC) == {"enabled": enabled}
        )


def test_log_says_who_closed_sign_up(
    administrator: Member, client_of: ClientOf
) -> None:
    client_of(administrator).send("PUT", PATH, {"enabled": False})
    entry = AuditLogEntry.objects.get()
    assert (entry.actor_id, entry.text) == (administrator.pk, "Enabled false.")


@pytest.mark.parametrize("enabled", ["false", 0, 1, None, [], "", {}])
def test_switch_is_true_or_false(
    administrator: Member, client_of: ClientOf, enabled: Any
) -> None:
    client = client_of(administrator)
    response = client.send("PUT", PATH, {"enabled": enabled})
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert client.get_json(PATH) == {"enabled": True}


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_switch_is_for_administrators(
    premium_member: Member, anonymous: JSONClient, client_of: ClientOf, method: str
) -> None:
    body = {"enabled": False}
    assert anonymous.send(method, PATH, body).status_code == 401
    response = client_of(premium_member).send(method, PATH, body)
    assert (response.status_code, response.data["code"]) == (403, "ADMIN_REQUIRED")
    assert anonymous.get_json(PUBLIC) == {"enabled": True}


def test_switch_is_in_the_admin_as_well(
    administrator: Member, anonymous: JSONClient, client_of: ClientOf
) -> None:
    client_of(administrator).send("PUT", PATH, {"enabled": False})
    browser = JSONClient()
    browser.cookies["sessionid"] = JSONClient(administrator).token
    page = browser.get("/admin/accounts/applicationsetting/")
    assert page.status_code == 200
    assert b"Sign-up is open" in page.content
