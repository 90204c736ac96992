"""`MAIL_URL` and `MAIL_FROM`: what they may be, and what the start refuses."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.mail import read_mail_sender, read_mail_server
from tests.support.settings_process import import_settings, read_real

NAME = "LEDGER_TEST_MAIL_SETTING"


def test_unset_address_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " ")
    assert read_mail_server(NAME) is None


def test_smtp_demands_starttls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "smtp://led%40ger:p%40ss%3Aword%2F@mail.example:2525")
    assert read_mail_server(NAME) == {
        "host": "mail.example",
        "port": 2525,
        "username": "led@ger",
        "password": "p@ss:word/",
        "use_tls": True,
        "use_ssl": False,
    }


@pytest.mark.parametrize(
    ("url", "port", "use_ssl"),
    [("smtp://mail.example", 587, False), ("smtps://mail.example/", 465, True)],
)
def test_ports_have_defaults(
    monkeypatch: pytest.MonkeyPatch, url: str, port: int, use_ssl: bool
) -> None:
    monkeypatch.setenv(NAME, url)
    server = read_mail_server(NAME)
    assert server is not None
    assert (server["port"], server["use_ssl"]) == (port, use_ssl)
    assert server["use_tls"] is not use_ssl


def test_folder_is_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "file:/var/ledger/mail")
    assert read_mail_server(NAME) == {"folder": Path("/var/ledger/mail")}


@pytest.mark.parametrize(
    "url",
    [
        *("mail.example", "http://mail.example", "smtp://", "smtp://mail.example:port"),
        *("smtp://mail.example:0", "smtp://mail.example/path"),
        *("smtp://mail.example?tls=no", "smtp://user@mail.example"),
        *("smtp://:swordfish@mail.example", "smtp://[x", "file:"),
    ],
)
def test_other_address_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(NAME, url)
    with pytest.raises(ImproperlyConfigured, match=NAME) as refusal:
        read_mail_server(NAME)
    assert "swordfish" not in str(refusal.value)


def test_sender_is_needed_for_a_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert read_mail_sender(NAME, None) == "no-reply@localhost"
    assert read_mail_sender(NAME, {"folder": Path()}) == "no-reply@localhost"
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is not set"):
        read_mail_sender(NAME, {"host": "mail.example"})


@pytest.mark.parametrize("value", ["nobody", "a@b@c", "a@example.com\nBcc: b@c.d"])
def test_sender_is_an_address(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match="must be an address"):
        read_mail_sender(NAME, None)


def test_bad_server_stops_the_start_with_one_line() -> None:
    result = import_settings(
        "import config.wsgi", MAIL_URL="smtp://user:swordfish@mail.example:x"
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "MAIL_URL" in result.stderr
    assert "swordfish" not in result.stderr


def test_board_asks_for_no_verified_address_unless_it_is_set() -> None:
    assert read_real("settings.BOARD_NEEDS_VERIFIED_EMAIL") == "False"
