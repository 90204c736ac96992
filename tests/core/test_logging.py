"""The log: one JSON object a line, the request's id, and no secrets."""

import itertools
import json
import logging
import sys
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError

from accounts.models import Member
from core import logging as logs
from core.logging import (
    REDACTED,
    JSONFormatter,
    TextFormatter,
    choose_formatter,
    redact_secrets,
)
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member

TOKEN = "b96tliaWMo4htwDEk1XIvMat4R94WFtwF6g0l7pq-s8"


def format_line(message: str, *args: Any, **fields: Any) -> dict[str, Any]:
    record = logging.LogRecord("ledger", logging.INFO, "", 1, message, args, None)
    for name, value in fields.items():
        setattr(record, name, value)
    line: dict[str, Any] = json.loads(JSONFormatter().format(record))
    return line


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Authorization: Bearer {TOKEN}", TOKEN),
        (f"authorization: bearer {TOKEN}", TOKEN),
        (f"Cookie: sessionid={TOKEN}; other=1", TOKEN),
        (f'{{"token": "{TOKEN}"}}', TOKEN),
        (f"{{'idToken': '{TOKEN}'}}", TOKEN),
        ("GET /tokeninfo?id_token=aaa.bbb.ccc&x=1", "aaa.bbb.ccc"),
        ("purchaseToken=test-12345", "test-12345"),
        ('{"password": "swordfish"}', "swordfish"),
        ("newPassword=swordfish&x=1", "swordfish"),
        ("currentPassword: swordfish", "swordfish"),
        ("SECRET_KEY=swordfish", "swordfish"),
        ("api_key=swordfish", "swordfish"),
        ("?key=swordfish", "swordfish"),
        ("postgresql://ledger:swordfish@127.0.0.1/x", "swordfish"),
        ("redis://:swordfish@127.0.0.1/0", "swordfish"),
        ("data:image/png;base64,iVBORw0KGgo=", "iVBORw0KGgo"),
        ("account 110-234-567890 moved", "110-234-567890"),
        ("account 1102345678901 moved", "1102345678901"),
        ("card 5327 5012 3456 7890", "5327 5012 3456 7890"),
        ("DETAIL:  Key (email)=(minji@example.com) exists.", "minji@example.com"),
        ("x\nDETAIL:  Failing row contains (1, lunch\nat Kim's).\nCONTEXT: y", "lunch"),
    ],
)
def test_secret_is_redacted(text: str, secret: str) -> None:
    cleaned = redact_secrets(text)
    assert secret not in cleaned
    assert REDACTED in cleaned


@pytest.mark.parametrize(
    "text",
    [
        *("request", "Valkey is unavailable: TimeoutError"),
        *("12 sessions purged in 2026-11-21", "2026-11-21T11:30:34.807992+00:00"),
        *("amount 45000 in 3 months", "0b5f3c0e9a6d4c1f8e7d6c5b4a392817"),
        "UPDATE member SET points = 10 WHERE id = 5",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_secrets(text) == text


def test_line_is_one_json_object() -> None:
    line = format_line("two\nlines for %s", "민지")
    assert line["message"] == "two\nlines for 민지"
    assert (line["level"], line["logger"]) == ("INFO", "ledger")
    assert line["time"].endswith("+00:00")
    assert "requestId" not in line


def test_arguments_and_traces_are_cleaned_too() -> None:
    line = format_line("token=%s", TOKEN)
    assert TOKEN not in json.dumps(line)
    try:
        raise ValueError(f"Bearer {TOKEN}")
    except ValueError:
        line = format_line("failed", exc_info=sys.exc_info())
    assert "ValueError" in line["trace"]
    assert TOKEN not in line["trace"]


def test_fields_of_the_caller_become_keys() -> None:
    assert format_line("x", fields={"sessions": 3})["sessions"] == 3


def test_line_within_a_request_carries_its_id() -> None:
    token = logs.request_id.set("abc")
    try:
        assert format_line("x")["requestId"] == "abc"
    finally:
        logs.request_id.reset(token)


def test_row_that_postgresql_quotes_is_redacted(db: None) -> None:
    member = make_member()
    with pytest.raises(IntegrityError) as error:
        Member.objects.create(login_id=member.login_id, email="quoted@example.com")
    trace = (type(error.value), error.value, error.tb)
    line = format_line("failed", exc_info=trace)
    assert f"({member.login_id})" in str(error.value)
    assert f"({member.login_id})" not in json.dumps(line)


@pytest.mark.django_db
def test_requests_leave_no_secrets_in_the_log(
    free_member: Member, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "access")
    caplog.set_level(logging.INFO)
    client = JSONClient(free_member)
    client.get("/api/auth/session?token=typed-by-somebody")
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    client.send("POST", "/api/auth/login", body)
    lines = [JSONFormatter().format(record) for record in caplog.records]
    assert any('"path":"/api/auth/session"' in line for line in lines)
    for secret in (client.token, PASSWORD, "typed-by-somebody", free_member.email):
        assert secret not in "\n".join(lines)


@pytest.mark.django_db
def test_each_request_is_one_line_with_its_outcome(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "access")
    # Each look at the clock is a quarter of a second later.
    clock = partial(next, itertools.count(start=100.0, step=0.25))
    watch = SimpleNamespace(perf_counter=clock, monotonic=time.monotonic)
    monkeypatch.setattr("core.middleware.time", watch)
    response = JSONClient().send("POST", "/api/auth/login", {})
    (record,) = [record for record in caplog.records if record.name == "access"]
    fields: Any = record.__dict__["fields"]
    assert response.status_code == 400
    assert fields == {
        "method": "POST",
        "path": "/api/auth/login",
        "status": 400,
        "milliseconds": 250.0,
        "address": "127.0.0.1",
    }


def format_text(name: str, message: str, **fields: Any) -> str:
    record = logging.LogRecord(name, logging.WARNING, "", 1, message, None, None)
    record.fields = fields
    return TextFormatter().format(record)


def test_request_is_a_short_line_on_a_terminal() -> None:
    line = format_text(
        *("access", "request"),
        method="GET",
        path="/api/meta",
        status=200,
        milliseconds=3.4,
        address="127.0.0.1",
        memberId=7,
    )
    time, rest = line.split(" ", 1)
    assert len(time) == len("09:30:00")
    expected = "WARNING access GET /api/meta 200 3.4 ms address=127.0.0.1 memberId=7"
    assert rest == expected


def test_lines_of_a_terminal_hold_neither_secrets_nor_control_characters() -> None:
    line = format_text("ledger", f"Bearer {TOKEN}", path="/a\n\x1b[2J\u202e")
    assert TOKEN not in line
    assert "\n" not in line
    assert "\x1b" not in line
    assert "/a\\n\\x1b[2J\\u202e" in line


def test_text_is_for_terminals_and_json_for_all_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for is_terminal, chosen in ((True, "text"), (False, "json")):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)  # noqa: B023
        assert choose_formatter("AUTO") == chosen
        assert choose_formatter("JSON") == "json"
        assert choose_formatter("TEXT") == "text"
