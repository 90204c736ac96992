"""Clients of the web server: members over all credentials, else addresses."""

from typing import Any

import pytest
from django.conf import settings

from core import request_clients
from core.request_clients import MEMBER_ID_KEY, RequestClients

PHONE = {"HTTP_AUTHORIZATION": "Bearer phone"}
TABLET = {"HTTP_AUTHORIZATION": "Bearer tablet"}
BROWSER = {"HTTP_COOKIE": f"theme=dark; {settings.SESSION_COOKIE_NAME}=browser"}
UNKNOWN_KEY = "address 192.0.2.1 with keys"


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
        assert clients.identify(make_environ(**headers)) == UNKNOWN_KEY
        answer(clients, 5, **headers)
        assert clients.identify(make_environ("198.51.100.9", **headers)) == "member 5"


def test_login_counts_for_the_address(clients: RequestClients) -> None:
    answer(clients, 5)
    assert clients.identify(make_environ()) == "address 192.0.2.1"


def test_session_that_has_ended_counts_for_the_address(clients: RequestClients) -> None:
    answer(clients, 5, **PHONE)
    answer(clients, None, **PHONE)
    assert clients.identify(make_environ(**PHONE)) == UNKNOWN_KEY


def test_answer_that_does_not_tell_changes_nothing(clients: RequestClients) -> None:
    answer(clients, 5, **PHONE)
    clients.learn(make_environ(**PHONE))
    assert clients.identify(make_environ(**PHONE)) == "member 5"


def test_made_up_keys_of_an_address_are_one_client(clients: RequestClients) -> None:
    for number in range(3):
        headers = {"HTTP_AUTHORIZATION": f"Bearer made-up-{number}"}
        assert clients.identify(make_environ(**headers)) == UNKNOWN_KEY
        answer(clients, None, **headers)
    # Logins without a key do not hold up a member who is not known yet.
    assert clients.identify(make_environ()) == "address 192.0.2.1"


@pytest.mark.parametrize(
    "header",
    ["bearer phone", "bEaReR phone", "Bearer      phone  "],
)
def test_key_is_the_same_however_it_is_written(
    clients: RequestClients, header: str
) -> None:
    answer(clients, 5, **PHONE)
    environ = make_environ(HTTP_AUTHORIZATION=header, HTTP_COOKIE="junk=1")
    assert clients.identify(environ) == "member 5"


def test_password_of_a_proxy_is_no_key(clients: RequestClients) -> None:
    # A whole household sends the same one.
    basic = {"HTTP_AUTHORIZATION": "Basic Zm9vOmJhcg=="}
    answer(clients, 5, **basic, **BROWSER)
    assert clients.identify(make_environ(**basic, **BROWSER)) == "member 5"
    cookie = f"{settings.SESSION_COOKIE_NAME}=other"
    other = make_environ(**basic, HTTP_COOKIE=cookie)
    assert clients.identify(other) == UNKNOWN_KEY
    assert clients.identify(make_environ(**basic)) == "address 192.0.2.1"


def test_known_keys_are_limited(
    clients: RequestClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_clients, "MAX_KNOWN_KEYS", 2)
    answer(clients, 1, **PHONE)
    answer(clients, 2, **TABLET)
    assert clients.identify(make_environ(**PHONE)) == "member 1"
    answer(clients, 3, **BROWSER)
    assert clients.identify(make_environ(**PHONE)) == "member 1"
    assert clients.identify(make_environ(**TABLET)) == UNKNOWN_KEY
    answer(clients, 4, HTTP_AUTHORIZATION="Bearer long" + "g" * 1_000)
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
    clients: RequestClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = make_environ(HTTP_X_FORWARDED_FOR="203.0.113.5, 203.0.113.6")
    assert clients.identify(forged) == "address 192.0.2.1"
    monkeypatch.setattr(settings, "TRUSTED_PROXY_COUNT", 1)
    assert clients.identify(forged) == "address 203.0.113.6"
