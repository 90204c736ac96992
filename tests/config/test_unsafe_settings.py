"""With an https URL, unsafe settings stop the start unless they are accepted by name."""

import pytest

from config.unsafe_settings import UNSAFE_SETTINGS
from tests.support.settings_process import SAFE_SETTINGS, import_settings

START = "from config.env import validate_settings_or_exit as start; start()"
TRUSTED = "postgresql://ledger:{}@db.example/ledger{}"
PASSWORD = "mnbvc-9431-qwert"

UNSAFE = [
    ("secret_key", "SECRET_KEY", "a"),
    ("secret_key", "SECRET_KEY", "k" * 50),
    ("secret_key", "SECRET_KEY", "abcdefghij" * 6),
    ("secret_key", "SECRET_KEY", "only-for-this-step-" * 3),
    ("secret_key", "SECRET_KEY", "django-insecure-3vhf&8n1o!xq2w#9zr5t7y0u4i6p"),
    ("secret_key", "SECRET_KEY_FALLBACKS", "a"),
    ("debug", "DEBUG", "true"),
    ("test_billing", "BILLING_TEST_MODE", "true"),
    ("no_proxy", "TRUSTED_PROXY_COUNT", "0"),
    ("push_audience", "STORE_PUSH_AUDIENCE", ""),
    ("push_email", "STORE_PUSH_EMAIL", ""),
    ("any_host", "ALLOWED_HOSTS", "ledger.example,*"),
    ("plain_origins", "CORS_ALLOWED_ORIGINS", "https://a.example,http://b.example"),
    (
        "database_password",
        "DATABASE_URL",
        "postgresql://ledger@db.example/ledger?sslmode=require",
    ),
    ("database_tls", "DATABASE_URL", TRUSTED.format(PASSWORD, "")),
    ("database_tls", "DATABASE_URL", TRUSTED.format(PASSWORD, "?sslmode=prefer")),
    (
        "database_tls",
        "DATABASE_URL",
        f"postgresql://u:{PASSWORD}@127.0.0.1,db.example/ledger",
    ),
    ("valkey_password", "REDIS_URL", "rediss://valkey.example"),
    ("valkey_tls", "REDIS_URL", f"redis://:{PASSWORD}@10.0.0.7"),
    ("short_password", "REDIS_URL", "rediss://:valkey@10.0.0.7"),
    ("short_password", "DATABASE_URL", TRUSTED.format("postgres", "?sslmode=require")),
    (
        "short_password",
        "DATABASE_URL",
        TRUSTED.format("change-me-please", "?sslmode=require"),
    ),
    ("metrics_token", "METRICS_TOKEN", "metrics"),
    ("provider_urls", "IDP_TOKENINFO_URL", "http://idp.example/tokeninfo"),
    ("provider_urls", "STORE_BASE_URL", "https://127.0.0.1:9"),
    ("provider_urls", "FX_BASE_URL", "http://localhost:9"),
    ("object_store_tls", "S3_ENDPOINT_URL", "http://s3.example"),
    ("account_numbers", "ACCOUNT_NUMBER_KEY", ""),
    ("debug_log", "LOG_LEVEL", "debug"),
]


def test_safe_settings_start() -> None:
    result = import_settings(START, **SAFE_SETTINGS)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    "changed",
    [
        {"SECRET_KEY": "0123456789abcdef5a3c1e7f9b2d4860"},
        {"DATABASE_URL": "postgresql://ledger@localhost/ledger"},
        {"DATABASE_URL": "postgresql:///ledger?host=/run/postgresql"},
        {"DATABASE_URL": TRUSTED.format(PASSWORD, "?sslmode=verify-full")},
        {
            "DATABASE_URL": "postgresql://ledger@db.example/ledger?sslmode=require",
            "PGPASSWORD": PASSWORD,
        },
        {"REDIS_URL": "redis://[::1]:6379/0"},
        {"REDIS_URL": f"rediss://:{PASSWORD}@valkey.example/0"},
        {"CORS_ALLOWED_ORIGINS": "capacitor://localhost,http://localhost"},
        {"METRICS_TOKEN": "4f0b2c9d7e8a1635"},
        {"ALLOWED_HOSTS": ".ledger.example"},
    ],
    ids=str,
)
def test_other_safe_settings_start_too(changed: dict[str, str]) -> None:
    result = import_settings(START, **SAFE_SETTINGS | changed)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(("name", "variable", "value"), UNSAFE)
def test_unsafe_setting_stops_the_start_with_one_line_unless_accepted(
    name: str, variable: str, value: str
) -> None:
    changed = SAFE_SETTINGS | {variable: value}
    result = import_settings(START, **changed)
    assert result.returncode != 0
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("configuration: ")
    assert variable in line
    assert f"ACCEPT_UNSAFE={name}" in line
    assert PASSWORD not in line
    accepted = import_settings(START, **changed, ACCEPT_UNSAFE=name)
    assert (accepted.returncode, accepted.stderr) == (0, "")


def test_every_unsafe_setting_is_tried() -> None:
    assert {name for name, _, _ in UNSAFE} == set(UNSAFE_SETTINGS)


def test_all_unsafe_settings_are_told_at_once_and_accepted_one_by_one() -> None:
    changed = {"SECRET_KEY": "a", "DEBUG": "true", "BILLING_TEST_MODE": "true"}
    result = import_settings(START, **SAFE_SETTINGS | changed)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 3
    assert all(line.startswith("configuration: ") for line in lines)
    accepted = {"ACCEPT_UNSAFE": "debug, test_billing"}
    result = import_settings(START, **SAFE_SETTINGS | changed | accepted)
    (line,) = result.stderr.strip().splitlines()
    assert "SECRET_KEY" in line


def test_unknown_name_is_refused() -> None:
    result = import_settings(START, **SAFE_SETTINGS, ACCEPT_UNSAFE="debug,everything")
    (line,) = result.stderr.strip().splitlines()
    assert "ACCEPT_UNSAFE has no everything" in line


@pytest.mark.parametrize(("name", "variable", "value"), UNSAFE[:9])
def test_nothing_is_refused_without_https(name: str, variable: str, value: str) -> None:
    plain = {variable: value, "PUBLIC_URL": "http://127.0.0.1:8000"}
    assert import_settings(START, **SAFE_SETTINGS | plain).returncode == 0
