"""Version, name, clients and addresses of the installation."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import env

_PROJECT_FILE = Path(__file__).resolve().parent.parent / "pyproject.toml"
_PROJECT = tomllib.loads(_PROJECT_FILE.read_text("utf-8"))["project"]
# Shown in the OpenAPI document too.
VERSION: str = _PROJECT["version"]
LICENSE: str = _PROJECT["license"]

CLIENT_FIELDS = ("minimum", "newest", "url")
_CLIENT_NAME_RE = re.compile(r"[a-z][a-z0-9_]{0,29}")
_VERSION_RE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}")
_EMAIL_RE = re.compile(r"[^@\s<>]+@[^@\s<>]+")


def read_clients(name: str) -> dict[str, dict[str, str | None]] | None:
    """Return the versions and the address of each client application.

    The setting is JSON: `{"ios": {"minimum": "1.0", "newest": "1.4.2", "url": …}}`.
    """
    clients = {
        client: _check_client(name, client, values)
        for client, values in env.read_json_object(name).items()
    }
    return clients or None


def _check_client(name: str, client: str, values: Any) -> dict[str, str | None]:
    if not _CLIENT_NAME_RE.fullmatch(client) or not isinstance(values, Mapping):
        raise ImproperlyConfigured(
            f"{name} must be an object of objects with names such as ios."
        )
    if unknown := set(values) - set(CLIENT_FIELDS):
        raise ImproperlyConfigured(
            f"{name}: {client} has {', '.join(sorted(unknown))}; "
            f"there are {', '.join(CLIENT_FIELDS)}."
        )
    for field in ("minimum", "newest"):
        value = values.get(field)
        if value is not None and not _VERSION_RE.fullmatch(str(value)):
            raise ImproperlyConfigured(
                f"{name}: {field} of {client} must be a version such as 1.4.2."
            )
    url = values.get("url")
    if url is not None and not str(url).startswith("https://"):
        raise ImproperlyConfigured(f"{name}: url of {client} must be an https URL.")
    return {
        field: None if values.get(field) is None else str(values[field])
        for field in CLIENT_FIELDS
    }


def read_about() -> dict[str, Any]:
    legal = {
        "terms": read_page("TERMS_URL"),
        "privacy": read_page("PRIVACY_URL"),
        "account_deletion": read_page("ACCOUNT_DELETION_URL"),
        "reports": read_page("REPORT_URL"),
    }
    support = {"email": read_email("SUPPORT_EMAIL"), "url": read_page("SUPPORT_URL")}
    return {
        "name": env.read_text("SERVICE_NAME") or None,
        "source": read_source("SOURCE_URL"),
        "clients": read_clients("CLIENTS"),
        "legal": legal,
        "support": support if any(support.values()) else None,
    }


def read_page(name: str) -> str | None:
    return env.read_url(name, "") if env.read_text(name) else None


def read_source(name: str) -> str | None:
    """Return the URL of the source of this version, which `{version}` stands for."""
    url = read_page(name)
    return url and url.replace("{version}", VERSION)


def read_email(name: str) -> str | None:
    value = env.read_text(name)
    if value and not _EMAIL_RE.fullmatch(value):
        raise ImproperlyConfigured(f"{name} must be an email address, not {value!r}.")
    return value or None
