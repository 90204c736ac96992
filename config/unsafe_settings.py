"""Settings that are fine on a desk and unsafe in public: refused with an https URL."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# Characters of 128 random bits in hexadecimal.
MIN_SECRET_KEY_LENGTH = 32
# Different pairs of neighboring characters: 32 random hexadecimal digits have about 29,
# a word or a repeated pattern has few.
MIN_SECRET_KEY_PAIRS = 20
# No random key contains words of placeholders.
_PLACEHOLDER_RE = re.compile(
    r"change.?me|change.?this|insecure|example|placeholder|only.?for|password|secret"
    r"|your.?key|replace.?me",
    re.IGNORECASE,
)
MIN_PASSWORD_LENGTH = 12
MIN_METRICS_TOKEN_LENGTH = 16
# Modes of libpq that do not fall back to an unencrypted connection.
ENCRYPTING_SSL_MODES = {"require", "verify-ca", "verify-full"}
PROVIDER_URLS = (
    "IDP_TOKENINFO_URL",
    "STORE_BASE_URL",
    "OCR_BASE_URL",
    "FX_BASE_URL",
    "PRICE_BASE_URL",
)

Settings = Mapping[str, Any]
Check = Callable[[Settings], str | None]


def refuse_unsafe_settings(settings: Settings, accepted: Sequence[str]) -> None:
    """Raise `ImproperlyConfigured` with a line for each unsafe setting."""
    if unknown := set(accepted) - set(UNSAFE_SETTINGS):
        raise ImproperlyConfigured(
            f"ACCEPT_UNSAFE has no {', '.join(sorted(unknown))}; "
            f"there are {', '.join(UNSAFE_SETTINGS)}."
        )
    if not settings["PUBLIC_URL"].startswith("https:"):
        return
    lines = [
        f"{reason} (or ACCEPT_UNSAFE={name})"
        for name, find_reason in UNSAFE_SETTINGS.items()
        if name not in accepted and (reason := find_reason(settings))
    ]
    if lines:
        raise ImproperlyConfigured("\nconfiguration: ".join(lines))


def _secret_key(settings: Settings) -> str | None:
    keys = {"SECRET_KEY": [settings["SECRET_KEY"]]}
    keys["SECRET_KEY_FALLBACKS"] = settings["SECRET_KEY_FALLBACKS"]
    for name, values in keys.items():
        if any(_is_weak_key(value) for value in values):
            return (
                f"{name} can be guessed: it is short, repetitive or a published "
                "placeholder; .env.example says how to make one."
            )
    return None


def _is_weak_key(key: str) -> bool:
    pairs = {key[at : at + 2] for at in range(len(key) - 1)}
    return (
        len(key) < MIN_SECRET_KEY_LENGTH
        or len(pairs) < MIN_SECRET_KEY_PAIRS
        or bool(_PLACEHOLDER_RE.search(key))
    )


def _plain_origins(settings: Settings) -> str | None:
    for origin in settings["CORS_ALLOWED_ORIGINS"]:
        if origin.startswith("http:") and not _is_loopback(urlsplit(origin).hostname):
            return (
                f"CORS_ALLOWED_ORIGINS has {origin}: on the way to the browser, "
                "anybody can change what is sent from it."
            )
    return None


def _database_password(settings: Settings) -> str | None:
    database = settings["DATABASES"]["default"]
    options = database["OPTIONS"]
    proofs = [
        database.get("PASSWORD"),
        *map(options.get, ("password", "passfile", "sslcert", "service")),
        *map(os.environ.get, ("PGPASSWORD", "PGPASSFILE", "PGSSLCERT", "PGSERVICE")),
    ]
    if _has_remote_database(database) and not any(proofs):
        return "DATABASE_URL has no password, and its host is not this machine."
    return None


def _database_tls(settings: Settings) -> str | None:
    database = settings["DATABASES"]["default"]
    mode = database["OPTIONS"].get("sslmode") or os.environ.get("PGSSLMODE", "")
    if _has_remote_database(database) and mode not in ENCRYPTING_SSL_MODES:
        return (
            "DATABASE_URL has no sslmode=require (or verify-full), and its host is "
            "not this machine."
        )
    return None


def _has_remote_database(database: Mapping[str, Any]) -> bool:
    options = database["OPTIONS"]
    given = (
        options.get("hostaddr")
        or database.get("HOST")
        or options.get("host")
        or os.environ.get("PGHOSTADDR")
        or os.environ.get("PGHOST", "")
    )
    hosts = str(given).split(",")
    # No host, or a path, is a socket of this machine.
    return any(
        host and not host.startswith(("/", "@")) and not _is_loopback(host)
        for host in hosts
    )


def _is_remote_valkey(settings: Settings) -> bool:
    url = urlsplit(settings["REDIS_URL"])
    return url.scheme != "unix" and not _is_loopback(url.hostname)


def _read_valkey_password(settings: Settings) -> str:
    url = urlsplit(settings["REDIS_URL"])
    return unquote(url.password or "") or parse_qs(url.query).get("password", [""])[0]


def _short_password(settings: Settings) -> str | None:
    database = settings["DATABASES"]["default"]
    passwords = {
        "DATABASE_URL": (database.get("PASSWORD"), _has_remote_database(database)),
        "REDIS_URL": (_read_valkey_password(settings), _is_remote_valkey(settings)),
    }
    for name, (password, is_remote) in passwords.items():
        if not (password and is_remote):
            continue
        if len(password) < MIN_PASSWORD_LENGTH or _PLACEHOLDER_RE.search(password):
            return (
                f"The password of {name} can be guessed: it has fewer than "
                f"{MIN_PASSWORD_LENGTH} characters, or is a published one."
            )
    return None


def _provider_urls(settings: Settings) -> str | None:
    for name in PROVIDER_URLS:
        url = urlsplit(settings[name])
        if settings[name] and (url.scheme != "https" or _is_loopback(url.hostname)):
            return (
                f"{name} is not an https URL of another machine: its answers decide "
                "who logs in, who has paid, or what is stored."
            )
    return None


def _object_store_tls(settings: Settings) -> str | None:
    store = settings["OBJECT_STORE"]
    url = urlsplit(store["endpoint"] if store else "")
    if url.scheme == "http" and not _is_loopback(url.hostname):
        return (
            "S3_ENDPOINT_URL is not https, and its host is not this machine: "
            "images can be read on the way."
        )
    return None


def _is_loopback(host: str | None) -> bool:
    if not host or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _when(condition: Callable[[Settings], object], reason: str) -> Check:
    return lambda settings: reason if condition(settings) else None


# Name for ACCEPT_UNSAFE -> function that returns the reason, or None.
UNSAFE_SETTINGS: dict[str, Check] = {
    "secret_key": _secret_key,
    "debug": _when(
        lambda settings: settings["DEBUG"],
        "DEBUG shows settings and source code to everybody.",
    ),
    "test_billing": _when(
        lambda settings: settings["BILLING_TEST_MODE"],
        "BILLING_TEST_MODE gives PREMIUM to everybody who asks.",
    ),
    # The web server speaks plain HTTP: with https there is a proxy.
    "no_proxy": _when(
        lambda settings: not settings["TRUSTED_PROXY_COUNT"],
        "TRUSTED_PROXY_COUNT is 0: behind the proxy that https needs, all clients "
        "share its address, and the limits of each other.",
    ),
    "push_audience": _when(
        lambda settings: not settings["STORE_PUSH_AUDIENCE"],
        "STORE_PUSH_AUDIENCE is not set: anybody can have notifications of the "
        "store saved; without a store, set it to PUBLIC_URL.",
    ),
    "push_email": _when(
        lambda settings: (
            settings["STORE_PUSH_AUDIENCE"] and not settings["STORE_PUSH_EMAIL"]
        ),
        "STORE_PUSH_EMAIL is not set: every account at Google can make a token "
        "for STORE_PUSH_AUDIENCE; without a store, set it to any address of yours.",
    ),
    "any_host": _when(
        lambda settings: "*" in settings["ALLOWED_HOSTS"],
        "ALLOWED_HOSTS=* accepts forged Host headers.",
    ),
    "plain_origins": _plain_origins,
    "database_password": _database_password,
    "database_tls": _database_tls,
    "valkey_password": _when(
        lambda settings: (
            _is_remote_valkey(settings) and not _read_valkey_password(settings)
        ),
        "REDIS_URL has no password, and its host is not this machine.",
    ),
    "valkey_tls": _when(
        lambda settings: (
            _is_remote_valkey(settings)
            and not settings["REDIS_URL"].startswith("rediss:")
        ),
        "REDIS_URL does not begin with rediss://, and is not this machine.",
    ),
    "short_password": _short_password,
    "metrics_token": _when(
        lambda settings: 0 < len(settings["METRICS_TOKEN"]) < MIN_METRICS_TOKEN_LENGTH,
        "METRICS_TOKEN can be guessed: it has fewer than "
        f"{MIN_METRICS_TOKEN_LENGTH} characters.",
    ),
    "provider_urls": _provider_urls,
    "object_store_tls": _object_store_tls,
    "account_numbers": _when(
        lambda settings: not settings["ACCOUNT_NUMBER_KEYS"],
        "ACCOUNT_NUMBER_KEY is not set: account numbers lie in plain text.",
    ),
    "debug_log": _when(
        lambda settings: settings["LOG_LEVEL"] == "DEBUG",
        "LOG_LEVEL=DEBUG logs URLs of outside services, with purchase tokens.",
    ),
}
