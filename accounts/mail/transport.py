"""Transport of a mail to the server, or into a folder."""

import os
import smtplib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend

# Limits of one step of the protocol, and of all steps.
STEP_TIMEOUT_SECONDS = 10
MAIL_TIMEOUT_SECONDS = 30
PERMANENT_STATUSES = range(500, 600)
RSET_OK = 250


class PermanentMailError(Exception):
    """The server never accepts the mail; the message is the SMTP status."""


class TemporaryMailError(Exception):
    """The server may accept the mail later; with `is_of_server` all mails fail."""

    def __init__(self, reason: str, *, is_of_server: bool) -> None:
        super().__init__(reason)
        self.is_of_server = is_of_server


class _Deadline:
    """Ends connections after the time limit of a mail.

    A server that sends single bytes never reaches the limit of a step.
    """

    def __init__(self, seconds: float) -> None:
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, connection: socket.socket) -> None:
        # TLS takes over the first handle.
        self._sockets.append(socket.socket(fileno=os.dup(connection.fileno())))

    def cancel(self) -> None:
        self._timer.cancel()
        self._timer.join()
        for handle in self._sockets:
            handle.close()

    def _shut_down(self) -> None:
        for handle in self._sockets:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)


class _WatchedSMTP(smtplib.SMTP):
    # Each connection has a class: the constructors of smtplib connect.
    _deadline: ClassVar[_Deadline]

    def _get_socket(self, *arguments: Any) -> socket.socket:
        connection: socket.socket = super()._get_socket(*arguments)  # type: ignore[misc]
        self._deadline.watch(connection)
        return connection


class _WatchedSMTPS(smtplib.SMTP_SSL, _WatchedSMTP):
    pass


class _WatchedBackend(EmailBackend):
    def __init__(self, deadline: _Deadline, **options: Any) -> None:
        super().__init__(timeout=STEP_TIMEOUT_SECONDS, **options)
        self._deadline = deadline

    @property
    def connection_class(self) -> Any:
        base = _WatchedSMTPS if self.use_ssl else _WatchedSMTP
        return type(base.__name__, (base,), {"_deadline": self._deadline})

    def is_usable(self, deadline: _Deadline) -> bool:
        """Return whether the server still listens, before a mail is begun."""
        smtp: Any = self.connection
        try:
            deadline.watch(smtp.sock)
            status, _ = smtp.rset()
        # Without a socket the connection has ended.
        except (smtplib.SMTPException, OSError, AttributeError):
            return False
        return bool(status == RSET_OK)


class MailSender:
    """Sends mails over one connection, which is opened for the first one.

    Use it as a context manager. One that fails gets a new connection for the next mail.
    """

    def __init__(self) -> None:
        self._backend: _WatchedBackend | None = None

    def __enter__(self) -> "MailSender":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def send(self, message: EmailMultiAlternatives) -> None:
        server: Any = settings.MAIL_SERVER
        if "folder" in server:
            write_into_folder(message, server["folder"])
            return
        with _smtp_errors(), _deadline(MAIL_TIMEOUT_SECONDS) as deadline:
            backend = self._connect(deadline)
            is_sent = False
            try:
                backend.send_messages([message])
                is_sent = True
            finally:
                if not is_sent:
                    self._close()

    def _connect(self, deadline: _Deadline) -> _WatchedBackend:
        # Servers end connections that are idle, or have had enough mails.
        if self._backend is not None and self._backend.is_usable(deadline):
            return self._backend
        self._close()
        server: Any = settings.MAIL_SERVER
        self._backend = backend = _WatchedBackend(deadline, **server)
        backend.open()
        return backend

    def _close(self) -> None:
        if self._backend is not None:
            with suppress(OSError, smtplib.SMTPException):
                self._backend.close()
            self._backend = None


def write_into_folder(message: EmailMultiAlternatives, folder: Path) -> None:
    name = str(message.extra_headers["Message-ID"]).strip("<>").partition("@")[0]
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / f".{name}"
        draft.touch(mode=0o600)
        draft.write_bytes(message.message().as_bytes())
        draft.replace(folder / f"{name}.eml")
    except OSError as error:
        raise TemporaryMailError(type(error).__name__, is_of_server=True) from error


@contextmanager
def _deadline(seconds: float) -> Iterator[_Deadline]:
    deadline = _Deadline(seconds)
    try:
        yield deadline
    finally:
        deadline.cancel()


@contextmanager
def _smtp_errors() -> Iterator[None]:
    """Translate errors of smtplib, whose texts may have addresses.

    A refused login or sender is temporary: the operator may correct the settings.
    """
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        _raise_for_status(next(iter(error.recipients.values()))[0])
    except smtplib.SMTPDataError as error:
        _raise_for_status(error.smtp_code)
    except smtplib.SMTPResponseException as error:
        raise TemporaryMailError(
            f"SMTP {error.smtp_code}", is_of_server=True
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        raise TemporaryMailError(type(error).__name__, is_of_server=True) from error


def _raise_for_status(status: int) -> None:
    if status in PERMANENT_STATUSES:
        raise PermanentMailError(f"SMTP {status}")
    raise TemporaryMailError(f"SMTP {status}", is_of_server=False)
