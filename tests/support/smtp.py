"""Real SMTP servers on loopback that accept, refuse, hang or close half-way."""

import asyncio
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.utils import timezone

from tests.support.mail import parse

HOST = "127.0.0.1"
USERNAME, PASSWORD = "ledger", "p@ss:word/9"


class Inbox:
    """The behavior of a server, and the mails that it has accepted."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.commands: list[str] = []
        # The answers to RCPT and DATA.
        self.rcpt, self.data = "250 OK", "250 OK"
        self.hangs = self.closes = self.refuses_login = False
        # The connection ends after a mail, as the last of many.
        self.ends_after_each = False
        # Seconds that the server needs for a mail.
        self.delay = 0.0
        self.logins = 0

    @property
    def message_ids(self) -> list[str]:
        return [str(mail["Message-ID"]) for mail in self.mails]

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        self.commands.append("MAIL")
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        self.recipients.append(address)
        if self.rcpt.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.rcpt

    async def handle_DATA(  # noqa: N802
        self, server: Any, session: Any, envelope: Any
    ) -> str:
        if self.hangs:
            await asyncio.sleep(60)
        await asyncio.sleep(self.delay)
        if self.data.startswith("250"):
            self.mails.append(parse(envelope.content))
        if self.closes:
            server.transport.abort()
        if self.ends_after_each:
            asyncio.get_running_loop().call_later(0.05, server.transport.abort)
        return self.data

    def authenticate(
        self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        self.logins += 1
        is_right = (
            isinstance(data, LoginPassword)
            and (data.login, data.password) == (USERNAME.encode(), PASSWORD.encode())
            and not self.refuses_login
        )
        return AuthResult(success=is_right, handled=False)


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def make_certificate(folder: Path) -> ssl.SSLContext:
    """Return the server's side of TLS; its certificate is `folder/certificate.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = timezone.now()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "certificate.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, private)
    return context


@contextmanager
def run_smtp_server(inbox: Inbox, **options: Any) -> Iterator[int]:
    """Run a server during the block; yield its port."""
    port = find_free_port()
    controller = Controller(inbox, hostname=HOST, port=port, **options)
    controller.start()
    try:
        yield port
    finally:
        controller.stop()


@contextmanager
def run_trickling_server() -> Iterator[tuple[int, threading.Event]]:
    """Run a server that sends a greeting byte by byte, for a minute.

    Yield its port and an event: the client has waited for the whole minute.
    """
    stopped, is_exhausted = threading.Event(), threading.Event()
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(0.1)

        def serve() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        for _ in range(1_200):
                            if stopped.wait(0.05):
                                return
                            connection.sendall(b"2")
                        is_exhausted.set()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listener.getsockname()[1]), is_exhausted
        finally:
            stopped.set()
            thread.join()
