"""The second factor: set-up, both steps of a login, what ends a ticket, and its end."""

import time
from collections.abc import Iterator
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
from pytest_httpserver import HTTPServer

from accounts.models import (
    AuthSession,
    LoginTicket,
    Member,
    RecoveryCode,
    SecurityLogEntry,
    TotpFactor,
)
from accounts.profile import change_password
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import fake_provider_at
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    SEED,
    begin_login,
    code_now,
    complete_login,
    count_tickets,
    get_ticket,
    give_recovery_codes,
    give_totp,
    wrong_code,
)

pytestmark = pytest.mark.django_db(transaction=True)

FACTORS = "/api/auth/factors"
TOTP = f"{FACTORS}/totp"
CONFIRM = f"{TOTP}/confirm"
RECOVERY = f"{FACTORS}/recovery-codes"
REAUTHENTICATE = "/api/auth/reauthenticate"
BACKUP = "/api/account/backup"
STALE = ("REAUTHENTICATION_REQUIRED", "methods")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    # In the middle of a step, so that shifts are whole ones.
    start = timezone.now().replace(second=15, microsecond=0)
    with time_machine.travel(start, tick=False) as traveller:
        yield traveller


@pytest.fixture
def member(free_member: Member) -> Member:
    """A member with an authenticator app, without recovery codes."""
    give_totp(free_member)
    return free_member


def set_up(client: JSONClient) -> tuple[str, list[str]]:
    """Return the seed and the recovery codes of a set-up through the API."""
    secret = client.send("POST", TOTP).data["secret"]
    response = client.send("POST", CONFIRM, {"code": pyotp.TOTP(secret).now()})
    assert response.status_code == 200, response.content
    return secret, response.data["recoveryCodes"]


# --- Set-up ---------------------------------------------------------------------


def test_set_up_shows_what_an_app_needs(
    free_member: Member, clock: time_machine.Traveller
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
    assert_problem(
        begin_login(free_member),
        401,
        "SECOND_FACTOR_REQUIRED",
        "ticket",
        "methods",
        "expiresAt",
    )


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
    free_member: Member, clock: time_machine.Traveller
) -> None:
    client = JSONClient(free_member)
    secret = client.send("POST", TOTP).data["secret"]
    clock.shift(timedelta(minutes=10))
    AuthSession.objects.update(fresh_until=timezone.now() + timedelta(minutes=1))
    body = {"code": pyotp.TOTP(secret).at(timezone.now())}
    assert_problem(client.send("POST", CONFIRM, body), 400, "CODE_INVALID")


def test_seed_that_waits_leaves_the_one_in_force(member: Member) -> None:
    JSONClient(member).send("POST", TOTP)
    assert complete_login(get_ticket(member), code_now()).status_code == 200


def test_code_of_the_set_up_opens_no_login(
    free_member: Member, clock: time_machine.Traveller
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
    member: Member, method: str, path: str
) -> None:
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    response = client.send(method, path)
    assert_problem(response, 403, *STALE)
    assert response.data["methods"] == ["PASSWORD", "TOTP"]
    assert TotpFactor.objects.get().pending_seed is None


def test_session_that_ended_meanwhile_leaves_no_factor(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is repeated under the lock: a reset ends the session in between."""
    client = JSONClient(free_member)
    monkeypatch.setattr(
        "accounts.views.factors.require_fresh_authentication",
        lambda request: AuthSession.objects.all().delete(),
    )
    assert_problem(client.send("POST", TOTP), 401, "AUTHENTICATION_REQUIRED")
    assert not TotpFactor.objects.exists()


# --- Login ----------------------------------------------------------------------


def test_first_step_gives_a_ticket_and_no_session(
    member: Member, clock: time_machine.Traveller
) -> None:
    response = begin_login(member)
    assert response.data["methods"] == ["TOTP"]
    ending = timezone.now() + timedelta(minutes=5)
    assert response.data["expiresAt"] == ending.isoformat()
    assert "sessionid" not in response.cookies
    assert not AuthSession.objects.exists()
    assert LoginTicket.objects.get().digest != response.data["ticket"]


def test_wrong_password_gives_no_ticket(member: Member) -> None:
    response = begin_login(member, password="wrong-battery-8")
    assert_problem(response, 401, "INVALID_CREDENTIALS")
    assert count_tickets(member) == 0


def test_both_steps_make_a_session(member: Member) -> None:
    response = complete_login(get_ticket(member, deviceName="Phone"), code_now())
    assert set(response.data) == {"token", "expiresAt", "member"}
    client = JSONClient()
    client.use_token(response.data["token"])
    assert client.get_json("/api/auth/session")["id"] == member.pk
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


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_one_step_either_side_is_taken(
    member: Member, clock: time_machine.Traveller, steps: int
) -> None:
    response = complete_login(get_ticket(member), code_now(steps=steps))
    assert response.status_code == 200


@pytest.mark.parametrize("steps", [-2, 2])
def test_other_steps_are_refused(
    member: Member, clock: time_machine.Traveller, steps: int
) -> None:
    response = complete_login(get_ticket(member), code_now(steps=steps))
    assert_problem(response, 400, "CODE_INVALID")


def test_step_counts_once_and_ends_the_earlier_ones(
    member: Member, clock: time_machine.Traveller
) -> None:
    assert complete_login(get_ticket(member), code_now()).status_code == 200
    for steps in (0, -1):
        response = complete_login(get_ticket(member), code_now(steps=steps))
        assert_problem(response, 400, "CODE_INVALID")
    clock.shift(timedelta(seconds=30))
    assert complete_login(get_ticket(member), code_now()).status_code == 200


def test_ticket_dies_with_success(
    member: Member, clock: time_machine.Traveller
) -> None:
    ticket = get_ticket(member)
    assert complete_login(ticket, code_now()).status_code == 200
    clock.shift(timedelta(seconds=30))
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_ticket_dies_with_five_failures(member: Member) -> None:
    ticket, other = get_ticket(member), get_ticket(member)
    for _ in range(5):
        response = complete_login(ticket, wrong_code())
        assert_problem(response, 400, "CODE_INVALID")
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert complete_login(other, code_now()).status_code == 200


def test_ticket_dies_after_five_minutes(
    member: Member, clock: time_machine.Traveller
) -> None:
    ticket = get_ticket(member)
    clock.shift(timedelta(minutes=5))
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_ticket_dies_with_a_changed_password(member: Member) -> None:
    ticket = get_ticket(member)
    change_password(member, PASSWORD, "another-horse-9", ip_address="127.0.0.1")
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_ticket_dies_with_suspension(member: Member) -> None:
    ticket = get_ticket(member)
    Member.objects.filter(pk=member.pk).update(status="SUSPENDED")
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert not AuthSession.objects.exists()


def test_wrong_codes_count_as_failed_logins(member: Member) -> None:
    tickets = [get_ticket(member) for _ in range(2)]
    for ticket in tickets:
        for _ in range(5):
            complete_login(ticket, wrong_code())
    assert_problem(begin_login(member), 429, "RATE_LIMITED")


def test_wrong_codes_from_many_addresses_are_limited_by_account(
    member: Member,
) -> None:
    """Six digits are few: a thousand addresses would find them within a day."""
    tickets = [get_ticket(member) for _ in range(5)]
    answers = [
        complete_login(ticket, wrong_code(), REMOTE_ADDR=f"203.0.{number}.{attempt}")
        for number, ticket in enumerate(tickets)
        for attempt in range(5)
    ]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [400] * 20 + [429] * 5


@pytest.mark.parametrize("ticket", ["unknown", "\ud7ff", "x" * 100])
def test_unknown_ticket_is_the_same_error(member: Member, ticket: str) -> None:
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")


def test_second_factor_makes_a_session_fresh_again(member: Member) -> None:
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    response = client.send("POST", REAUTHENTICATE, {"code": wrong_code()})
    assert_problem(response, 400, "CODE_INVALID")
    assert_problem(client.send("POST", TOTP), 403, *STALE)
    response = client.send("POST", REAUTHENTICATE, {"code": code_now()})
    assert response.status_code == 200
    assert client.send("POST", TOTP).status_code == 200


# --- Recovery codes -------------------------------------------------------------


def test_recovery_code_stands_for_the_factor_once(member: Member) -> None:
    codes = give_recovery_codes(member)
    assert begin_login(member).data["methods"] == ["TOTP", "RECOVERY_CODE"]
    assert complete_login(get_ticket(member), codes[3]).status_code == 200
    response = complete_login(get_ticket(member), codes[3])
    assert_problem(response, 400, "CODE_INVALID")
    assert JSONClient(member).get_json(FACTORS)["recoveryCodesLeft"] == 9


@pytest.mark.parametrize("write", [str.lower, lambda code: code.replace("-", " ")])
def test_recovery_code_is_read_however_it_is_written(
    member: Member, write: Any
) -> None:
    codes = give_recovery_codes(member)
    assert complete_login(get_ticket(member), write(codes[0])).status_code == 200


def test_recovery_code_has_an_index_and_sixty_bits(member: Member) -> None:
    codes = give_recovery_codes(member)
    assert len({code[:2] for code in codes}) == 10
    assert all(len(code.replace("-", "")) == 14 for code in codes)


@pytest.mark.parametrize("of_index", [True, False])
def test_one_hash_is_computed_whatever_the_index(
    member: Member, monkeypatch: pytest.MonkeyPatch, of_index: bool
) -> None:
    computed: list[Any] = []

    def compute(*arguments: Any) -> bool:
        computed.append(arguments)
        return False

    for name in ("check_password", "make_password"):
        monkeypatch.setattr(f"accounts.recovery_codes.{name}", compute)
    RecoveryCode.objects.create(member=member, index="QK", hash="x")
    code = "QK-AAAA-AAAA-AAAA" if of_index else "ZZ-AAAA-AAAA-AAAA"
    response = complete_login(get_ticket(member), code)
    assert_problem(response, 400, "CODE_INVALID")
    assert len(computed) == 1


def test_new_recovery_codes_void_the_old_ones(member: Member) -> None:
    old = give_recovery_codes(member)
    response = JSONClient(member).send("POST", RECOVERY)
    new = response.data["recoveryCodes"]
    assert_problem(complete_login(get_ticket(member), old[0]), 400, "CODE_INVALID")
    assert complete_login(get_ticket(member), new[0]).status_code == 200


def test_recovery_codes_need_a_factor(free_member: Member) -> None:
    assert_problem(JSONClient(free_member).send("POST", RECOVERY), 404, "NOT_FOUND")


def test_code_of_another_member_opens_nothing(
    member: Member, other_member: Member
) -> None:
    give_totp(other_member)
    codes = give_recovery_codes(other_member)
    assert_problem(complete_login(get_ticket(member), codes[0]), 400, "CODE_INVALID")


def test_seed_copied_from_another_member_opens_nothing(
    member: Member, other_member: Member
) -> None:
    """It is sealed under the id of its member."""
    give_totp(other_member)
    theirs = TotpFactor.objects.get(member=other_member).sealed_seed
    TotpFactor.objects.filter(member=member).update(sealed_seed=theirs)
    assert complete_login(get_ticket(member), code_now()).status_code == 500
    assert not AuthSession.objects.exists()


# --- The end of it --------------------------------------------------------------


def test_member_removes_the_factor(member: Member) -> None:
    give_recovery_codes(member)
    ticket = get_ticket(member)
    client = JSONClient(member)
    assert client.send("DELETE", TOTP).status_code == 204
    assert client.get_json("/api/auth/profile")["secondFactor"] is False
    assert not TotpFactor.objects.exists()
    assert not RecoveryCode.objects.exists()
    assert_problem(complete_login(ticket, code_now()), 400, "CODE_INVALID")
    assert begin_login(member).status_code == 200
    assert_problem(client.send("DELETE", TOTP), 404, "NOT_FOUND")


def test_command_ends_the_factor_and_the_log_says_so(member: Member) -> None:
    output = StringIO()
    call_command("end_factors", member.login_id.upper(), stdout=output)
    assert "has ended" in output.getvalue()
    assert begin_login(member).status_code == 200
    entry = SecurityLogEntry.objects.get(kind="FACTOR_REMOVED")
    assert entry.is_by_staff


@pytest.mark.parametrize("login_id", ["nobody", "plain"])
def test_command_says_what_it_cannot_end(db: None, login_id: str) -> None:
    make_member(login_id="plain")
    with pytest.raises(CommandError):
        call_command("end_factors", login_id)


def test_seeds_are_sealed_again_with_a_new_key(member: Member, settings: Any) -> None:
    old = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [old]
    for expected in ("1 encrypted again", "0 encrypted again"):
        output = StringIO()
        call_command("rotate_secrets_key", stdout=output)
        assert f"authenticator apps: {expected}" in output.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    assert complete_login(get_ticket(member), code_now()).status_code == 200


# --- What else it guards --------------------------------------------------------


def test_deleting_the_account_asks_for_fresh_authentication(member: Member) -> None:
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    assert_problem(client.send("DELETE", "/api/auth/me"), 403, *STALE)
    client.send("POST", REAUTHENTICATE, {"password": PASSWORD})
    assert client.send("DELETE", "/api/auth/me").status_code == 204


def test_backup_asks_for_fresh_authentication(member: Member) -> None:
    Member.objects.update(plan="PREMIUM")
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    assert_problem(client.send("GET", BACKUP), 403, *STALE)
    client.send("POST", REAUTHENTICATE, {"password": PASSWORD})
    assert client.send("GET", BACKUP).status_code == 200


def test_plan_is_asked_for_before_fresh_authentication(member: Member) -> None:
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    assert_problem(client.send("GET", BACKUP), 403, "PREMIUM_REQUIRED")


def test_without_a_factor_backup_and_deletion_ask_for_nothing(
    premium_member: Member,
) -> None:
    client = JSONClient(premium_member)
    AuthSession.objects.update(fresh_until=None)
    assert client.send("GET", BACKUP).status_code == 200
    assert client.send("DELETE", "/api/auth/me").status_code == 204


def test_stolen_session_sets_no_first_password_past_the_factor(db: None) -> None:
    """It could verify that password, and remove the factor."""
    member = make_member(password=None, idp_id="1")
    give_totp(member)
    client = JSONClient(member)
    AuthSession.objects.update(fresh_until=None)
    body = {"newPassword": "another-horse-9"}
    assert_problem(client.send("PUT", "/api/auth/password", body), 403, *STALE)
    assert client.send("POST", REAUTHENTICATE, {"code": code_now()}).status_code == 200
    assert client.send("PUT", "/api/auth/password", body).status_code == 204


def test_seed_is_what_apps_expect() -> None:
    """RFC 6238: SHA-1, 6 digits, 30 seconds."""
    totp = pyotp.TOTP(SEED)
    assert (totp.digits, totp.interval) == (6, 30)
    # Appendix B, of which the last six digits are shown.
    assert pyotp.TOTP("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").at(59) == "287082"
