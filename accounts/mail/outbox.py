"""The outbox: mails are rows, written with their reason (spec 2.10)."""

import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone
from django.utils.translation import gettext

from accounts.errors import MailNotConfiguredError
from accounts.identifiers import normalize_identifier
from accounts.mail.kick import send_soon
from accounts.mail.rendering import render_mail
from accounts.models import Mail, Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt
from core.client_ip import rate_limit_key
from core.errors import InvalidFieldError, RateLimitedError
from core.sealing import hash_secret, seal

logger = logging.getLogger(__name__)

# How long a mail is tried.
MAIL_LIFETIME = timedelta(hours=24)
MAIL_PER_RECIPIENT_HOUR = RateLimitPolicy("mail-recipient", 5, timedelta(hours=1))
MAIL_PER_RECIPIENT_DAY = RateLimitPolicy("mail-recipient-day", 20, timedelta(days=1))
MAIL_PER_IP = RateLimitPolicy("mail-per-ip", 20, timedelta(hours=1))


def is_mail_configured() -> bool:
    return settings.MAIL_SERVER is not None


def require_mail_configured() -> None:
    """Raise `MailNotConfiguredError` if this installation sends no mails."""
    if not is_mail_configured():
        raise MailNotConfiguredError


def is_mailable(address: str) -> bool:
    """Return True if a mail can be sent to the address.

    Those of sign-ups are valid; those of an identity provider may not be.
    """
    try:
        validate_email(address)
    except ValidationError:
        return False
    return address.isascii() and address.isprintable()


def consume_mail_limits(address: str, ip_address: str | None = None) -> None:
    """Count a mail to the address that a client asks for; raise `RateLimitedError`.

    Call it outside of the transaction of the mail, whose failure must not take the
    attempt back.
    """
    if ip_address is not None:
        consume_attempt(MAIL_PER_IP, rate_limit_key(ip_address))
    # Without the address itself: the row may outlive the account.
    recipient = hash_secret(normalize_identifier(address), "mail recipient").hex()
    consume_attempt(MAIL_PER_RECIPIENT_DAY, recipient)
    consume_attempt(MAIL_PER_RECIPIENT_HOUR, recipient)


def queue_mail(
    member: Member | None,
    template: str,
    context: Mapping[str, Any],
    *,
    to: str,
    language: str,
    expires_at: datetime | None = None,
) -> Mail:
    """Write a mail into the outbox; call it in the transaction of its reason.

    It is sent after the commit, until `expires_at` at the latest. The caller counts
    it (`consume_mail_limits`). The member is whose data it is, None for several.
    Raises `MailNotConfiguredError`, and `InvalidFieldError` for an address to which no
    mail can be sent.
    """
    require_mail_configured()
    if not is_mailable(to):
        raise InvalidFieldError(
            "email", gettext("No mail can be sent to this address.")
        )
    rendered = render_mail(template, language, context)
    content = {
        "to": to,
        "subject": rendered.subject,
        "text": rendered.text,
        "html": rendered.html,
    }
    now = timezone.now()
    message_id = f"<{uuid.uuid4()}@{urlsplit(settings.PUBLIC_URL).hostname}>"
    mail = Mail.objects.create(
        member=member,
        template=template,
        message_id=message_id,
        content=seal(orjson.dumps(content), mail_context(message_id)),
        created_at=now,
        next_attempt_at=now,
        expires_at=expires_at or now + MAIL_LIFETIME,
    )
    send_soon()
    return mail


def queue_notice(
    member: Member, template: str, context: Mapping[str, Any] | None = None
) -> None:
    """Queue a notice about the member's security to their address, if that is possible.

    Call it in the transaction of its reason. Without mail nothing happens. Notices
    to a verified address are not limited; others are, silently, since the address may
    be that of a stranger. The templates name the login id, never the display name.
    """
    if not (is_mail_configured() and is_mailable(member.email)):
        return
    if not member.is_email_verified:
        try:
            consume_mail_limits(member.email)
        except RateLimitedError:
            logger.warning("notice to an unverified address left out: too many")
            return
    values = {"login_id": member.login_id, **(context or {})}
    queue_mail(member, template, values, to=member.email, language=member.locale)


def mail_context(message_id: str) -> str:
    """Return the context under which the content of a mail is sealed."""
    return f"mail {message_id}"
