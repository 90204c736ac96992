"""Login by identity provider: ID tokens, before and after the provider is asked."""

import json
import time
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from accounts.models import AuthSession, Member, RateLimit
from core import http_client
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import (
    CLIENT_ID,
    EMAIL,
    HEADER,
    Vouch,
    encode_id_token,
    good_claims,
    log_in,
    make_id_token,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.stores import find_closed_port

pytestmark = pytest.mark.usefixtures("vouch")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "somebody.else"},
        {"aud": None},
        {"aud": [CLIENT_ID]},
        {"aud": CLIENT_ID + " "},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": {"a": 1}},
        {"exp": None},
        {"exp": "soon"},
        {"exp": "1"},
        {"exp": "-1"},
        {"exp": "٣٣٣٣٣٣٣٣٣٣"},
    ],
)
def test_token_that_is_not_for_us_is_refused(
    vouch: Vouch, claims: dict[str, Any]
) -> None:
    make_member(email=EMAIL, idp_id="subject-1")
    vouch(**claims)
    assert_problem(log_in(), 401, "INVALID_ID_TOKEN")
    assert not AuthSession.objects.exists()


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"sub": "a\x00b"}, 401),
        ({"email": "a\x00@b.c"}, 200),
        ({"name": "a\x00b"}, 200),
        ({"name": "a\ud800b"}, 200),
        ({"picture": "https://a\x00b"}, 200),
    ],
)
def test_text_that_cannot_be_stored_is_left_out(
    vouch: Vouch, claims: dict[str, Any], status: int
) -> None:
    vouch(**claims)
    assert log_in().status_code == status


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"exp": str(int(time.time()) - 60)}, 401),
        ({"iss": "accounts.google.com"}, 200),
        ({"iss": "https://accounts.google.com"}, 200),
    ],
)
def test_claims_are_judged(vouch: Vouch, claims: dict[str, Any], status: int) -> None:
    vouch(**claims)
    assert log_in().status_code == status


def test_clocks_may_differ_a_little(vouch: Vouch) -> None:
    vouch(exp=str(int(time.time()) - 3))
    assert log_in().status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("idToken", each) for each in (None, " ", 5, ["x"], "a\x00b", "x" * 8193)),
        *(("nonce", each) for each in ("", 5, "x" * 256, "a\x00b")),
    ],
)
def test_malformed_field_is_named_without_asking(
    httpserver: HTTPServer, field: str, value: Any
) -> None:
    assert_invalid(log_in(**{field: value}), field)
    assert httpserver.log == []


@pytest.mark.parametrize(
    "token",
    [
        "opaque",
        "a.b",
        "a.b.c.d",
        "..",
        "an.id.token",
        "안.녕.요",
        "x" * 8192,
        encode_id_token([], {}),
        encode_id_token([], good_claims({})),
        encode_id_token(HEADER, ["claims"]),
        make_id_token({"alg": "none"}),
        make_id_token({"alg": "HS256", "typ": "JWT"}),
        make_id_token({"typ": "JWT"}),
        make_id_token({"alg": ["RS256"]}),
        make_id_token(aud="somebody.else"),
        make_id_token(aud=[CLIENT_ID]),
        make_id_token(aud=None),
        make_id_token(iss="https://evil.example"),
        make_id_token(exp="1"),
        make_id_token(exp=1),
        make_id_token(exp=None),
        make_id_token(sub=None),
    ],
)
def test_token_that_cannot_be_right_is_refused_without_asking(
    vouch: Vouch, httpserver: HTTPServer, token: str
) -> None:
    vouch()
    assert_problem(log_in(token=token), 401, "INVALID_ID_TOKEN")
    assert httpserver.log == []


def test_provider_at_another_address_may_have_opaque_tokens(
    vouch: Vouch, settings: Any
) -> None:
    vouch()
    settings.IDP_TOKENS_ARE_JWTS = False
    assert log_in(token="opaque").status_code == 200


@pytest.mark.parametrize(
    ("claimed", "sent", "status"),
    [
        ("n-1", "n-1", 200),
        ("n-1", "n-2", 401),
        ("n-1", "N-1", 401),
        (None, "n-1", 401),
        ("n-1", None, 200),
        (None, None, 200),
    ],
)
def test_nonce_that_is_sent_must_be_that_of_the_token(
    vouch: Vouch, claimed: str | None, sent: str | None, status: int
) -> None:
    token = vouch(nonce=claimed)
    fields: dict[str, Any] = {} if sent is None else {"nonce": sent}
    assert log_in(token=token, **fields).status_code == status


def test_fifty_refused_tokens_of_one_address_are_enough(vouch: Vouch) -> None:
    token = vouch()
    for _ in range(50):
        assert log_in(token="opaque").status_code == 401
    response = log_in(token=token)
    assert_problem(response, 429, "RATE_LIMITED")
    assert int(response.headers["Retry-After"]) > 0
    elsewhere = JSONClient(REMOTE_ADDR="192.0.2.2")
    assert log_in(elsewhere, token).status_code == 200


def test_only_refused_tokens_count(vouch: Vouch, httpserver: HTTPServer) -> None:
    RateLimit.objects.all().delete()
    token = vouch()
    assert log_in(token=token).status_code == 200
    Member.objects.update(status="SUSPENDED")
    assert log_in(token=token).status_code == 403
    httpserver.clear()
    httpserver.expect_request("/tokeninfo").respond_with_data("down", status=503)
    assert log_in(token=token).status_code == 502
    assert not any(limit.attempts for limit in RateLimit.objects.all())


def test_address_that_is_too_long_is_not_cut_to_the_one_of_another(
    vouch: Vouch,
) -> None:
    address = f"mike@{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 58}.example"
    assert len(address) <= 254
    victim = make_member(email=address + "x" * (254 - len(address)))
    vouch(email=f"{victim.email}.evil.example")
    assert log_in().data["member"]["id"] != victim.pk


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_provider_that_refuses_makes_the_token_invalid(
    httpserver: HTTPServer, status: int
) -> None:
    httpserver.expect_request("/tokeninfo").respond_with_json(
        {"error": "invalid_token"}, status=status
    )
    assert_problem(log_in(), 401, "INVALID_ID_TOKEN")


def redirect(request: Request) -> Response:
    return Response(status=302, headers={"Location": "/elsewhere"})


# Longer than the limit of the test; the answer would be good.
SLOW_SECONDS = 1.2


def sleep(request: Request) -> Response:
    time.sleep(SLOW_SECONDS)
    return Response(json.dumps(good_claims({})))


def trickle(request: Request) -> Response:
    def drops() -> Any:
        for _ in range(int(10 * SLOW_SECONDS)):
            time.sleep(0.1)
            yield b" " * 70_000
        yield json.dumps(good_claims({})).encode()

    return Response(drops(), mimetype="application/json")


FAILURES: dict[str, Any] = {
    "500": lambda request: Response("{}", status=500),
    "503": lambda request: Response("down", status=503),
    "429": lambda request: Response("{}", status=429),
    "html": lambda request: Response("<html>Sign in</html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "list": lambda request: Response("[]"),
    "text": lambda request: Response('"yes"'),
    "deep": lambda request: Response("[" * 100_000),
    "broken utf-8": lambda request: Response(b'{"sub": "\xff\xfe"}'),
    "huge number": lambda request: Response('{"exp": ' + "9" * 5000 + "}"),
    "huge": lambda request: Response(json.dumps({"sub": "x" * 2**21})),
    "redirect": redirect,
    "slow": sleep,
    "trickle": trickle,
}


@pytest.mark.parametrize("failure", FAILURES)
def test_provider_that_fails_is_502(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    limits: Any = http_client.get.__kwdefaults__
    monkeypatch.setitem(limits, "seconds", 0.8)
    httpserver.expect_request("/tokeninfo").respond_with_handler(FAILURES[failure])
    httpserver.expect_request("/elsewhere").respond_with_json({"sub": "subject-1"})
    assert_problem(log_in(), 502, "PROVIDER_UNAVAILABLE")
    assert all(request.path == "/tokeninfo" for request, _ in httpserver.log)
    assert not Member.objects.exists()


def test_provider_that_is_not_there_is_502(settings: Any, caplog: Any) -> None:
    settings.IDP_TOKENINFO_URL = f"http://127.0.0.1:{find_closed_port()}/tokeninfo"
    token = make_id_token()
    response = log_in(token=token)
    assert_problem(response, 502, "PROVIDER_UNAVAILABLE")
    assert token not in response.content.decode() + caplog.text


def test_client_id_is_public() -> None:
    assert JSONClient().get_json("/api/auth/idp-client-id") == {"clientId": CLIENT_ID}


def test_without_a_client_id_login_by_token_is_not_set_up(
    settings: Any, httpserver: HTTPServer
) -> None:
    settings.IDP_CLIENT_ID = ""
    assert_problem(log_in(), 503, "IDP_NOT_CONFIGURED")
    assert httpserver.log == []
    assert JSONClient().get_json("/api/auth/idp-client-id") == {"clientId": ""}
