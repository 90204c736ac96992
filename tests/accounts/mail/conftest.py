"""SMTP servers for the tests of mail."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.smtp import (
    HOST,
    PASSWORD,
    USERNAME,
    Inbox,
    make_certificate,
    run_smtp_server,
)


@pytest.fixture
def inbox(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Inbox]:
    """Yield the mails of a server with STARTTLS and login that the settings name."""
    inbox = Inbox()
    context = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with run_smtp_server(
        inbox,
        tls_context=context,
        require_starttls=True,
        authenticator=inbox.authenticate,
        auth_required=True,
    ) as port:
        settings.MAIL_FROM = "Ledger <no-reply@ledger.example>"
        settings.MAIL_SERVER = {
            "host": HOST,
            "port": port,
            "username": USERNAME,
            "password": PASSWORD,
            "use_tls": True,
            "use_ssl": False,
        }
        yield inbox
