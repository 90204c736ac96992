"""The security log that a member sees: what is in it, from where, and for how long."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Member, SecurityLogEntry
from accounts.profile.profile import change_password
from accounts.security.log import is_unusual_login, purge_security_log
from accounts.sessions.store import create_session
from ledger.backup import export
from tests.support.accounts import PROFILE
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.second_factors import complete_login, get_ticket, give_totp

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = "/api/auth/security-events"
LOGIN = "/api/auth/login"
BACKUP = "/api/account/backup"
ADDRESS = "203.0.113.7"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
WRONG = "wrong-battery-8"
NEW = {"currentPassword": PASSWORD, "newPassword": "another-horse-9"}


def make_client(member: Member | None = None) -> JSONClient:
    return JSONClient(member, REMOTE_ADDR=ADDRESS, HTTP_USER_AGENT=FIREFOX)


def log_in(member: Member, password: str = PASSWORD, **body: Any) -> JSONClient:
    client = make_client()
    credentials = {"loginId": member.login_id, "password": password}
    answer = client.send("POST", LOGIN, credentials | body)
    if answer.status_code == 200:
        client.use_token(answer.data["token"])
    return client


def list_kinds(member: Member) -> list[str]:
    return [event["kind"] for event in JSONClient(member).get_json(EVENTS)["results"]]


def test_login_says_when_from_where_and_with_what(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    client = log_in(free_member, deviceName="Laptop")
    page = client.get_json(EVENTS)
    event = page["results"][0]
    assert page["count"] == 1
    assert event | {"id": 0} == {
        "id": 0,
        "kind": "LOGIN",
        "at": timezone.now().isoformat(),
        "byStaff": False,
        "address": ADDRESS,
        "deviceName": "Laptop",
        "client": "Firefox, Linux",
        "detail": "",
    }


def test_own_events_only_newest_first(
    free_member: Member, other_member: Member
) -> None:
    log_in(other_member)
    client = log_in(free_member)
    client.send("POST", "/api/auth/logout")
    assert list_kinds(free_member) == ["LOGOUT", "LOGIN"]


def end_others(client: JSONClient) -> None:
    create_session(Member.objects.get())
    client.send("POST", "/api/auth/sessions/end-others")


DEEDS: dict[str, Callable[[JSONClient], Any]] = {
    "LOGOUT": lambda client: client.send("POST", "/api/auth/logout"),
    "SESSION_ENDED": end_others,
    "EMAIL_CHANGED": lambda client: client.send("PUT", PROFILE, {"email": "n@ex.org"}),
    "PASSWORD_CHANGED": lambda client: client.send("PUT", "/api/auth/password", NEW),
}


@pytest.mark.parametrize("kind", DEEDS)
def test_deed_has_the_device_of_its_session(free_member: Member, kind: str) -> None:
    DEEDS[kind](log_in(free_member, deviceName="Phone"))
    entry = SecurityLogEntry.objects.exclude(kind="LOGIN").get()
    assert (entry.kind, entry.device_name) == (kind, "Phone")
    assert (entry.ip_address, entry.client) == (ADDRESS, "Firefox, Linux")


def test_backup_of_the_ledger_is_in_it(premium_member: Member) -> None:
    client = log_in(premium_member, deviceName="Phone")
    assert client.send("GET", BACKUP).status_code == 200
    entry = SecurityLogEntry.objects.get(kind="EXPORTED")
    assert (entry.member, entry.device_name) == (premium_member, "Phone")
    assert (entry.ip_address, entry.client) == (ADDRESS, "Firefox, Linux")


def test_backup_at_the_console_is_by_staff(free_member: Member, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.xlsx")
    call_command("backup_member", "--member", free_member.login_id, file)
    entry = SecurityLogEntry.objects.get(kind="EXPORTED")
    assert (entry.member, entry.is_by_staff) == (free_member, True)


def test_backup_that_fails_half_way_is_in_it_too(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(export, "_fetch_batches", fail)
    with pytest.raises(OSError, match="no space"):
        export.write_backup(premium_member, io.BytesIO())
    assert SecurityLogEntry.objects.filter(kind="EXPORTED").count() == 1


def test_session_that_was_ended_is_named(free_member: Member) -> None:
    client = log_in(free_member, deviceName="Phone")
    (own,) = client.get_json("/api/auth/sessions")
    client.send("DELETE", f"/api/auth/sessions/{own['id']}")
    assert SecurityLogEntry.objects.get(kind="SESSION_ENDED").detail == "Phone"


def test_entry_is_written_in_the_transaction_of_the_deed(free_member: Member) -> None:
    with transaction.atomic():
        change_password(free_member, PASSWORD, "another-horse-9", ip_address="::1")
        assert SecurityLogEntry.objects.filter(kind="PASSWORD_CHANGED").exists()
        transaction.set_rollback(True)
    assert not SecurityLogEntry.objects.exists()


def test_ending_no_session_is_no_event(free_member: Member) -> None:
    client = log_in(free_member)
    ended = SecurityLogEntry.objects.filter(kind="SESSION_ENDED")
    for count in (0, 1):
        client.send("POST", "/api/auth/sessions/end-others")
        assert ended.count() == count
        create_session(free_member)


def test_what_staff_do_is_in_it_without_anything_about_them(
    free_member: Member, administrator: Member
) -> None:
    JSONClient(free_member)
    staff = make_client(administrator)
    path = f"/api/admin/members/{free_member.pk}/sessions"
    assert staff.send("DELETE", path).status_code == 204
    (event,) = JSONClient(free_member).get_json(EVENTS)["results"]
    assert (event["kind"], event["byStaff"]) == ("SESSION_ENDED", True)
    assert (event["address"], event["client"], event["deviceName"]) == (None, "", "")


def test_failures_are_kept_up_to_twenty_a_day(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    for number in range(25):
        client = JSONClient(REMOTE_ADDR=f"203.0.113.{number}")
        body = {"loginId": free_member.login_id.upper(), "password": WRONG}
        client.send("POST", LOGIN, body)
    failures = SecurityLogEntry.objects.filter(kind="LOGIN_FAILED")
    assert failures.count() == 20


def test_failure_of_an_unknown_account_does_the_same_work(free_member: Member) -> None:
    counts = []
    for login_id in (free_member.login_id, "nobody"):
        with CaptureQueriesContext(connection) as queries:
            body = {"loginId": login_id, "password": WRONG}
            make_client().send("POST", LOGIN, body)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert SecurityLogEntry.objects.count() == 1


def test_wrong_code_of_the_second_factor_is_a_failed_login(free_member: Member) -> None:
    give_totp(free_member)
    complete_login(get_ticket(free_member), "ZZ-AAAA-AAAA-AAAA")
    assert list_kinds(free_member) == ["LOGIN_FAILED"]


def test_entries_go_after_their_days(
    free_member: Member, clock: time_machine.Traveller
) -> None:
    log_in(free_member)
    clock.shift(timedelta(days=1))
    log_in(free_member)
    assert purge_security_log(timezone.now() - timedelta(days=1)) == 1
    assert SecurityLogEntry.objects.count() == 1


def is_unusual(member: Member, device_name: str = "") -> bool:
    return is_unusual_login(member, device_name, timezone.now())


def record(member: Member, kind: str, days_ago: float, **fields: Any) -> None:
    at = timezone.now() - timedelta(days=days_ago)
    SecurityLogEntry.objects.create(member=member, kind=kind, at=at, **fields)


def test_device_is_known_for_ninety_days(
    free_member: Member, other_member: Member
) -> None:
    record(other_member, "LOGIN", 1, device_name="Tablet")
    # The first login of an account is nothing unusual.
    assert not is_unusual(free_member)
    record(free_member, "LOGIN", 89.9, device_name="Phone")
    assert not is_unusual(free_member, "Phone")
    assert is_unusual(free_member, "Tablet")
    SecurityLogEntry.objects.update(at=timezone.now() - timedelta(days=90, minutes=1))
    assert is_unusual(free_member, "Phone")


def test_login_after_ten_failures_is_unusual(free_member: Member) -> None:
    record(free_member, "LOGIN", 0.5)
    for _ in range(9):
        record(free_member, "LOGIN_FAILED", 0.1)
    assert not is_unusual(free_member)
    record(free_member, "LOGIN_FAILED", 0.1)
    assert is_unusual(free_member)
    # Those before a login have been told with it.
    record(free_member, "LOGIN", 0.05)
    assert not is_unusual(free_member)
