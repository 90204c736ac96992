"""The second factor: its set-up, its end, and the rotation of its key."""

import time
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.models import (
    AuthSession,
    Member,
    RecoveryCode,
    SecurityLogEntry,
    TotpFactor,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    FACTORS,
    RECOVERY,
    STALE,
    TOTP,
    begin_login,
    code_now,
    complete_login,
    get_ticket,
    give_recovery_codes,
)
from tests.support.sessions import stale_client

pytestmark = pytest.mark.django_db(transaction=True)

CONFIRM = f"{TOTP}/confirm"


def set_up(client: JSONClient) -> tuple[str, list[str]]:
    """Return the seed and the recovery codes of a set-up through the API."""
    secret = client.send("POST", TOTP).data["secret"]
    response = client.send("POST", CONFIRM, {"code": pyotp.TOTP(secret).now()})
    assert response.status_code == 200, response.content
    return secret, response.data["recoveryCodes"]


def test_set_up_shows_what_an_app_needs(
    free_member: Member, totp_clock: time_machine.Traveller
) -> None:
    response = JSONClient(free_member).send("POST", TOTP)
    uri = urlsplit(response.data["uri"])
    assert (uri.scheme, uri.netloc) == ("otpauth", "totp")
    assert free_member.login_id in uri.path
    assert parse_qs(uri.query)["secret"] == [response.data["secret"]]
    ending = timezone.now() + timedelta(minutes=10)
    assert response.data["expiresAt"] == ending.isoformat()


def test_first_code_puts_it_in_force(free_member: Member) -> None:
    client = JSONClient(free_member)
    client.send("POST", TOTP)
    assert begin_login(free_member).status_code == 200
    set_up(client)
    assert client.get_json("/api/auth/profile")["secondFactor"] is True
    factors = client.get_json(FACTORS)
    assert (factors["totp"], factors["recoveryCodesLeft"]) == (True, 10)
    members = ("ticket", "methods", "expiresAt")
    assert_problem(begin_login(free_member), 401, "SECOND_FACTOR_REQUIRED", *members)


def test_wrong_code_puts_nothing_in_force(free_member: Member) -> None:
    client = JSONClient(free_member)
    secret = client.send("POST", TOTP).data["secret"]
    totp = pyotp.TOTP(secret)
    now = int(time.time())
    valid = {totp.at(now + 30 * steps) for steps in (-1, 0, 1, 2)}
    wrong = next(f"{n:06}" for n in range(9) if f"{n:06}" not in valid)
    for code in (wrong, "１２３４５６", "code"):
        response = client.send("POST", CONFIRM, {"code": code})
        assert_problem(response, 400, "CODE_INVALID")
    assert begin_login(free_member).status_code == 200


def test_seed_waits_ten_minutes(
    free_member: Member, totp_clock: time_machine.Traveller
) -> None:
    client = JSONClient(free_member)
    secret = client.send("POST", TOTP).data["secret"]
    totp_clock.shift(timedelta(minutes=10))
    AuthSession.objects.update(fresh_until=timezone.now() + timedelta(minutes=1))
    body = {"code": pyotp.TOTP(secret).at(timezone.now())}
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_seed_that_waits_leaves_the_one_in_force(totp_member: Member) -> None:
    JSONClient(totp_member).send("POST", TOTP)
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 200


def test_code_of_the_set_up_opens_no_login(
    free_member: Member, totp_clock: time_machine.Traveller
) -> None:
    secret, _ = set_up(JSONClient(free_member))
    code = pyotp.TOTP(secret).at(timezone.now())
    assert_problem(complete_login(get_ticket(free_member), code), 400, "CODE_INVALID")


def test_seed_is_sealed_in_the_database(free_member: Member) -> None:
    secret, codes = set_up(JSONClient(free_member))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT convert_from(decode(replace(encode(sealed_seed, 'escape'),"
            " '\\', ''), 'escape'), 'LATIN1') FROM totp_factor"
        )
        (stored,) = cursor.fetchone()
    assert secret not in stored
    hashes = list(RecoveryCode.objects.values_list("hash", flat=True))
    assert len(hashes) == 10
    for code in codes:
        assert not any(code.replace("-", "")[2:] in text for text in hashes)


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", TOTP), ("POST", CONFIRM), ("DELETE", TOTP), ("POST", RECOVERY)],
)
def test_changes_of_factors_ask_for_fresh_authentication(
    totp_member: Member, method: str, path: str
) -> None:
    client = stale_client(totp_member)
    response = client.send(method, path)
    assert_problem(response, 403, *STALE)
    assert response.data["methods"] == ["TOTP"]
    assert TotpFactor.objects.get().pending_seed is None


def test_session_that_ended_meanwhile_leaves_no_factor(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The check is repeated under the lock: a reset ends the session in between.
    client = JSONClient(free_member)
    monkeypatch.setattr(
        "accounts.login.factor_views.require_factor_change_allowed",
        lambda request: AuthSession.objects.all().delete(),
    )
    assert_problem(client.send("POST", TOTP), 401, "AUTHENTICATION_REQUIRED")
    assert not TotpFactor.objects.exists()


def test_member_removes_the_factor(totp_member: Member) -> None:
    give_recovery_codes(totp_member)
    ticket = get_ticket(totp_member)
    client = JSONClient(totp_member)
    assert client.send("DELETE", TOTP).status_code == 204
    assert client.get_json("/api/auth/profile")["secondFactor"] is False
    assert not TotpFactor.objects.exists()
    assert not RecoveryCode.objects.exists()
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert begin_login(totp_member).status_code == 200
    assert_problem(client.send("DELETE", TOTP), 404, "NOT_FOUND")


def test_command_ends_the_factor_and_the_log_says_so(totp_member: Member) -> None:
    output = StringIO()
    call_command("end_factors", totp_member.login_id.upper(), stdout=output)
    assert "has ended" in output.getvalue()
    assert begin_login(totp_member).status_code == 200
    entry = SecurityLogEntry.objects.get(kind="FACTOR_REMOVED")
    assert entry.is_by_staff


@pytest.mark.parametrize("login_id", ["nobody", "plain"])
def test_command_says_what_it_cannot_end(login_id: str) -> None:
    make_member(login_id="plain")
    with pytest.raises(CommandError):
        call_command("end_factors", login_id)


def test_seeds_are_sealed_again_with_a_new_key(
    totp_member: Member, settings: Any
) -> None:
    old = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [old]
    for expected in ("1 encrypted again", "0 encrypted again"):
        output = StringIO()
        call_command("rotate_secrets_key", stdout=output)
        assert f"authenticator apps: {expected}" in output.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 200
