"""The mail server (a part of the settings)."""

from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import env

FOLDER_PREFIX = "file:"
# STARTTLS, and TLS from the first byte.
DEFAULT_PORTS = {"smtp": 587, "smtps": 465}
DEFAULT_SENDER = "no-reply@localhost"


def read_mail_server(name: str) -> dict[str, Any] | None:
    """Return the folder, or the options of Django's SMTP backend; None if unset.

    `smtp://user:password@host:587` demands STARTTLS, `smtps://` is TLS at once,
    `file:<folder>` writes each mail into a file.
    """
    value = env.read_text(name)
    if not value:
        return None
    if value.startswith(FOLDER_PREFIX):
        folder = value.removeprefix(FOLDER_PREFIX)
        if not folder:
            raise ImproperlyConfigured(f"{name} must name a folder: file:/var/mail.")
        return {"folder": Path(folder)}
    try:
        url = urlsplit(value)
        port = url.port
    except ValueError:
        url, port = urlsplit(""), None
    # The value is not quoted: it may hold a password.
    if (
        url.scheme not in DEFAULT_PORTS
        or not url.hostname
        or port == 0
        or url.path not in {"", "/"}
        or url.query
        or url.fragment
        or bool(url.username) != bool(url.password)
    ):
        raise ImproperlyConfigured(
            f"{name} must be like smtp://user:password@host:587, "
            "smtps://user:password@host:465 or file:/folder."
        )
    return {
        "host": url.hostname,
        "port": port or DEFAULT_PORTS[url.scheme],
        "username": unquote(url.username or ""),
        "password": unquote(url.password or ""),
        "use_tls": url.scheme == "smtp",
        "use_ssl": url.scheme == "smtps",
    }


def read_mail_sender(name: str, server: dict[str, Any] | None) -> str:
    value = env.read_text(name)
    if not value and server is not None and "folder" not in server:
        raise ImproperlyConfigured(f"{name} is not set: it is the sender of mails.")
    value = value or DEFAULT_SENDER
    _, address = parseaddr(value)
    if address.count("@") != 1 or not value.isprintable():
        raise ImproperlyConfigured(
            f"{name} must be an address such as Ledger <no-reply@ledger.example>."
        )
    return value
