"""The outbox: mails are rows, in the transaction of their reason (spec 2.10)."""

import logging
import uuid
from collections.abc import Mapping
from contextlib import suppress
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
from accounts.mail.rendering import render_mail
from accounts.mail.trigger import send_on_commit
from accounts.models import Mail, Member
from accounts.security.rate_limits import RateLimitPolicy
from core.errors import InvalidFieldError, RateLimitedError
from core.sealing import hash_secret, seal

logger = logging.getLogger(__name__)

MAIL_LIFETIME = timedelta(hours=24)
MAIL_PER_RECIPIENT_HOUR = RateLimitPolicy("mail-recipient", 5, timedelta(hours=1))
MAIL_PER_RECIPIENT_DAY = RateLimitPolicy("mail-recipient-day", 20, timedelta(days=1))
# Notices of one kind to one member, and those that were left out since the last one.
NOTICES_PER_KIND = RateLimitPolicy("notice", 5, timedelta(days=1))
LEFT_OUT_NOTICES = RateLimitPolicy("notice-left-out", 1_000, timedelta(days=30))
MAIL_PER_IP = RateLimitPolicy("mail-per-ip", 20, timedelta(hours=1))


def is_mail_configured() -> bool:
    return settings.MAIL_SERVER is not None


def require_mail_configured() -> None:
    if not is_mail_configured():
        raise MailNotConfiguredError


def is_mailable(address: str) -> bool:
    """Check an address; an identity provider may send invalid ones."""
    try:
        validate_email(address)
    except ValidationError:
        return False
    return address.isascii() and address.isprintable()


def consume_mail_limits(address: str) -> None:
    """Count a mail to the address, or raise `RateLimitedError`.

    Call it outside of the mail's transaction, whose rollback would refund the attempt.
    """
    # The row may outlive the account, so it has a hash.
    recipient = hash_secret(normalize_identifier(address), "mail recipient").hex()
    MAIL_PER_RECIPIENT_DAY.consume(recipient)
    MAIL_PER_RECIPIENT_HOUR.consume(recipient)


def queue_mail(
    member: Member | None,
    template: str,
    context: Mapping[str, Any],
    *,
    to: str,
    language: str,
    expires_at: datetime | None = None,
) -> Mail:
    """Write a mail; `member` is None for a mail about several.

    The caller counts it (`consume_mail_limits`).
    """
    if not is_mail_configured():
        raise MailNotConfiguredError
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
    send_on_commit()
    return mail


def queue_notice(
    member: Member, template: str, context: Mapping[str, Any] | None = None
) -> None:
    """Queue a security notice if possible.

    An unverified address may be a stranger's: its notices are limited, silently, and
    name the login id, never the display name. A member gets 5 of one kind a day; the
    next one has the number of those that were left out.
    """
    if not (is_mail_configured() and is_mailable(member.email)):
        return
    kind = f"{member.pk}:{template}"
    try:
        NOTICES_PER_KIND.consume(kind)
    except RateLimitedError:
        with suppress(RateLimitedError):
            LEFT_OUT_NOTICES.consume(kind)
        return
    if not member.is_email_verified:
        try:
            consume_mail_limits(member.email)
        except RateLimitedError:
            logger.warning("notice to an unverified address left out: too many")
            return
    values = {
        "login_id": member.login_id,
        "left_out": LEFT_OUT_NOTICES.take_all(kind),
        **(context or {}),
    }
    queue_mail(member, template, values, to=member.email, language=member.locale)


def mail_context(message_id: str) -> str:
    return f"mail {message_id}"
