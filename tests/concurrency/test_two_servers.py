"""Beyond one machine: two web servers over one pair of stores, and what they log."""

import http.client
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config.server import find_metrics_folder
from devstack.stores.data_dir import LOOPBACK
from tests.support.fault_injection import PASSWORD, RunningService, run_service

TOKEN = "metrics-token-4e1f"
SETTINGS = {
    "METRICS_TOKEN": TOKEN,
    "LOG_LEVEL": "DEBUG",
    "BILLING_TEST_MODE": "true",
    "IDP_CLIENT_ID": "client-id",
    "IDP_TOKENINFO_URL": "http://127.0.0.1:1/tokeninfo",
    "DJANGO_SUPERUSER_LOGIN_ID": "chief",
    "DJANGO_SUPERUSER_EMAIL": "chief@example.com",
    "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
}


@dataclass
class Servers:
    """Two web servers, and an administrator's token."""

    first: RunningService
    second: RunningService
    administrator: str = ""


def send(
    service: RunningService,
    method: str,
    path: str,
    body: Any = None,
    token: str = "",
    **headers: str,
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(LOOPBACK, service.port, timeout=15)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    if text is not None:
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    is_json = "json" in (response.headers["Content-Type"] or "")
    return response.status, json.loads(content) if is_json else content.decode()


def log_in(service: RunningService, login_id: str) -> str:
    body = {"loginId": login_id, "password": PASSWORD}
    status, answer = send(service, "POST", "/api/auth/login", body)
    assert status == 200, answer
    token: str = answer["token"]
    return token


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-two-") as name,
        run_service(folder := Path(name), **SETTINGS) as first,
    ):
        second = RunningService(
            first.database,
            first.fast_store,
            folder / "second.log",
            settings=first.settings,
        )
        create = ["manage.py", "createsuperuser", "--noinput", "-v", "0"]
        assert first.run_python(create).wait(60) == 0
        second.serve()
        try:
            yield Servers(first, second, log_in(first, "chief"))
        finally:
            second.stop()


def read_session(service: RunningService, token: str) -> tuple[int, Any]:
    return send(service, "GET", "/api/auth/session", token=token)


def test_member_logs_in_on_one_server_and_goes_on_at_the_other(
    servers: Servers,
) -> None:
    token = log_in(servers.first, "outage0")
    for service in (servers.second, servers.first):
        status, session = read_session(service, token)
        assert (status, session["loginId"]) == (200, "outage0")
    wallet = {"name": "Cash", "kind": "CASH"}
    path = "/api/account/wallets"
    assert send(servers.second, "POST", path, wallet, token)[0] == 201
    _, wallets = send(servers.first, "GET", path, token=token)
    assert [each["name"] for each in wallets] == ["Cash"]


def test_session_that_ends_on_one_server_is_refused_by_the_other_at_once(
    servers: Servers,
) -> None:
    for ends, other in (
        (servers.first, servers.second),
        (servers.second, servers.first),
    ):
        token = log_in(ends, "outage0")
        for _ in range(4):  # whichever process answers has a copy by now
            assert read_session(other, token)[0] == 200
        assert send(ends, "POST", "/api/auth/logout", token=token)[0] in {200, 204}
        assert read_session(other, token)[0] == 401


def test_plan_and_status_changed_on_one_server_count_on_the_other_at_once(
    servers: Servers,
) -> None:
    token = log_in(servers.second, "outage1")
    _, session = read_session(servers.second, token)
    address = f"/api/admin/members/{session['id']}"
    premium = "/api/account/budgets?year=2026&month=11"
    assert send(servers.second, "GET", premium, token=token)[0] == 403

    def change(what: str, value: str) -> None:
        body = {what: value}
        status, answer = send(
            servers.first, "PUT", f"{address}/{what}", body, servers.administrator
        )
        assert status == 200, answer

    change("plan", "PREMIUM")
    assert send(servers.second, "GET", premium, token=token)[0] == 200
    change("plan", "FREE")
    assert send(servers.second, "GET", premium, token=token)[0] == 403
    change("status", "SUSPENDED")
    assert read_session(servers.second, token)[0] == 401
    change("status", "ACTIVE")


def test_purchase_on_one_server_counts_on_the_other_at_once(servers: Servers) -> None:
    bought, other = (log_in(servers.first, "outage2") for _ in range(2))
    premium = "/api/account/tags"
    for service in (servers.first, servers.second) * 2:
        for token in (bought, other):
            assert send(service, "GET", premium, token=token)[0] == 403
    body = {"productId": "premium_monthly", "purchaseToken": "test-two-servers"}
    for service, applied in ((servers.first, True), (servers.second, False)):
        status, answer = send(
            service, "POST", "/api/billing/store/verify", body, bought
        )
        assert (status, answer["applied"]) == (200, applied)
        for token in (bought, other):
            assert send(servers.second, "GET", premium, token=token)[0] == 200
            assert read_session(servers.second, token)[1]["plan"] == "PREMIUM"
    for page in ("cancel", "subscription"):
        method = "POST" if page == "cancel" else "GET"
        _, answer = send(servers.second, method, f"/api/billing/{page}", token=other)
        assert answer["autoRenew"] is False


def test_sign_up_limit_is_shared(servers: Servers) -> None:
    # Three of the five of this hour were the members of the fixture.
    statuses = []
    for number, service in enumerate([servers.first, servers.second] * 2):
        body = {
            "loginId": f"late{number}",
            "password": PASSWORD,
            "displayName": "Late",
            "email": f"late{number}@example.com",
        }
        statuses.append(send(service, "POST", "/api/auth/signup", body)[0])
    assert statuses == [201, 201, 429, 429]


def read_metrics(service: RunningService) -> dict[str, float]:
    status, text = send(service, "GET", "/metrics", token=TOKEN)
    assert status == 200
    lines = [line.rpartition(" ") for line in text.splitlines() if line[0] != "#"]
    return {name: float(value) for name, _, value in lines}


def test_metrics_add_up_the_processes_of_a_server(servers: Servers) -> None:
    name = 'ledger_requests_total{method="GET",route="/api/health/live",status="200"}'
    before = read_metrics(servers.first).get(name, 0)
    for _ in range(20):
        assert send(servers.first, "GET", "/api/health/live")[0] == 200
    for _ in range(4):  # every process tells the same
        assert read_metrics(servers.first)[name] == before + 20
    assert read_metrics(servers.second).get(name, 0) == 0
    assert read_metrics(servers.first)["ledger_requests_in_flight"] == 1


def test_counts_outlive_the_process_that_counted(servers: Servers) -> None:
    name = 'ledger_requests_total{method="GET",route="/api/docs",status="200"}'
    for _ in range(8):
        assert send(servers.first, "GET", "/api/docs")[0] == 200
    folder = find_metrics_folder(f"{LOOPBACK}:{servers.first.port}")
    files = {file.name for file in folder.iterdir()}
    for pid in servers.first.list_workers():
        servers.first.replace_worker(pid)
    for _ in range(8):
        assert read_metrics(servers.first)[name] == 8
    assert {file.name for file in folder.iterdir()} <= files
    assert read_metrics(servers.first)["ledger_requests_in_flight"] == 1


SECRET = "s3cret-{}-0f9a8b7c6d"
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4"
)
ACCOUNT_NUMBER = "110-234-567890"


def send_secrets(service: RunningService) -> list[str]:
    """Send each request with a secret, in good and bad form; return the secrets."""
    token = log_in(service, "outage2")
    secrets = [token, PASSWORD, PICTURE[30:], ACCOUNT_NUMBER, TOKEN]

    def secret(name: str) -> str:
        secrets.append(SECRET.format(name))
        return secrets[-1]

    bodies: list[tuple[str, str, Any]] = [
        ("POST", "/api/auth/login", {"loginId": "x", "password": secret("login")}),
        ("POST", "/api/auth/login", f'{{"password": "{secret("broken")}"'),
        ("POST", "/api/auth/idp", {"idToken": secret("idp")}),
        ("POST", "/api/auth/verify-password", {"password": secret("verify")}),
        (
            "PUT",
            "/api/auth/password",
            {"currentPassword": secret("old"), "newPassword": secret("new")},
        ),
        ("PUT", "/api/auth/profile-image", {"image": PICTURE}),
        (
            "POST",
            "/api/billing/store/verify",
            {"productId": "premium_monthly", "purchaseToken": secret("purchase")},
        ),
        (
            "POST",
            "/api/billing/store/rtdn",
            {"message": {"messageId": "1", "data": secret("push")}},
        ),
        (
            "POST",
            "/api/account/wallets",
            {"name": "Bank", "kind": "BANK", "accountNumber": ACCOUNT_NUMBER},
        ),
        ("GET", f"/api/auth/session?token={secret('query')}", None),
        ("GET", f"/api/account/entries?sessionid={secret('parameter')}", None),
        ("GET", "/metrics", None),
    ]
    for method, path, body in bodies:
        for sent_as in (token, ""):
            status, answer = send(service, method, path, body, sent_as)
            assert status < 500 or answer["code"] == "PROVIDER_UNAVAILABLE", answer
    send(service, "GET", "/metrics", token=TOKEN)
    send(service, "GET", "/api/auth/session", token=secret("bearer"))
    send(service, "GET", "/api/auth/session", Cookie=f"sessionid={secret('cookie')}")
    form = f"username=chief&password={secret('form')}"
    form_type = "application/x-www-form-urlencoded"
    send(service, "POST", "/admin/login/", form, Content_Type=form_type)
    send(service, "POST", "/api/auth/login", form, Content_Type=form_type)
    return secrets


def test_log_holds_no_secret_that_requests_carried(servers: Servers) -> None:
    secrets = send_secrets(servers.first)
    log = servers.first.log.read_text()
    assert len(re.findall('"message":"request"', log)) > len(secrets)
    assert [secret for secret in secrets if secret in log] == []
    assert "only-for-tests-" not in log  # SECRET_KEY
    assert servers.first.environment["DATABASE_URL"] not in log
