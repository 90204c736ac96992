"""Mails of the tests: the outbox, a folder, and a real SMTP server."""

import email
import email.policy
import re
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from django.utils import timezone

from accounts.codes.waiting_requests import process_requests
from accounts.mail.delivery import DeliveryResult, send_due_mails
from accounts.mail.outbox import mail_context
from accounts.models import Mail, Member
from core.sealing import unseal
from tests.support.clients import JSONClient

VERIFY, RESET = "/api/auth/email/verification", "/api/auth/password-reset"
NEW_PASSWORD = "another-horse-9"
CODE_RE = re.compile(r"^([A-Z]{4}-[A-Z]{4})$", re.MULTILINE)
LINK_RE = re.compile(r"^(https?://\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class ReadMail:
    """The content of a mail."""

    to: str
    subject: str
    text: str
    html: str

    @property
    def codes(self) -> list[str]:
        return CODE_RE.findall(self.text)

    @property
    def links(self) -> list[str]:
        return LINK_RE.findall(self.text)

    @property
    def request_id(self) -> str:
        """Return the id in the first link."""
        return parse_qs(urlsplit(self.links[0]).query)["request"][0]


def read_waiting_mails() -> list[ReadMail]:
    """Return what the mails say that wait to be sent, the oldest first."""
    return [
        ReadMail(**orjson.loads(unseal(mail.content, mail_context(mail.message_id))))
        for mail in Mail.objects.filter(state="WAITING").order_by("id")
        if mail.content is not None
    ]


def run_mail_job() -> DeliveryResult:
    """Do what the job does; the tests have no worker."""
    process_requests(timezone.now())
    return send_due_mails()


def process_resets() -> list[ReadMail]:
    """Let the job look at the requests; return the mails that wait then."""
    process_requests(timezone.now())
    return read_waiting_mails()


def read_folder(folder: Path) -> list[EmailMessage]:
    """Return the mails in a folder, by the time of writing."""
    paths = sorted(folder.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns)
    return [parse(path.read_bytes()) for path in paths]


def parse(content: bytes) -> EmailMessage:
    message: Any = email.message_from_bytes(content, policy=email.policy.default)
    return message  # type: ignore[no-any-return]


def make_attempts_due() -> None:
    """Let the mails that wait for another attempt be due at once."""
    Mail.objects.filter(state="WAITING").update(next_attempt_at=timezone.now())


def ask_verification(client: JSONClient) -> tuple[ReadMail, dict[str, str]]:
    """Ask for a code; return its mail, and the body that confirms it."""
    response = client.send("POST", VERIFY, {})
    assert response.status_code == 202, response.content
    mail = read_waiting_mails()[-1]
    return mail, {"requestId": response.data["requestId"], "code": mail.codes[0]}


def ask_reset(**body: str) -> Any:
    response = JSONClient().send("POST", RESET, body)
    assert response.status_code == 202, response.content
    return response


def confirm_reset(
    mail: ReadMail, *, code: str = "", password: str = NEW_PASSWORD
) -> Any:
    body = {
        "requestId": mail.request_id,
        "code": code or mail.codes[0],
        "newPassword": password,
    }
    return JSONClient().send("POST", f"{RESET}/confirm", body)


def log_in(member: Member, password: str) -> Any:
    body = {"loginId": member.login_id, "password": password}
    return JSONClient().send("POST", "/api/auth/login", body)
