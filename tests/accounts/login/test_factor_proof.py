"""Factors are changed by factors, and wrong codes of two kinds count apart."""

from typing import Any

import pytest

from accounts.models import AuthSession, Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    RECOVERY,
    STALE,
    TOTP,
    code_now,
    complete_login,
    get_ticket,
    give_recovery_codes,
    wrong_code,
)
from tests.support.sessions import stale_client

AGAIN = "/api/auth/reauthenticate"
WRONG_RECOVERY_CODE = "ZZ-AAAA-AAAA-AAAA"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (AGAIN, {"password": PASSWORD}),
        ("/api/auth/verify-password", {"password": PASSWORD}),
    ],
)
@pytest.mark.parametrize(
    ("method", "change"), [("DELETE", TOTP), ("POST", TOTP), ("POST", RECOVERY)]
)
def test_password_alone_changes_no_factor(
    totp_member: Member, path: str, body: Any, method: str, change: str
) -> None:
    give_recovery_codes(totp_member)
    client = stale_client(totp_member)
    assert client.send("POST", path, body).status_code == 200
    response = client.send(method, change)
    assert_problem(response, 403, *STALE)
    assert response.data["methods"] == ["TOTP", "RECOVERY_CODE"]
    # It is enough for everything else.
    token = {"name": "t", "scopes": ["ledger:read"]}
    assert client.send("POST", "/api/auth/tokens", token).status_code == 201


@pytest.mark.parametrize("is_recovery", [False, True])
def test_code_allows_the_removal(totp_member: Member, is_recovery: bool) -> None:
    code = give_recovery_codes(totp_member)[0] if is_recovery else code_now()
    client = stale_client(totp_member)
    assert client.send("POST", AGAIN, {"code": code}).status_code == 200
    assert client.send("DELETE", TOTP).status_code == 204


def test_login_with_a_code_allows_the_removal(totp_member: Member) -> None:
    client = JSONClient()
    done = complete_login(get_ticket(totp_member), code_now())
    client.use_token(done.data["token"])
    assert client.send("DELETE", TOTP).status_code == 204


def test_proof_by_a_code_ends(totp_member: Member) -> None:
    client = JSONClient(totp_member)
    AuthSession.objects.update(factor_fresh_until="2026-01-01T00:00Z")
    assert_problem(client.send("DELETE", TOTP), 403, *STALE)


def guess(member: Member, code: str, times: int) -> Any:
    for number in range(times):
        # Other addresses, and a new ticket for every five codes.
        if number % 5 == 0:
            ticket = get_ticket(member)
        address = f"198.51.100.{number + 1}"
        response = complete_login(ticket, code, REMOTE_ADDR=address)
    return response


def test_guesses_at_the_app_do_not_refuse_a_recovery_code(totp_member: Member) -> None:
    code = give_recovery_codes(totp_member)[0]
    assert guess(totp_member, wrong_code(), 20).status_code == 400
    assert guess(totp_member, code_now(), 1).status_code == 429
    assert complete_login(get_ticket(totp_member), code).status_code == 200


def test_guesses_at_recovery_codes_do_not_refuse_the_app(totp_member: Member) -> None:
    code = give_recovery_codes(totp_member)[0]
    assert guess(totp_member, WRONG_RECOVERY_CODE, 10).status_code == 400
    assert guess(totp_member, code, 1).status_code == 429
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 200
