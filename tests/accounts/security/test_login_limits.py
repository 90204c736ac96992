"""Limits of failed logins by address, by login, and by both together (spec 2.3)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.login import hashers
from accounts.login.limited_logins import (
    has_untold_logins,
    notify_of_limited_logins,
)
from accounts.models import LoginTicket, Mail, Member, RateLimit, SecurityLogEntry
from accounts.security.log import Kind
from accounts.security.rate_limits import LOGIN_PER_ACCOUNT, LOGIN_PER_IP
from accounts.sessions.store import hash_session_key
from config import settings as real_settings
from core.bulkhead import Bulkhead
from core.client import Client
from core.logging import current_client
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import Vouch
from tests.support.mail import ask_reset, confirm_reset, process_resets
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    complete_login,
    get_ticket,
    give_recovery_codes,
    give_totp,
    wrong_code,
)

WRONG = "wrong-battery-8"
HOME, ELSEWHERE = "192.0.2.1", "198.51.100.9"


def log_in(login_id: str, password: str = PASSWORD, address: str = HOME) -> Any:
    body = {"loginId": login_id, "password": password}
    return JSONClient().send("POST", "/api/auth/login", body, REMOTE_ADDR=address)


def fill(policy: Any, subject: str, *, free: int = 0) -> None:
    """Count failures until `free` more are possible."""
    for _ in range(policy.max_attempts - free):
        policy.consume(subject)


def count_failures(policy: Any) -> int:
    prefix = policy.key_of("")
    rows = RateLimit.objects.filter(key__startswith=prefix)
    return sum(len(row.attempts) for row in rows)


def age(by: timedelta) -> None:
    """Let all failures be older."""
    for row in RateLimit.objects.all():
        row.attempts = [at - by for at in row.attempts]
        row.expires_at -= by
        row.save()


def know(member: Member, address: str, *, days: float = 0) -> None:
    """Let the member have logged in from the address."""
    SecurityLogEntry.objects.create(
        member=member,
        kind=Kind.LOGIN,
        ip_address=address,
        at=timezone.now() - timedelta(days=days),
    )


# --- By address -----------------------------------------------------------------


def test_fifty_failures_of_one_address_are_looked_at_over_all_logins() -> None:
    member = make_member()
    for number in range(50):
        assert log_in(f"guess{number}", WRONG).status_code == 401
    refused = log_in("guess51", WRONG)
    assert_problem(refused, 429, "RATE_LIMITED")
    assert 0 < int(refused.headers["Retry-After"]) <= 900
    assert log_in(member.login_id).status_code == 429
    assert log_in(member.login_id, address=ELSEWHERE).status_code == 200


def test_addresses_of_one_ipv6_network_count_together() -> None:
    member = make_member()
    for number in range(50):
        assert log_in(f"guess{number}", WRONG, f"2001:db8::{number + 1:x}")
    assert log_in(member.login_id, address="2001:db8::ffff:1").status_code == 429
    assert log_in(member.login_id, address="2001:db8:0:1::1").status_code == 200


@pytest.mark.parametrize(("proxies", "status"), [(0, 429), (1, 429), (2, 401)])
def test_forged_header_makes_no_new_address(
    settings: Any, proxies: int, status: int
) -> None:
    settings.TRUSTED_PROXY_COUNT = proxies
    statuses = []
    for number in range(51):
        headers = f"203.0.113.{number}, 198.51.100.2"
        body = {"loginId": f"guess{number}", "password": WRONG}
        answer = JSONClient(HTTP_X_FORWARDED_FOR=headers).send(
            "POST", "/api/auth/login", body
        )
        statuses.append(answer.status_code)
    assert statuses == [401] * 50 + [status]


def test_refused_attempts_count_nowhere() -> None:
    fill(LOGIN_PER_IP, HOME)
    for _ in range(5):
        assert log_in("minji", WRONG).status_code == 429
    assert count_failures(LOGIN_PER_ACCOUNT) == 0


def test_fifty_refused_identities_of_one_address_are_enough(vouch: Vouch) -> None:
    fill(LOGIN_PER_IP, "127.0.0.1")
    answer = JSONClient().send("POST", "/api/auth/idp", {"idToken": vouch()})
    assert_problem(answer, 429, "RATE_LIMITED")


# --- By login -------------------------------------------------------------------


def test_fifty_failures_of_one_login_are_looked_at_over_all_addresses() -> None:
    make_member(login_id="minji")
    answers = {}
    for login_id in ("minji", "nobody"):
        for number in range(50):
            attempt = log_in(login_id, WRONG, f"203.0.113.{number}")
            assert attempt.status_code == 401
        refused = log_in(login_id, address=ELSEWHERE)
        assert_problem(refused, 429, "RATE_LIMITED")
        assert 3500 < int(refused.headers["Retry-After"]) <= 3600
        answers[login_id] = refused.data
    # Neither status nor body tells which of them exists.
    assert answers["minji"] == answers["nobody"]


def test_limited_login_takes_the_same_work_with_and_without_an_account() -> None:
    statements = {}
    make_member(login_id="minji")
    for login_id in ("minji", "nobody"):
        fill(LOGIN_PER_ACCOUNT, login_id)
        with CaptureQueriesContext(connection) as captured:
            assert log_in(login_id, WRONG).status_code == 429
        statements[login_id] = [query["sql"][:60] for query in captured]
    assert statements["minji"] == statements["nobody"]


@pytest.mark.parametrize(
    ("known", "address"),
    [
        (HOME, HOME),
        ("2001:db8::1", "2001:db8::2"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
    ],
)
def test_owner_goes_on_from_a_known_address(known: str, address: str) -> None:
    member = make_member()
    know(member, known, days=89)
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    assert log_in(member.login_id, address=address).status_code == 200
    assert log_in(member.login_id, WRONG, address).status_code == 401
    assert log_in(member.login_id, WRONG, ELSEWHERE).status_code == 429
    assert count_failures(LOGIN_PER_ACCOUNT) == 50


def test_known_address_has_its_own_limit() -> None:
    member = make_member()
    know(member, HOME)
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    statuses = [log_in(member.login_id, WRONG).status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]


def test_address_is_forgotten_after_ninety_days() -> None:
    member = make_member()
    know(member, HOME, days=90.01)
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    assert log_in(member.login_id).status_code == 429


def test_addresses_of_another_member_and_of_failures_are_not_known() -> None:
    member, other = make_member(), make_member()
    know(other, HOME)
    SecurityLogEntry.objects.create(
        member=member, kind=Kind.LOGIN_FAILED, ip_address=HOME
    )
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    assert log_in(member.login_id).status_code == 429


def test_login_is_open_again_after_an_hour() -> None:
    member = make_member()
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    age(timedelta(minutes=59))
    assert log_in(member.login_id).status_code == 429
    age(timedelta(minutes=1))
    assert log_in(member.login_id).status_code == 200


def test_identity_stays_open_while_the_login_is_limited(vouch: Vouch) -> None:
    member = make_member(idp_id="subject-1")
    fill(LOGIN_PER_ACCOUNT, member.login_id)
    answer = JSONClient().send("POST", "/api/auth/idp", {"idToken": vouch()})
    assert answer.status_code == 200
    # The login makes the address known.
    assert log_in(member.login_id, address="127.0.0.1").status_code == 200


def test_reset_stays_open_and_lets_its_address_in(
    verified_member: Member, mail_folder: Path
) -> None:
    fill(LOGIN_PER_ACCOUNT, verified_member.login_id)
    ask_reset(loginId=verified_member.login_id)
    (mail,) = process_resets()
    assert confirm_reset(mail, password="another-horse-9").status_code == 204
    login_id = verified_member.login_id
    assert log_in(login_id, "another-horse-9", "127.0.0.1").status_code == 200
    assert log_in(login_id, "another-horse-9", ELSEWHERE).status_code == 429


def test_owner_gets_in_all_through_an_hour_of_attack(
    verified_member: Member, mail_folder: Path
) -> None:
    login_id, password = verified_member.login_id, PASSWORD
    know(verified_member, HOME)
    for minutes in range(0, 60, 10):
        age(timedelta(minutes=10))
        for number in range(60):
            log_in(login_id, WRONG, f"203.0.{minutes}.{number}")
        assert log_in(login_id, password, ELSEWHERE).status_code == 429
        assert log_in(login_id, password, HOME).status_code == 200
    ask_reset(loginId=login_id)
    mail = process_resets()[-1]
    assert confirm_reset(mail, password="another-horse-9").status_code == 204
    assert log_in(login_id, "another-horse-9", HOME).status_code == 200


# --- All places -----------------------------------------------------------------


def try_login(member: Member) -> Any:
    return log_in(member.login_id, WRONG)


def try_second_factor(member: Member) -> Any:
    give_totp(member)
    LoginTicket.objects.create(
        digest=hash_session_key("ticket"),
        member=member,
        auth_hash=member.get_session_auth_hash(),
        expires_at=timezone.now() + timedelta(minutes=5),
    )
    return complete_login("ticket", wrong_code(), REMOTE_ADDR=HOME)


def send_as(member: Member, method: str, path: str, body: Any) -> Any:
    client = JSONClient(member, REMOTE_ADDR=HOME)
    return client.send(method, f"/api/auth/{path}", body)


def try_verify_password(member: Member) -> Any:
    return send_as(member, "POST", "verify-password", {"password": WRONG})


def try_reauthenticate(member: Member) -> Any:
    return send_as(member, "POST", "reauthenticate", {"password": WRONG})


def try_reauthenticate_by_code(member: Member) -> Any:
    give_totp(member)
    return send_as(member, "POST", "reauthenticate", {"code": wrong_code()})


def try_change_password(member: Member) -> Any:
    body = {"currentPassword": WRONG, "newPassword": "another-horse-9"}
    return send_as(member, "PUT", "password", body)


def try_admin(member: Member) -> Any:
    form = {"username": member.login_id, "password": WRONG}
    return JSONClient(REMOTE_ADDR=HOME).post("/admin/login/?next=/admin/", form)


PLACES = [
    try_login,
    try_second_factor,
    try_verify_password,
    try_reauthenticate,
    try_reauthenticate_by_code,
    try_change_password,
    try_admin,
]
Try = Callable[[Member], Any]


@pytest.mark.parametrize("attempt", PLACES)
def test_failures_of_every_place_count(attempt: Try, administrator: Member) -> None:
    assert attempt(administrator).status_code in {200, 400, 401}
    assert count_failures(LOGIN_PER_IP) == 1
    assert count_failures(LOGIN_PER_ACCOUNT) == 1


@pytest.mark.parametrize("attempt", PLACES)
@pytest.mark.parametrize("policy", [LOGIN_PER_IP, LOGIN_PER_ACCOUNT])
def test_full_limit_refuses_at_every_place(
    attempt: Try, policy: Any, administrator: Member
) -> None:
    fill(policy, HOME if policy is LOGIN_PER_IP else administrator.login_id)
    answer = attempt(administrator)
    if attempt is try_admin:
        assert "Too many attempts" in answer.content.decode()
    else:
        assert_problem(answer, 429, "RATE_LIMITED")
        assert "Retry-After" in answer.headers


# --- Notice ---------------------------------------------------------------------


@pytest.mark.usefixtures("mail_folder")
@pytest.mark.parametrize("locale", ["en", "ko"])
def test_member_is_told_once_a_day(verified_member: Member, locale: str) -> None:
    Member.objects.update(locale=locale)
    fill(LOGIN_PER_ACCOUNT, verified_member.login_id, free=1)
    assert not has_untold_logins(timezone.now())
    assert log_in(verified_member.login_id, WRONG).status_code == 401
    assert has_untold_logins(timezone.now())
    assert notify_of_limited_logins(timezone.now()) == 1
    (mail,) = process_resets()
    assert verified_member.login_id in mail.text
    assert not has_untold_logins(timezone.now())
    age(timedelta(hours=23))
    fill(LOGIN_PER_ACCOUNT, verified_member.login_id)
    assert notify_of_limited_logins(timezone.now()) == 0
    age(timedelta(hours=1))
    fill(LOGIN_PER_ACCOUNT, verified_member.login_id)
    assert notify_of_limited_logins(timezone.now()) == 1
    assert Mail.objects.filter(template="login_limited").count() == 2


@pytest.mark.usefixtures("mail_folder")
def test_nobody_is_told_of_an_unknown_login() -> None:
    fill(LOGIN_PER_ACCOUNT, "nobody")
    assert not has_untold_logins(timezone.now())
    assert notify_of_limited_logins(timezone.now()) == 0


def test_without_mail_nobody_is_told(verified_member: Member) -> None:
    fill(LOGIN_PER_ACCOUNT, verified_member.login_id)
    assert not has_untold_logins(timezone.now())


# --- Statements -----------------------------------------------------------------


def count_limit_statements(password: str) -> int:
    member = make_member()
    with CaptureQueriesContext(connection) as captured:
        log_in(member.login_id, password)
    return sum(
        "rate_limit" in query["sql"] and "INTO security_event" not in query["sql"]
        for query in captured
    )


def test_right_login_counts_and_refunds_in_one_statement_each() -> None:
    assert count_limit_statements(PASSWORD) == 2


def test_wrong_login_counts_in_one_statement() -> None:
    assert count_limit_statements(WRONG) == 1


# --- Hashes at once -------------------------------------------------------------


@contextmanager
def hashing(address: str, count: int) -> Iterator[None]:
    """Compute hashes for clients of the address until the block ends."""
    token = current_client.set(Client(address))
    with ExitStack() as stack:
        try:
            for _ in range(count):
                stack.enter_context(hashers.hashing_slot())
        finally:
            current_client.reset(token)
        yield


@pytest.fixture
def three_slots(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS
    monkeypatch.setattr(hashers, "_slots", Bulkhead(3))
    monkeypatch.setattr(hashers, "SLOT_WAIT_SECONDS", 0.01)


def count_all_failures() -> int:
    return sum(len(row.attempts) for row in RateLimit.objects.all())


@pytest.mark.usefixtures("three_slots")
@pytest.mark.parametrize("login_id", ["minji", "nobody"])
def test_third_hash_of_one_address_is_refused_and_no_failure(login_id: str) -> None:
    member = make_member(login_id="minji")
    with hashing(HOME, 2):
        refused = log_in(login_id, WRONG)
        assert_problem(refused, 429, "RATE_LIMITED")
        assert refused.headers["Retry-After"] == "1"
        assert count_all_failures() == 0
        assert not SecurityLogEntry.objects.exists()
        # The third slot is for others.
        assert log_in(member.login_id, address=ELSEWHERE).status_code == 200
    assert log_in(member.login_id).status_code == 200


@pytest.mark.usefixtures("three_slots")
def test_flood_of_one_address_is_refused_without_a_statement() -> None:
    with hashing(HOME, 2), CaptureQueriesContext(connection) as captured:
        assert log_in("minji", WRONG).status_code == 429
    assert not captured.captured_queries


@pytest.mark.usefixtures("three_slots")
def test_full_bulkhead_is_no_failure() -> None:
    member = make_member()
    with hashing(HOME, 2), hashing(ELSEWHERE, 1):
        refused = log_in(member.login_id, address="203.0.113.1")
    assert_problem(refused, 503, "SERVICE_UNAVAILABLE")
    assert int(refused.headers["Retry-After"]) > 0
    assert count_all_failures() == 0


@pytest.mark.usefixtures("three_slots")
@pytest.mark.parametrize(
    ("address", "text"), [(HOME, "Too many attempts"), (ELSEWHERE, "busy")]
)
def test_admin_form_says_that_it_is_busy(
    administrator: Member, address: str, text: str
) -> None:
    form = {"username": administrator.login_id, "password": PASSWORD}
    client = JSONClient(REMOTE_ADDR=address)
    with hashing(HOME, 2), hashing("203.0.113.1", 1):
        answer = client.post("/admin/login/?next=/admin/", form)
    assert answer.status_code == 200
    assert text in answer.content.decode()


def sign_up(client: JSONClient) -> Any:
    body = {
        "loginId": "newcomer",
        "password": PASSWORD,
        "displayName": "New",
        "email": "new@example.com",
    }
    return client.send("POST", "/api/auth/signup", body)


def test_refused_hash_leaves_nothing_half_done(
    verified_member: Member, mail_folder: Path, request: pytest.FixtureRequest
) -> None:
    owner = JSONClient(verified_member, REMOTE_ADDR=HOME)
    ask_reset(loginId=verified_member.login_id)
    (mail,) = process_resets()
    reset = {
        "requestId": mail.request_id,
        "code": mail.codes[0],
        "newPassword": "another-horse-9",
    }
    change = {"currentPassword": PASSWORD, "newPassword": "another-horse-9"}
    request.getfixturevalue("three_slots")
    with hashing(HOME, 2):
        stranger = JSONClient(REMOTE_ADDR=HOME)
        assert_problem(sign_up(stranger), 429, "RATE_LIMITED")
        answer = stranger.send("POST", "/api/auth/password-reset/confirm", reset)
        assert_problem(answer, 429, "RATE_LIMITED")
        verified_member.password = make_password(PASSWORD)
        verified_member.save_fields("password")
        answer = owner.send("PUT", "/api/auth/password", change)
        assert_problem(answer, 429, "RATE_LIMITED")
    assert Member.objects.count() == 1
    again = JSONClient(REMOTE_ADDR=HOME)
    answer = again.send("POST", "/api/auth/password-reset/confirm", reset)
    assert answer.status_code == 204


@pytest.mark.usefixtures("three_slots")
def test_recovery_code_that_was_not_compared_spends_no_attempt(
    free_member: Member,
) -> None:
    give_totp(free_member)
    code = give_recovery_codes(free_member)[0]
    free_member.set_password(PASSWORD)
    free_member.save_fields("password")
    ticket = get_ticket(free_member)
    with hashing(HOME, 2):
        for _ in range(6):
            refused = complete_login(ticket, code, REMOTE_ADDR=HOME)
            assert_problem(refused, 429, "RATE_LIMITED")
    assert count_all_failures() == 0
    assert LoginTicket.objects.get().attempts == 0
    assert complete_login(ticket, code, REMOTE_ADDR=HOME).status_code == 200


def test_commands_and_jobs_have_no_address() -> None:
    assert current_client.get() is None
    with ExitStack() as stack:
        stack.enter_context(hashers.hashing_slot())
        assert not hashers._addresses
