"""Clients of the web server: members over all credentials, else addresses."""

from typing import Any

import pytest

from core import request_clients
from core.request_clients import MEMBER_ID_KEY, RequestClients

PHONE = {"HTTP_AUTHORIZATION": "Bearer phone"}
TABLET = {"HTTP_AUTHORIZATION": "Bearer tablet"}
BROWSER = {"HTTP_COOKIE": "sessionid=browser"}


@pytest.fixture
def clients() -> RequestClients:
    return RequestClients()


def make_environ(address: str = "192.0.2.1", **headers: Any) -> dict[str, Any]:
    return {"REMOTE_ADDR": address, **headers}


def answer(clients: RequestClients, member_id: int | None, **headers: Any) -> None:
    clients.learn(make_environ(**headers) | {MEMBER_ID_KEY: member_id})


def test_sessions_and_tokens_of_a_member_are_one_client(
    clients: RequestClients,
) -> None:
    for headers in (PHONE, TABLET, BROWSER):
        assert clients.identify(make_environ(**headers)) == "address 192.0.2.1"
        answer(clients, 5, **headers)
        assert clients.identify(make_environ("198.51.100.9", **headers)) == "member 5"


def test_login_counts_for_the_address(clients: RequestClients) -> None:
    answer(clients, 5)
    assert clients.identify(make_environ()) == "address 192.0.2.1"


def test_session_that_has_ended_counts_for_the_address(clients: RequestClients) -> None:
    answer(clients, 5, **PHONE)
    answer(clients, None, **PHONE)
    assert clients.identify(make_environ(**PHONE)) == "address 192.0.2.1"


def test_answer_that_does_not_tell_changes_nothing(clients: RequestClients) -> None:
    answer(clients, 5, **PHONE)
    clients.learn(make_environ(**PHONE))
    assert clients.identify(make_environ(**PHONE)) == "member 5"


def test_known_credentials_are_limited(
    clients: RequestClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_clients, "MAX_KNOWN_CREDENTIALS", 2)
    answer(clients, 1, **PHONE)
    answer(clients, 2, **TABLET)
    assert clients.identify(make_environ(**PHONE)) == "member 1"
    answer(clients, 3, **BROWSER)
    assert clients.identify(make_environ(**PHONE)) == "member 1"
    assert clients.identify(make_environ(**TABLET)) == "address 192.0.2.1"
    answer(clients, 4, HTTP_AUTHORIZATION="Bearer" + " " * 1_000 + "long")
    assert len(clients._members) == 2


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("2001:db8::5", "address 2001:db8::/64"),
        ("2001:db8::6", "address 2001:db8::/64"),
        ("::ffff:192.0.2.1", "address 192.0.2.1"),
        ("", "address unknown"),
    ],
)
def test_addresses_are_those_of_the_rate_limits(
    clients: RequestClients, address: str, name: str
) -> None:
    assert clients.identify(make_environ(address)) == name


def test_forged_forwarding_headers_make_no_new_client(
    clients: RequestClients, settings: Any
) -> None:
    forged = make_environ(HTTP_X_FORWARDED_FOR="203.0.113.5, 203.0.113.6")
    assert clients.identify(forged) == "address 192.0.2.1"
    settings.TRUSTED_PROXY_COUNT = 1
    assert clients.identify(forged) == "address 203.0.113.6"
