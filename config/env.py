"""Typed readers of the environment; a bad value stops the start with one line."""

import base64
import binascii
import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

ENCRYPTION_KEY_BYTES = 32

_environment = environ.Env()
_HOST_RE = re.compile(r"\*|\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")


def validate_settings_or_exit() -> None:
    """Read the settings; end the process with one line if they are wrong."""
    try:
        settings.INSTALLED_APPS  # noqa: B018
    except ImproperlyConfigured as error:
        sys.exit(f"configuration: {error}")


def read_text(name: str, default: str = "") -> str:
    """The value without surrounding blanks; an empty value counts as unset."""
    return os.environ.get(name, "").strip() or default


def read_required(name: str, why: str) -> str:
    value = read_text(name)
    if not value:
        raise ImproperlyConfigured(f"{name} is not set: {why}.")
    return value


def read_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of `choices`, written in any letter case."""
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


def read_int(name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
    value = read_text(name)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {least} to {most}, not {value!r}."
        )
    return int(value)


def read_list(name: str) -> list[str]:
    """Values separated by commas."""
    return [part.strip() for part in read_text(name).split(",") if part.strip()]


def read_url(
    name: str, default: str, *, schemes: tuple[str, ...] = ("http", "https")
) -> str:
    """An absolute address without a slash at its end; of the web without a query."""
    value = read_text(name, default).rstrip("/")
    has_query = "http" in schemes and bool(set(value) & set("?#"))
    if has_query or not _is_url(value, schemes):
        raise ImproperlyConfigured(
            f"{name} must be an address with the scheme {' or '.join(schemes)}."
        )
    return value


def read_origin(name: str, default: str) -> str:
    """Scheme, host and port of an outside service; its paths are its own."""
    return _check_origin(name, read_text(name, default).rstrip("/"))


def read_origins(name: str) -> list[str]:
    """Schemes and hosts with their ports, as browsers send them, by commas.

    Packaged apps have schemes of their own (capacitor://localhost).
    """
    return [_check_origin(name, origin, any_scheme=True) for origin in read_list(name)]


def read_hosts(name: str) -> list[str]:
    """Names of hosts, without scheme and port, by commas."""
    hosts = read_list(name)
    for host in hosts:
        if not _HOST_RE.fullmatch(host):
            raise ImproperlyConfigured(
                f"{name} must be hosts such as ledger.example, not {host!r}."
            )
    return hosts


def _check_origin(name: str, origin: str, *, any_scheme: bool = False) -> str:
    schemes = (urlsplit(origin).scheme,) if any_scheme and ":" in origin else ()
    is_address = _is_url(origin, (*filter(None, schemes), "http", "https"))
    if not is_address or origin.count("/") > 2 or set(origin) & set("?#@"):
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


def parse_database_url(url: str) -> dict[str, Any]:
    """Django's description of the database; only PostgreSQL will do."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in {"postgresql", "postgres", "psql", "pgsql"}:
        raise ImproperlyConfigured("DATABASE_URL must begin with postgresql://.")
    try:
        return dict(environ.Env.db_url_config(f"postgresql://{rest}"))
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL cannot be read.") from None


def read_time_zone(name: str, default: str) -> str:
    value = read_text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name}: no time zone {value!r}.") from None
    return value


def read_currency(name: str, default: str) -> str:
    value = read_text(name, default).upper()
    if not (len(value) == 3 and value.isascii() and value.isalpha()):
        raise ImproperlyConfigured(f"{name} must be a currency code, not {value!r}.")
    return value


def read_dotted_path(name: str, default: str) -> str:
    """Where a class is to be found: `package.module.Class`."""
    value = read_text(name, default)
    parts = value.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ImproperlyConfigured(f"{name} must be package.module.Class.")
    return value


def read_json_object(name: str) -> dict[str, Any]:
    """A JSON object, or the path of a file with one; {} if unset."""
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
    """Keys of 32 bytes in base64, separated by commas, the one in use first."""
    return [_decode_key(name, text) for text in read_list(name)]


def _decode_key(name: str, text: str) -> bytes:
    try:
        key = base64.b64decode(
            text, altchars=b"-_" if "-" in text or "_" in text else None, validate=True
        )
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != ENCRYPTION_KEY_BYTES:
        raise ImproperlyConfigured(
            f"{name} must be base64 of {ENCRYPTION_KEY_BYTES} bytes."
        )
    return key
