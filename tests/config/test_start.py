"""The start of the service with settings of its own, and with none at all."""

import ast
import os
import subprocess
import sys

import pytest

from devstack.environment import ROOT
from tests.support.settings_process import import_settings, read_real

DATABASE = "postgresql://u@db1"
REFUSED = {
    "SECRET_KEY": [""],
    "DATABASE_URL": [
        *("", "nonsense", "sqlite:///db.sqlite3", "mysql://a.example/ledger"),
        *(
            "postgresql://u@h:abc/d",
            f"{DATABASE}:abc,db2/ledger",
            f"{DATABASE},/ledger",
        ),
        *(f"{DATABASE}:0,db2/ledger", f"{DATABASE}:65536,db2/ledger"),
        *(f"{DATABASE},db2", f"{DATABASE},db2/ledger?swordfish=1"),
    ],
    "DATABASE_POOL_SIZE": ["0"],
    "REDIS_URL": ["valkey"],
    "PUBLIC_URL": [
        *("ledger.example", "http://127.0.0.1:8000/?a=b", "http://127.0.0.1:8000/#top"),
    ],
    "ALLOWED_HOSTS": ["http://x/y", "a.example b.example", "a.example:8000"],
    "CORS_ALLOWED_ORIGINS": [
        *("ledger.example", "*", "://a.example", "https://a.example:port"),
        "https://a.example, https://b.example/app",
    ],
    "TRUSTED_PROXY_COUNT": ["-1"],
    "SESSION_TTL_DAYS": ["0"],
    "TIME_ZONE": ["Mars/Olympus"],
    "HOME_CURRENCY": ["wonder", "ZZZ"],
    "ACCOUNT_NUMBER_KEY": ["short"],
    "SECRETS_KEY": ["short"],
    "DEBUG": ["maybe"],
    "LOG_LEVEL": ["LOUD"],
    "IDP_TOKENINFO_URL": ["file:///etc/passwd"],
    "OCR_BASE_URL": ["vision", "https://a.example/v1"],
    "FX_BASE_URL": ["ftp://a.example", "https://a.example?x=1"],
    "FX_PROVIDER": ["RateSources", "os.path.join"],
    "PRICE_BASE_URL": ["https://", "https://a.example/v1"],
    "PRICE_PROVIDER": [
        *("a.b-c", "os.path.join"),
        "ledger.investments.price_providers.TOTAL_TIMEOUT_SECONDS",
    ],
    "PREMIUM_MONTHLY_PRICE": ["4,900"],
    "BILLING_TEST_MODE": ["perhaps"],
    "STORE_BASE_URL": ["play", "https://a.example/v3/"],
    "STORE_VERIFIER": ["billing.stores.Missing", "GooglePlay", "os.path.join"],
    "STORE_SERVICE_ACCOUNT": [
        *("/no/such/swordfish.json", '{"private_key": "swordfish"'),
    ],
}
MANAGE = """
import sys, runpy
sys.argv[:] = ["manage.py", "check"]
runpy.run_path("manage.py", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("start", "name", "value"),
    [
        *(("import config.wsgi", name, v) for name in REFUSED for v in REFUSED[name]),
        (MANAGE, "SECRET_KEY", ""),
    ],
)
def test_setting_that_cannot_be_stops_the_start_with_one_line(
    start: str, name: str, value: str
) -> None:
    result = import_settings(start, **{name: value})
    assert result.returncode != 0
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert name in lines[0]
    assert "swordfish" not in result.stderr


@pytest.mark.parametrize("missing", ["STORE_SERVICE_ACCOUNT", "STORE_PACKAGE_NAME"])
def test_verifier_without_what_it_needs_stops_the_start(missing: str) -> None:
    given = {
        "STORE_VERIFIER": "billing.stores.google_play.GooglePlay",
        "STORE_SERVICE_ACCOUNT": '{"private_key": "swordfish"}',
        "STORE_PACKAGE_NAME": "com.example.ledger",
    }
    del given[missing]
    result = import_settings("import config.wsgi", **given)
    assert result.returncode != 0
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert missing in result.stderr
    assert "swordfish" not in result.stderr


REAL = {
    "IDP_TOKENINFO_URL": "https://oauth2.googleapis.com/tokeninfo",
    "OCR_BASE_URL": "https://vision.googleapis.com",
    "FX_BASE_URL": "https://api.frankfurter.dev",
    "STORE_BASE_URL": "https://androidpublisher.googleapis.com",
    "STORE_VERIFIER": "billing.stores.StubVerifier",
    "BILLING_TEST_MODE": False,
    "METRICS_TOKEN": "",
    "IDP_CLIENT_ID": "",
    "CORS_ALLOWED_ORIGINS": [],
}


def test_services_are_the_real_ones_and_the_store_a_stub_unless_set() -> None:
    shown = read_real(f"[getattr(settings, name) for name in {list(REAL)}]")
    values = ast.literal_eval(shown)
    assert dict(zip(REAL, values, strict=True)) == REAL


ASK_FROM_ELSEWHERE = """
import django
django.setup()
from django.test import Client
for origin in ("https://app.example", "https://evil.example"):
    asked = {"origin": origin, "access-control-request-method": "PUT",
             "access-control-request-headers": "authorization"}
    live = Client(headers=asked).get("/api/health/live")
    first = Client(headers=asked).options("/api/billing/cancel")
    names = ("Origin", "Credentials", "Headers")
    print([live.get("Access-Control-Allow-Origin")]
          + [live.get("Access-Control-Expose-Headers")]
          + [first.get(f"Access-Control-Allow-{name}") for name in names])
"""


def test_pages_of_listed_origins_alone_may_call_and_send_no_cookie() -> None:
    result = import_settings(
        ASK_FROM_ELSEWHERE, CORS_ALLOWED_ORIGINS="https://app.example"
    )
    assert result.returncode == 0, result.stderr
    listed, other = map(ast.literal_eval, result.stdout.strip().splitlines())
    origin = "https://app.example"
    exposed = "Content-Disposition, ETag, Idempotency-Replayed, Location"
    exposed += ", Operation-Id, Retry-After, X-Request-ID"
    assert listed[:4] == [origin, exposed, origin, None]
    assert {"authorization", "idempotency-key", "if-match"} <= set(
        listed[4].split(", ")
    )
    assert other[:4] == [None, None, None, None]


def test_origin_of_a_packaged_app_is_taken() -> None:
    origins = "capacitor://localhost, https://a.example:8443"
    result = import_settings("import config.wsgi", CORS_ALLOWED_ORIGINS=origins)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "hosts", ["*", ".ledger.example", "[::1], a-b.example, 10.0.0.1"]
)
def test_hosts_of_every_kind_are_taken(hosts: str) -> None:
    assert import_settings("import config.wsgi", ALLOWED_HOSTS=hosts).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        ("config.server",),
        ("celery", "-A", "config", "beat"),
        ("celery", "-A", "config", "worker"),
    ],
    ids=" ".join,
)
def test_start_by_other_means_without_a_key_stops_with_one_line(
    command: tuple[str, ...],
) -> None:
    left = {k: v for k, v in os.environ.items() if k != "SECRET_KEY"}
    own = {"DJANGO_SETTINGS_MODULE": "config.settings", "BIND": "127.0.0.1:1"}
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=left | own | {"DEBUG": "false"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert run.returncode != 0
    assert run.stderr.strip().splitlines() == [
        "configuration: SECRET_KEY is not set: it signs tokens and keys hashes."
    ]
