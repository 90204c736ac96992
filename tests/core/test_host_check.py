"""The Host header: checked everywhere but where probes ask, by whatever address."""

from typing import Any

import pytest
from django.test import Client

from core.middleware import PROBE_PATHS
from tests.support.routes import list_routes

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-the-operators"
# Of a pod, a service, a container, and a made-up one.
PROBE_HOSTS = [
    *("127.0.0.1:8000", "10.244.1.7:8000", "ledger-web.default.svc"),
    *("[fd00::7]", "a b"),
]


@pytest.fixture(autouse=True)
def _hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["ledger.example"]
    settings.METRICS_TOKEN = TOKEN


def get(path: str, host: str) -> int:
    headers: Any = {"HTTP_HOST": host, "HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}
    return Client(raise_request_exception=False).get(path, **headers).status_code


@pytest.mark.parametrize("host", PROBE_HOSTS)
@pytest.mark.parametrize("path", sorted(PROBE_PATHS))
def test_probes_are_answered_by_any_address(path: str, host: str) -> None:
    assert get(path, host) == 200


def test_probes_are_health_liveness_and_metrics_only() -> None:
    assert {"/api/health", "/api/health/live", "/metrics"} == PROBE_PATHS


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/admin/login/", "/api/docs", "/api/schema", "/api/meta"),
        *("/api/auth/session", "/api/account/entries", "/api/board/posts"),
        *("/api/health/", "/api/health/live/", "/api/healthy", "/metrics/", "/health"),
        *("/api//health", "/API/health", "/api/health/live/../../meta"),
    ],
)
def test_all_else_is_refused_under_a_host_that_is_not_allowed(path: str) -> None:
    assert get(path, "10.244.1.7:8000") == 400
    assert get(path, "ledger.example") != 400


def test_no_route_but_those_of_probes_is_answered_under_another_host() -> None:
    paths = {route.address() for route in list_routes() if "GET" in route.methods}
    assert paths > PROBE_PATHS
    assert {path for path in paths if get(path, "evil.example") != 400} == PROBE_PATHS
