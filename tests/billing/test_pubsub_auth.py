"""Authentication of pushes, with STORE_PUSH_AUDIENCE set."""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from billing.models import StoreNotification
from tests.support.clients import JSONClient
from tests.support.fake_google import MakeIdToken, sign
from tests.support.problems import assert_problem

PATH = "/api/billing/store/rtdn"


def push(token: str | None, scheme: str = "Bearer", message_id: str = "1") -> Any:
    extra = {"HTTP_AUTHORIZATION": f"{scheme} {token}"} if token is not None else {}
    body = {"message": {"messageId": message_id, "data": ""}}
    return JSONClient().send("POST", PATH, body, **extra)


def assert_refused(response: Any) -> None:
    assert_problem(response, 401, "INVALID_ID_TOKEN")
    assert not StoreNotification.objects.exists()


def test_push_with_the_right_token_is_accepted(vouch: MakeIdToken) -> None:
    assert push(vouch()).status_code == 200
    assert StoreNotification.objects.count() == 1


def test_without_an_audience_no_token_is_needed(settings: Any) -> None:
    assert settings.STORE_PUSH_AUDIENCE == ""
    assert push(None).status_code == 200
    assert push("nonsense", message_id="2").status_code == 200


def test_push_without_a_token_is_401(vouch: MakeIdToken) -> None:
    token = vouch()
    assert_refused(push(None))
    assert_refused(push(token, scheme="Basic"))


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://elsewhere.example"},
        {"email": "somebody@else.example"},
        {"email_verified": False},
        {"iss": "https://evil.example"},
        {"exp": 1_000_000_000},
        {"aud": ["x"]},
    ],
)
def test_token_with_other_claims_is_401(vouch: MakeIdToken, claims: Any) -> None:
    assert_refused(push(vouch(**claims)))


@pytest.mark.parametrize(
    "token",
    ["", "x", "a.b.c", "e30.e30.e30", "é.é.é", sign([]), sign("x"), "." * 10_000],
)
def test_broken_token_is_401_and_google_is_not_asked(
    vouch: MakeIdToken, httpserver: HTTPServer, token: str
) -> None:
    vouch()
    assert_refused(push(token))
    assert httpserver.log == []


def test_token_that_google_does_not_confirm_is_401(
    vouch: MakeIdToken, httpserver: HTTPServer
) -> None:
    token = vouch()
    httpserver.clear()
    httpserver.expect_request("/tokeninfo").respond_with_json({}, status=400)
    assert_refused(push(token))


def test_unreachable_google_is_502_so_that_the_push_is_repeated(
    vouch: MakeIdToken, settings: Any
) -> None:
    token = vouch()
    settings.IDP_TOKENINFO_URL = "http://127.0.0.1:1/tokeninfo"
    assert push(token).status_code == 502
    assert not StoreNotification.objects.exists()


def test_token_is_checked_once_for_its_hour(
    vouch: MakeIdToken, httpserver: HTTPServer
) -> None:
    token = vouch()
    for number in range(5):
        assert push(token, message_id=str(number)).status_code == 200
    assert len(httpserver.log) == 1


def test_email_is_checked_only_where_set(vouch: MakeIdToken, settings: Any) -> None:
    settings.STORE_PUSH_EMAIL = ""
    assert push(vouch(email="somebody@else.example")).status_code == 200
