"""Settings from the environment: a bad value stops the start with one line."""

import ast
import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from redis import Redis

from config import env
from tests.support.settings_process import SAFE_SETTINGS, read_real

NAME = "LEDGER_TEST_SETTING"
KEY = bytes(range(32))

Set = Callable[[str], None]


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Return `setting(value)`, which sets the variable that the tests read."""
    monkeypatch.delenv(NAME, raising=False)
    return lambda value: monkeypatch.setenv(NAME, value)


@pytest.mark.parametrize("value", ["", "  "])
def test_empty_value_counts_as_unset(setting: Set, value: str) -> None:
    setting(value)
    assert env.read_text(NAME, "default") == "default"
    assert env.read_bool(NAME, default=True) is True
    assert env.read_int(NAME, 7) == 7
    assert env.read_list(NAME) == []
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is not set: it matters."):
        env.read_required(NAME, "it matters")


def test_text_is_read_without_surrounding_blanks(setting: Set) -> None:
    setting("  a b ")
    assert env.read_text(NAME) == "a b"


def test_text_is_read_from_a_file_that_another_setting_names(
    setting: Set, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a@b#c \n", encoding="utf-8")
    monkeypatch.setenv(f"{NAME}_FILE", str(secret))
    assert env.read_text(NAME) == "a@b#c"
    setting("other")
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} and {NAME}_FILE are both"):
        env.read_text(NAME)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff"])
def test_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    secret = tmp_path / "secret"
    if content is not None:
        secret.write_bytes(content)
    monkeypatch.setenv(f"{NAME}_FILE", str(secret))
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}_FILE: {secret}: "):
        env.read_text(NAME)


@pytest.mark.parametrize("password", ["p@ss#wo/rd:?&%41", "비밀 번호"])
def test_password_beside_the_url_may_have_any_characters(
    tmp_path: Path, password: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(password + "\n", encoding="utf-8")
    files = dict.fromkeys(
        ("DATABASE_PASSWORD_FILE", "REDIS_PASSWORD_FILE"), str(secret)
    )
    given = files | {
        "DATABASE_URL": "postgresql://ledger@db.example:5432/ledger",
        "REDIS_URL": "rediss://valkey.example:6379/3",
    }
    database = "settings.DATABASES['default']"
    names = f"[{database}['PASSWORD'], {database}['HOST'], settings.REDIS_URL]"
    read, host, url = ast.literal_eval(read_real(names, **given))
    assert (read, host) == (password, "db.example")
    with Redis.from_url(url) as client:
        connection = client.connection_pool.connection_kwargs
        assert connection["password"] == password
        assert (connection["host"], connection["db"]) == ("valkey.example", 3)


def test_database_may_be_reached_by_its_socket() -> None:
    url = "postgresql://ledger@%2Frun%2Fpostgresql/ledger"
    assert env.parse_database_url(url)["HOST"] == "/run/postgresql"
    # Neither a password nor TLS is missed: it is on this machine.
    given = SAFE_SETTINGS | {"DATABASE_URL": url}
    host = "settings.DATABASES['default']['HOST']"
    assert read_real(host, **given) == "/run/postgresql"


def test_password_of_the_url_goes_before_the_other() -> None:
    url = "postgresql://u:inside@db.example/ledger"
    assert env.parse_database_url(url, "outside")["PASSWORD"] == "inside"
    assert env.add_password("redis://:inside@h/0", "outside") == "redis://:inside@h/0"
    hosts = "postgresql://u@db1,db2/ledger"
    assert env.parse_database_url(hosts, "a@b")["PASSWORD"] == "a@b"


@pytest.mark.parametrize(
    ("value", "flag"),
    [("true", True), ("YES", True), ("1", True), ("False", False), ("0", False)],
)
def test_flag_is_true_or_false(setting: Set, value: str, flag: bool) -> None:
    setting(value)
    assert env.read_bool(NAME, default=not flag) is flag


REFUSED: list[tuple[Callable[[], object], str, list[str]]] = [
    (
        lambda: env.read_bool(NAME, default=False),
        *("must be true or false", ["maybe", "2", "truth", "-1"]),
    ),
    (
        lambda: env.read_int(NAME, 5, maximum=10),
        "must be a whole number from 0 to 10",
        ["x", "-1", "1.5", "11", "１", "1e1", "+1", "1_0"],
    ),
    (
        lambda: env.read_url(NAME, "", schemes=("http", "https")),
        "scheme http or https",
        [
            "ledger.example",
            "ftp://a.example",
            "https://",
            "https://a:port",
            "https://[x",
        ],
    ),
    (
        lambda: env.read_time_zone(NAME, "Asia/Seoul"),
        *("unknown time zone", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd"]),
    ),
    (
        lambda: env.read_encryption_keys(NAME),
        f"^{NAME} must be base64 of 32 bytes.$",
        ["x", "AAAA", base64.b64encode(b"a" * 31).decode(), "+_" * 22],
    ),
    (
        lambda: env.read_json_object(NAME),
        f"^{NAME} must be a JSON object or the path of a file with one.$",
        ["[]", "{", "1", "/no/such/file", "{" * 100_000],
    ),
]


@pytest.mark.parametrize(
    ("read", "message", "value"),
    [(read, message, v) for read, message, values in REFUSED for v in values],
)
def test_other_value_is_refused(
    setting: Set, read: Callable[[], object], message: str, value: str
) -> None:
    setting(value)
    with pytest.raises(ImproperlyConfigured, match=message) as refusal:
        read()
    assert NAME in str(refusal.value)


def test_list_is_separated_by_commas(setting: Set) -> None:
    setting(" a, b ,,c ")
    assert env.read_list(NAME) == ["a", "b", "c"]


def test_address_loses_the_slash_at_its_end(setting: Set) -> None:
    setting("https://ledger.example/")
    assert env.read_url(NAME, "", schemes=("https",)) == "https://ledger.example"


def test_seal_keys_are_base64_of_32_bytes(setting: Set) -> None:
    other = b"\xff" * 32
    plain = base64.b64encode(KEY).decode()
    setting(f"{plain},{base64.urlsafe_b64encode(other).decode()}")
    assert env.read_encryption_keys(NAME) == [KEY, other]


def test_json_object_is_given_or_lies_in_a_file(setting: Set, tmp_path: Path) -> None:
    assert env.read_json_object(NAME) == {}
    setting('{"a": 1}')
    assert env.read_json_object(NAME) == {"a": 1}
    file = tmp_path / "account.json"
    file.write_text('{"b": 2}', encoding="utf-8")
    setting(str(file))
    assert env.read_json_object(NAME) == {"b": 2}


@pytest.mark.parametrize(
    ("url", "hosts", "ports"),
    [
        ("postgres://u:p@db1:5432,db2:5433/ledger", "db1,db2", "5432,5433"),
        ("pgsql://u:p@db1,db2:5433,db3/ledger", "db1,db2,db3", "5432,5433,5432"),
        ("postgresql://u:p@[::1]:1,[::2]/ledger", "::1,::2", "1,5432"),
    ],
)
def test_url_of_several_hosts_asks_for_the_one_that_accepts_writes(
    url: str, hosts: str, ports: str
) -> None:
    database = env.parse_database_url(f"{url}?sslmode=require")
    assert database == {
        "NAME": "ledger",
        "USER": "u",
        "PASSWORD": "p",
        "HOST": hosts,
        "PORT": ports,
        "OPTIONS": {
            "target_session_attrs": "read-write",
            "connect_timeout": 2,
            "sslmode": "require",
        },
    }


def test_url_of_several_hosts_may_hold_any_password_and_own_options() -> None:
    url = "postgresql://u:p%40%2C%2Fx@db1,db2/ledger?connect_timeout=9"
    database = env.parse_database_url(url)
    assert database["PASSWORD"] == "p@,/x"
    assert database["OPTIONS"]["connect_timeout"] == "9"


def test_comma_in_a_password_or_option_is_not_a_second_host() -> None:
    database = env.parse_database_url("postgresql://u:p,q@db1/ledger?options=a,b")
    assert (database["HOST"], database["PASSWORD"]) == ("db1", "p,q")
    assert database["OPTIONS"] == {"options": "a,b"}


def test_https_makes_cookies_secure() -> None:
    shown = "settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE"
    assert read_real(shown, **SAFE_SETTINGS) == "True True"
    assert read_real(shown, PUBLIC_URL="http://ledger.example") == "False False"


def test_public_host_is_allowed_without_a_word() -> None:
    hosts = read_real("settings.ALLOWED_HOSTS", **SAFE_SETTINGS)
    assert "'ledger.example'" in hosts


def test_debug_is_off_unless_asked_for() -> None:
    assert read_real("settings.DEBUG") == "False"


def test_home_is_seoul_and_won_unless_set() -> None:
    shown = "settings.TIME_ZONE, settings.HOME_CURRENCY, settings.SESSION_TTL_DAYS"
    assert read_real(shown) == "Asia/Seoul KRW 14"
    given = {"TIME_ZONE": "UTC", "HOME_CURRENCY": "eur", "SESSION_TTL_DAYS": "3"}
    assert read_real(shown, **given) == "UTC EUR 3"


def test_header_of_a_proxy_about_https_counts_only_with_a_proxy() -> None:
    assert read_real("settings.SECURE_PROXY_SSL_HEADER") == "None"
    shown = read_real("settings.SECURE_PROXY_SSL_HEADER", TRUSTED_PROXY_COUNT="1")
    assert "HTTP_X_FORWARDED_PROTO" in shown


def test_public_url_is_the_port_of_this_machine_unless_set() -> None:
    shown = "settings.PUBLIC_URL, settings.HAS_PUBLIC_URL"
    assert read_real(shown) == "http://127.0.0.1:8000 False"
    assert read_real(shown, PORT="8123") == "http://127.0.0.1:8123 False"
    url = "https://ledger.example"
    assert read_real(shown, **SAFE_SETTINGS) == f"{url} True"
