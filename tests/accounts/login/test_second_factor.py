"""The second factor: both steps of a login, and what it guards beside."""

from datetime import timedelta
from typing import Any

import pyotp
import pytest
import time_machine
from django.utils import timezone
from pytest_httpserver import HTTPServer

from accounts.models import AuthSession, LoginTicket, Member
from accounts.profile.profile import change_password
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import fake_provider_at
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    SEED,
    STALE,
    TOTP,
    begin_login,
    code_now,
    complete_login,
    count_tickets,
    get_ticket,
    give_totp,
    wrong_code,
)
from tests.support.sessions import stale_client

pytestmark = pytest.mark.django_db(transaction=True)

REAUTHENTICATE = "/api/auth/reauthenticate"
BACKUP = "/api/account/backup"
EXPORT = "/api/account/export?format=csv"
NEW = "another-horse-9"


def test_first_step_gives_a_ticket_and_no_session(
    totp_member: Member, totp_clock: time_machine.Traveller
) -> None:
    response = begin_login(totp_member)
    assert response.data["methods"] == ["TOTP"]
    ending = timezone.now() + timedelta(minutes=5)
    assert response.data["expiresAt"] == ending.isoformat()
    assert "sessionid" not in response.cookies
    assert not AuthSession.objects.exists()
    assert LoginTicket.objects.get().digest != response.data["ticket"]


def test_wrong_password_gives_no_ticket(totp_member: Member) -> None:
    response = begin_login(totp_member, password="wrong-battery-8")
    assert_problem(response, 401, "INVALID_CREDENTIALS")
    assert count_tickets(totp_member) == 0


def test_both_steps_make_a_session(totp_member: Member) -> None:
    response = complete_login(get_ticket(totp_member, deviceName="Phone"), code_now())
    assert set(response.data) == {"token", "expiresAt", "member"}
    client = JSONClient()
    client.use_token(response.data["token"])
    assert client.get_json("/api/auth/session")["id"] == totp_member.pk
    (session,) = client.get_json("/api/auth/sessions")
    assert session["deviceName"] == "Phone"


def test_login_by_identity_provider_asks_for_the_factor_too(
    settings: Any, httpserver: HTTPServer
) -> None:
    vouch = fake_provider_at(settings, httpserver)
    member = make_member(idp_id="subject-1")
    give_totp(member)
    body = {"idToken": vouch(), "deviceName": "Tablet"}
    first = JSONClient().send("POST", "/api/auth/idp", body)
    assert first.data["code"] == "SECOND_FACTOR_REQUIRED"
    response = complete_login(first.data["ticket"], code_now())
    assert (response.data["created"], response.data["linked"]) == (False, False)


@pytest.mark.parametrize(
    ("steps", "status"), [(-2, 400), (-1, 200), (0, 200), (1, 200), (2, 400)]
)
def test_one_step_either_side_is_taken(
    totp_member: Member, totp_clock: time_machine.Traveller, steps: int, status: int
) -> None:
    response = complete_login(get_ticket(totp_member), code_now(steps=steps))
    assert response.status_code == status


def test_step_counts_once_and_ends_the_earlier_ones(
    totp_member: Member, totp_clock: time_machine.Traveller
) -> None:
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 200
    for steps in (0, -1):
        response = complete_login(get_ticket(totp_member), code_now(steps=steps))
        assert_problem(response, 400, "CODE_INVALID")
    totp_clock.shift(timedelta(seconds=30))
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 200


def test_ticket_dies_with_five_failures(totp_member: Member) -> None:
    ticket, other = get_ticket(totp_member), get_ticket(totp_member)
    for _ in range(5):
        assert_problem(complete_login(ticket, wrong_code()), 400, "CODE_INVALID")
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert complete_login(other, code_now()).status_code == 200


@pytest.mark.parametrize("end", ["success", "time", "password", "suspension"])
def test_ticket_dies_with(
    totp_member: Member, totp_clock: time_machine.Traveller, end: str
) -> None:
    ticket = get_ticket(totp_member)
    match end:
        case "success":
            assert complete_login(ticket, code_now()).status_code == 200
            totp_clock.shift(timedelta(seconds=30))
        case "time":
            totp_clock.shift(timedelta(minutes=5))
        case "password":
            change_password(totp_member, PASSWORD, NEW, ip_address="127.0.0.1")
        case "suspension":
            Member.objects.update(status="SUSPENDED")
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert AuthSession.objects.count() == (end == "success")


def test_wrong_codes_count_as_failed_logins(totp_member: Member) -> None:
    tickets = [get_ticket(totp_member) for _ in range(2)]
    for ticket in tickets:
        for _ in range(5):
            complete_login(ticket, wrong_code())
    assert_problem(begin_login(totp_member), 429, "RATE_LIMITED")


def test_wrong_codes_from_many_addresses_are_limited_by_account(
    totp_member: Member,
) -> None:
    # Six digits are few: a thousand addresses would find them within a day.
    tickets = [get_ticket(totp_member) for _ in range(5)]
    answers = [
        complete_login(ticket, wrong_code(), REMOTE_ADDR=f"203.0.{number}.{attempt}")
        for number, ticket in enumerate(tickets)
        for attempt in range(5)
    ]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [400] * 20 + [429] * 5


@pytest.mark.parametrize("ticket", ["unknown", "\ud7ff", "x" * 100])
def test_unknown_ticket_is_the_same_error(totp_member: Member, ticket: str) -> None:
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_second_factor_makes_a_session_fresh_again(totp_member: Member) -> None:
    client = stale_client(totp_member)
    response = client.send("POST", REAUTHENTICATE, {"code": wrong_code()})
    assert_problem(response, 400, "CODE_INVALID")
    assert_problem(client.send("POST", TOTP), 403, *STALE)
    response = client.send("POST", REAUTHENTICATE, {"code": code_now()})
    assert response.status_code == 200
    assert client.send("POST", TOTP).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/api/auth/me"), ("GET", BACKUP), ("GET", EXPORT)],
)
def test_backup_and_deletion_ask_for_fresh_authentication_of_a_factor_only(
    totp_member: Member, premium_member: Member, method: str, path: str
) -> None:
    assert stale_client(premium_member).send(method, path).status_code in {200, 204}
    Member.objects.update(plan="PREMIUM")
    client = stale_client(totp_member)
    assert_problem(client.send(method, path), 403, *STALE)
    client.send("POST", REAUTHENTICATE, {"password": PASSWORD})
    assert client.send(method, path).status_code in {200, 204}


def test_plan_is_asked_for_before_fresh_authentication(totp_member: Member) -> None:
    response = stale_client(totp_member).send("GET", BACKUP)
    assert_problem(response, 403, "PREMIUM_REQUIRED")


def test_stolen_session_sets_no_first_password_past_the_factor() -> None:
    # It could verify that password, and remove the factor.
    member = make_member(password=None, idp_id="1")
    give_totp(member)
    client = stale_client(member)
    body = {"newPassword": NEW}
    assert_problem(client.send("PUT", "/api/auth/password", body), 403, *STALE)
    assert client.send("POST", REAUTHENTICATE, {"code": code_now()}).status_code == 200
    assert client.send("PUT", "/api/auth/password", body).status_code == 204


def test_seed_is_what_apps_expect() -> None:
    # RFC 6238: SHA-1, 6 digits, 30 seconds.
    totp = pyotp.TOTP(SEED)
    assert (totp.digits, totp.interval) == (6, 30)
    # Appendix B, of which the last six digits are shown.
    assert pyotp.TOTP("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").at(59) == "287082"
