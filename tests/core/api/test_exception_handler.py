"""Refusals look alike wherever they come from, and no body brings the service down."""

import gzip
import json
import re
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import Member
from config.urls import handler400, handler403, handler404, handler500
from core.api.permissions import AllowAny
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem
from tests.support.stores import disconnect_database

SECRET = "the-password-is-swordfish"


class BrokenView(APIView):
    permission_classes = [AllowAny]

    def get(self, request: Request) -> None:
        raise RuntimeError(SECRET)

    post = get


def break_outside_the_api(request: HttpRequest) -> HttpResponse:
    raise RuntimeError(SECRET)


urlpatterns = [
    path("api/broken", BrokenView.as_view()),
    path("broken", break_outside_the_api),
    path("", include("config.urls")),
]
__all__ = ["handler400", "handler403", "handler404", "handler500"]

LOGIN = "/api/auth/login"
WALLETS = "/api/account/wallets"


def post(client: JSONClient, body: bytes, kind: str = "application/json") -> Any:
    return client.generic("POST", LOGIN, body, content_type=kind)


@pytest.mark.parametrize(
    "address",
    [
        *("/api", "/api/nothing", "/api/auth", "/api/auth/login/", "/nothing"),
        *("/api/account/wallets/x", "/api/account/wallets/1.5", "/%00"),
        *("/api/%ff%fe", "/api/" + "x" * 4000),
    ],
)
def test_unknown_address_is_404(anonymous: JSONClient, address: str) -> None:
    assert_problem(anonymous.get(address), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "GET", "PROPFIND"])
def test_method_that_is_not_answered_is_405_and_says_which_are(
    anonymous: JSONClient, method: str
) -> None:
    response = anonymous.send(method, LOGIN)
    assert_problem(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["Allow"] == "POST"


def test_login_is_asked_for_before_the_method(anonymous: JSONClient) -> None:
    assert anonymous.send("PATCH", WALLETS).status_code in {401, 405}


@pytest.mark.parametrize(
    "accept",
    [
        *("*/*", "application/json", "application/*", "text/html, */*;q=0.1"),
        *("text/csv", "application/problem+json", "nonsense", ";", "a/b;q=x", "*"),
    ],
)
def test_json_is_what_is_answered(anonymous: JSONClient, accept: str) -> None:
    response = anonymous.get("/api/health/live", HTTP_ACCEPT=accept)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "kind",
    [
        *("text/plain", "application/x-www-form-urlencoded"),
        *("multipart/form-data; boundary=x", "application/xml", "nonsense"),
    ],
)
def test_body_of_another_type_is_415(anonymous: JSONClient, kind: str) -> None:
    assert_problem(post(anonymous, b"loginId=a", kind), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "identity, br", "x-nothing"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_compressed_body_is_415_before_it_is_read(
    client: JSONClient, method: str, coding: str
) -> None:
    path = "/api/auth/me" if method == "DELETE" else "/api/account/wallets"
    path += "/1" if method in {"PUT", "PATCH"} else ""
    body = gzip.compress(b'{"name": "Cash", "kind": "CASH"}')
    response = client.generic(
        method, path, body, "application/json", headers={"content-encoding": coding}
    )
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert response.headers["Accept-Encoding"] == "identity"
    assert "compressed" in json.loads(response.content)["detail"]


def test_store_notification_may_not_be_compressed_either(anonymous: JSONClient) -> None:
    response = anonymous.post("/api/billing/store/rtdn", HTTP_CONTENT_ENCODING="gzip")
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("coding", ["identity", "", "Identity"])
def test_identity_is_no_compression(client: JSONClient, coding: str) -> None:
    body = {"name": f"Cash {coding}", "kind": "CASH"}
    response = client.send("POST", WALLETS, body, HTTP_CONTENT_ENCODING=coding)
    assert response.status_code == 201


@pytest.mark.parametrize(
    "path", [WALLETS, LOGIN, "/api/account/wallets/1", "/api/admin/members"]
)
def test_preflight_needs_no_login(anonymous: JSONClient, path: str) -> None:
    response = anonymous.options(
        path,
        HTTP_ORIGIN="https://app.example",
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="PUT",
    )
    assert_problem(response, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in response.headers["Allow"] or "GET" in response.headers["Allow"]


def test_body_of_three_megabytes_is_413(anonymous: JSONClient) -> None:
    body = b'{"loginId": "' + b"x" * 3_000_000 + b'"}'
    assert_problem(post(anonymous, body), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b"{'loginId': 'a'}", b'{"loginId": "a",}', b"[" * 16_000),
        *(b"[" * 8_000 + b"]" * 8_000, b'{"a":' * 2_500 + b"1" + b"}" * 2_500),
        *(
            b'{"loginId": ' + login_id + b', "password": "x"}'
            for login_id in (
                *(b"NaN", b"Infinity", b"-Infinity", b"9" * 5_000, b"1e400"),
                *(
                    b"1e999999999",
                    b"1e9999999999999999999",
                    b"1" + b"0" * 4_000 + b".5",
                ),
                *(b'"a\\u0000b"', b'"a\\ud800b"', b'"a\x00b"'),
            )
        ),
        *(b'{"loginId": "\xff\xfe", "password": "x"}', b'\xff\xfe{\x00"\x00}\x00'),
        *(b'{"loginId": "\xed\xa0\x80", "password": "x"}', b"", b"   "),
        *(b"\xef\xbb\xbf", b"null", b"5", b'"text"', b"true", b"[]"),
        *(b'[{"loginId": "a", "password": "x"}]', b"{}"),
        b'{"loginId": {"$ne": ""}, "password": {"$ne": ""}}',
    ],
    ids=lambda body: repr(body[:32]),
)
def test_hostile_body_is_400(anonymous: JSONClient, body: bytes) -> None:
    assert_problem(post(anonymous, body), 400, "VALIDATION_ERROR")


def test_longer_hostile_body_is_not_parsed(anonymous: JSONClient) -> None:
    assert_problem(post(anonymous, b"[" * 100_000), 413, "PAYLOAD_TOO_LARGE")


def test_body_that_is_null_is_refused_in_korean(client: JSONClient) -> None:
    options: Any = {"content_type": "application/json", "HTTP_ACCEPT_LANGUAGE": "ko"}
    response: Any = client.generic("POST", WALLETS, b"null", **options)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert re.search("[가-힣]", response.json()["errors"][0]["detail"])


@pytest.mark.parametrize(
    "amount",
    [
        *(b"1e400", b"1e999999999", b"1e9999999999999999999", b"-1e400", b"1e-400"),
        *(b"9" * 4000, b"1.5", b"0.1e1"),
    ],
    ids=lambda amount: repr(amount[:16]),
)
def test_number_out_of_all_bounds_is_400_where_numbers_are_read(
    amount: bytes, client: JSONClient
) -> None:
    body = b'{"name": "Cash", "kind": "CASH", "openingBalance": ' + amount + b"}"
    response = client.generic("POST", WALLETS, body, content_type="application/json")
    if amount == b"0.1e1":
        assert response.status_code in {201, 400}
    else:
        assert_problem(response, 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbf{"loginId": "nobody", "password": "x"}',
        b'{"loginId": 5, "loginId": "nobody", "password": "x"}',
    ],
    ids=["byte order mark", "last of two equal keys"],
)
def test_unusual_json_is_read(anonymous: JSONClient, body: bytes) -> None:
    assert_problem(post(anonymous, body), 401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize(
    "kind",
    [
        *(f"application/json; charset={x}" for x in ("utf-8", "utf-16", "bz2", "no")),
        *('application/json; charset="', "APPLICATION/JSON"),
    ],
)
def test_json_is_utf_8_whatever_the_charset_says(
    anonymous: JSONClient, kind: str
) -> None:
    response = post(anonymous, b'{"loginId": "nobody", "password": "x"}', kind)
    assert response.status_code in {401, 415}


def test_validation_errors_name_their_fields(anonymous: JSONClient) -> None:
    response = anonymous.send("POST", LOGIN, {"loginId": 5})
    errors = {error["field"]: error for error in response.data["errors"]}
    assert set(errors) == {"loginId", "password"}
    assert errors["password"]["code"] == "required"
    assert all(error["detail"] for error in errors.values())


def test_body_that_is_no_object_is_an_error_of_the_body(anonymous: JSONClient) -> None:
    response = anonymous.send("POST", LOGIN, [1])
    assert [error["field"] for error in response.data["errors"]] == ["body"]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("address", ["/api/broken", "/broken"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_fault_is_500_without_internals(
    anonymous: JSONClient, address: str, method: str
) -> None:
    response = anonymous.send(method, address)
    assert_problem(response, 500, "INTERNAL_ERROR")
    assert SECRET.encode() not in response.content
    assert b"Traceback" not in response.content
    assert response.headers["X-Request-ID"]


def test_database_that_is_away_is_503_with_the_time_to_wait(client: JSONClient) -> None:
    with disconnect_database():
        for method, address in (("GET", WALLETS), ("POST", WALLETS), ("POST", LOGIN)):
            body = {"loginId": "nobody", "password": "x", "name": "a", "kind": "CASH"}
            response = client.send(method, address, body)
            assert_problem(response, 503, "SERVICE_UNAVAILABLE")
            assert int(response.headers["Retry-After"]) > 0


def test_admin_says_503_too_while_the_database_is_away(anonymous: JSONClient) -> None:
    anonymous.cookies["sessionid"] = "some-key"
    with disconnect_database():
        response = anonymous.get("/admin/")
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0


def test_host_that_is_not_ours_is_400(anonymous: JSONClient) -> None:
    response = anonymous.get("/api/users", HTTP_HOST="evil.example")
    assert response.status_code in {400, 401}
    response = anonymous.get("/admin/login/", HTTP_HOST="evil.example")
    assert_problem(response, 400, "VALIDATION_ERROR")


def test_form_of_the_admin_without_its_token_is_refused_alike(db: None) -> None:
    browser = JSONClient(enforce_csrf_checks=True)
    response = browser.post("/admin/login/", {"username": "a", "password": "b"})
    assert_problem(response, 403, "CSRF_FAILED")


def test_allow_names_no_method_that_is_refused(free_member: Member) -> None:
    client = JSONClient(free_member)
    for url in ("/api/account/wallets", "/api/auth/session", "/api/schema"):
        assert "OPTIONS" not in client.send("GET", url).headers["Allow"]
        assert client.send("OPTIONS", url).status_code == 405
