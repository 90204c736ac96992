"""Typed reading of settings from environment variables.

The message of `ImproperlyConfigured` names the variable.
"""

import base64
import binascii
import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

ENCRYPTION_KEY_BYTES = 32
DEFAULT_PORT, DEFAULT_POSTGRES_PORT, MAX_PORT = 8_000, "5432", 65_535
# PostgreSQL's client library takes no less.
FAILOVER_CONNECT_TIMEOUT_SECONDS = 2

_environment = environ.Env()
_HOST_RE = re.compile(r"\*|\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")


def validate_settings_or_exit() -> None:
    try:
        # The first access loads all settings.
        settings.INSTALLED_APPS  # noqa: B018
    except ImproperlyConfigured as error:
        sys.exit(f"configuration: {error}")


def read_text(name: str, default: str = "") -> str:
    """Return the stripped value; an empty value counts as unset.

    NAME_FILE may name a file that holds the value.
    """
    value = os.environ.get(name, "").strip()
    path = os.environ.get(f"{name}_FILE", "").strip()
    if not path:
        return value or default
    if value:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set.")
    try:
        return Path(path).read_text("utf-8").strip() or default
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise ImproperlyConfigured(f"{name}_FILE: {path}: {reason}.") from None


def read_required(name: str, reason: str) -> str:
    value = read_text(name)
    if not value:
        raise ImproperlyConfigured(f"{name} is not set: {reason}.")
    return value


def read_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = read_text(name, default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}.")
    return value


def read_bool(name: str, *, default: bool) -> bool:
    value = read_text(name).lower()
    if not value:
        return default
    if value in _environment.BOOLEAN_TRUE_STRINGS:
        return True
    if value in {"false", "off", "no", "n", "0"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}.")


def read_int(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31) -> int:
    value = read_text(name)
    if not value:
        return default
    is_number = value.isascii() and value.isdigit()
    if not is_number or not minimum <= int(value) <= maximum:
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {minimum} to {maximum}, not {value!r}."
        )
    return int(value)


def read_list(name: str) -> list[str]:
    return [part.strip() for part in read_text(name).split(",") if part.strip()]


def read_url(
    name: str, default: str, *, schemes: tuple[str, ...] = ("http", "https")
) -> str:
    """Return an absolute URL without a trailing slash.

    HTTP URLs may not have a query or fragment; other URLs hold options there.
    """
    value = read_text(name, default).rstrip("/")
    has_query = "http" in schemes and bool(set(value) & set("?#"))
    if has_query or not _is_url(value, schemes):
        raise ImproperlyConfigured(
            f"{name} must be a URL with the scheme {' or '.join(schemes)}."
        )
    return value


def read_origin(name: str, default: str) -> str:
    return _check_origin(name, read_text(name, default).rstrip("/"))


def read_origins(name: str) -> list[str]:
    return [_check_origin(name, origin, any_scheme=True) for origin in read_list(name)]


def read_hosts(name: str) -> list[str]:
    hosts = read_list(name)
    for host in hosts:
        if not _HOST_RE.fullmatch(host):
            raise ImproperlyConfigured(
                f"{name} must be hosts such as ledger.example, not {host!r}."
            )
    return hosts


def _check_origin(name: str, origin: str, *, any_scheme: bool = False) -> str:
    schemes: tuple[str, ...] = ("http", "https")
    if any_scheme and ":" in origin:
        schemes += tuple(filter(None, [urlsplit(origin).scheme]))
    if (
        not _is_url(origin, schemes)
        or origin.count("/") > 2
        or set(origin) & set("?#@")
    ):
        raise ImproperlyConfigured(
            f"{name} must be like https://ledger.example, not {origin!r}."
        )
    return origin


def _is_url(value: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def add_password(url: str, password: str) -> str:
    parts = urlsplit(url)
    if not password or parts.password:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}").geturl()


def parse_database_url(url: str, password: str = "") -> dict[str, Any]:
    """Return Django's settings of a PostgreSQL database.

    The URL may name a primary and its standbys, separated by commas.
    """
    database = _parse_database_url(url)
    # The folder of a socket, as %2Frun%2Fpostgresql.
    if (host := unquote(database.get("HOST", ""))).startswith("/"):
        database["HOST"] = host
    database["PASSWORD"] = database.get("PASSWORD") or password
    return database


def _parse_database_url(url: str) -> dict[str, Any]:
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in {"postgresql", "postgres", "psql", "pgsql"}:
        raise ImproperlyConfigured("DATABASE_URL must begin with postgresql://.")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if "," in authority.rpartition("@")[2]:
        return _parse_multi_host_url(f"postgresql://{rest}")
    try:
        return dict(environ.Env.db_url_config(f"postgresql://{rest}"))
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL is not a valid URL.") from None


def _parse_multi_host_url(url: str) -> dict[str, Any]:
    """Connect to the first host that accepts writes."""
    # django-environ would give a single port to all hosts.
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise ImproperlyConfigured("DATABASE_URL is not a valid URL.") from None
    hosts = str(parameters.pop("host", "")).split(",")
    ports = str(parameters.pop("port", "")).split(",")
    ports = [port or DEFAULT_POSTGRES_PORT for port in ports]
    name = parameters.pop("dbname", "")
    are_ports_valid = all(
        port.isascii() and port.isdigit() and 0 < int(port) <= MAX_PORT
        for port in ports
    )
    if not (all(hosts) and are_ports_valid and name):
        raise ImproperlyConfigured(
            "DATABASE_URL with several hosts must be like "
            "postgresql://user:password@host1:5432,host2:5432/name."
        )
    return {
        "NAME": name,
        "USER": parameters.pop("user", ""),
        "PASSWORD": parameters.pop("password", ""),
        "HOST": ",".join(hosts),
        "PORT": ",".join(ports),
        "OPTIONS": {
            "target_session_attrs": "read-write",
            "connect_timeout": FAILOVER_CONNECT_TIMEOUT_SECONDS,
            **parameters,
        },
    }


def read_time_zone(name: str, default: str) -> str:
    value = read_text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name}: unknown time zone {value!r}.") from None
    return value


def read_currency(name: str, default: str) -> str:
    value = read_text(name, default).upper()
    if not (len(value) == 3 and value.isascii() and value.isalpha()):
        raise ImproperlyConfigured(f"{name} must be a currency code, not {value!r}.")
    return value


def read_country(name: str, default: str) -> str:
    value = read_text(name, default).upper()
    if not (len(value) == 2 and value.isascii() and value.isalpha()):
        raise ImproperlyConfigured(f"{name} must be a country code, not {value!r}.")
    return value


def read_dotted_path(name: str, default: str) -> str:
    value = read_text(name, default)
    parts = value.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ImproperlyConfigured(f"{name} must be package.module.Class.")
    return value


def read_json_object(name: str) -> dict[str, Any]:
    """Accept JSON or the path of a file."""
    value = read_text(name)
    if not value:
        return {}
    try:
        text = value if value.startswith("{") else Path(value).read_text("utf-8")
        content = json.loads(text)
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ImproperlyConfigured(
            f"{name} must be a JSON object or the path of a file with one."
        )
    return content


def read_encryption_keys(name: str) -> list[bytes]:
    """Return comma-separated base64 keys of 32 bytes, the current key first."""
    keys = []
    for text in read_list(name):
        altchars = b"-_" if "-" in text or "_" in text else None
        try:
            key = base64.b64decode(text, altchars=altchars, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != ENCRYPTION_KEY_BYTES:
            raise ImproperlyConfigured(
                f"{name} must be base64 of {ENCRYPTION_KEY_BYTES} bytes."
            )
        keys.append(key)
    return keys
