"""Profile changes by members: name, email, password and profile image."""

import base64
import binascii
import io
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.codes import end_codes
from accounts.errors import (
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
    ReauthenticationRequiredError,
)
from accounts.fresh_authentication import is_session_fresh, list_methods
from accounts.login import verify_password
from accounts.mail.outbox import (
    is_mail_configured,
    queue_notice,
    require_mail_configured,
)
from accounts.models import AuthSession, Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import (
    invalidate_member_session_cache,
    revoke_sessions,
    update_session_auth_hash,
)
from accounts.signup import validate_new_password
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, InvalidImageError
from core.images import encode_image

MAX_IMAGE_BYTES = 2**20
# To decode them is work.
IMAGE_LIMIT = RateLimitPolicy("profile-images", 60, timedelta(hours=1))
_DATA_URL_RE = re.compile(
    r"data:image/(png|jpeg|webp|gif);base64,([A-Za-z0-9+/]+={0,2})"
)


def update_profile(
    member: Member, changes: Mapping[str, str], *, session_key_hash: str | None
) -> Member:
    """Save a new display name, email or language; live sessions show them at once.

    Of a member whose address is verified, another one waits to be verified, and the
    address before gets a notice. `session_key_hash` is that of the member's own
    session, None for an administrator who changes another member. Raises
    `ReauthenticationRequiredError` or `MailNotConfiguredError` for another address in
    place of a verified one.
    """
    if not changes:
        return member
    _update_profile(member, changes, session_key_hash)
    return member


@retry_on_conflict
def _update_profile(
    member: Member, changes: Mapping[str, str], session_key_hash: str | None
) -> None:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True).defer("profile_image")
        stored = rows.get(pk=member.pk)
        values: dict[str, Any] = dict(changes)
        if (email := values.pop("email", None)) is not None:
            values |= _plan_email_change(stored, email, session_key_hash)
        if values.get("pending_email", "") not in {"", stored.pending_email}:
            queue_notice(member, "email_change")
        if values.get("email", stored.email) != stored.email:
            if stored.is_email_verified:
                queue_notice(member, "email_change")
            log_security_event(SecurityEvent.EMAIL_CHANGED, member.pk)
        if any(
            values.get(name, getattr(stored, name)) != getattr(stored, name)
            for name in ("email", "pending_email")
        ):
            # What was sent to another address proves nothing any more.
            end_codes(member)
        for name, value in values.items():
            setattr(member, name, value)
        member.save_fields(*values)
        invalidate_member_session_cache(member.pk)


def _plan_email_change(
    stored: Member, email: str, session_key_hash: str | None
) -> dict[str, Any]:
    """Return the fields to write for an address that was sent.

    The member is locked: a new password has ended the session of a thief by then, or
    waits for this change.
    """
    is_by_administrator = session_key_hash is None
    is_fresh = session_key_hash is not None and is_session_fresh(session_key_hash)
    if stored.is_email_verified and not is_by_administrator:
        # The current address takes a pending one back.
        if email in {stored.email, stored.pending_email}:
            return {"pending_email": "" if email == stored.email else email}
        if not is_fresh:
            methods = list_methods(stored)
            raise ReauthenticationRequiredError(members={"methods": methods})
        # It could never be verified.
        require_mail_configured()
        return {"pending_email": email}
    values: dict[str, Any] = {"email": email}
    if email != stored.email:
        values["pending_email"] = ""
    if is_fresh:
        values["authenticated_email"] = email
    return values


def change_password(
    member: Member,
    current_password: str | None,
    new_password: str,
    *,
    ip_address: str,
    kept_key_hash: str = "",
) -> None:
    """Replace the password and revoke all sessions but the one with `kept_key_hash`.

    The current password is required, except from a LOCAL member whose password became
    unusable by linking (spec 2.6). Raises `PasswordNotSupportedError` for an account
    of the identity provider, `PasswordMismatchError`, `PasswordUnchangedError`, or a
    validation error of `newPassword`.
    """
    if member.provider == Member.Provider.IDP:
        raise PasswordNotSupportedError
    if member.has_usable_password():
        if current_password is None:
            raise InvalidFieldError(
                "currentPassword", gettext("This field is required."), "required"
            )
        verify_password(member, current_password, ip_address)
        if current_password == new_password:
            raise PasswordUnchangedError
    validate_new_password(new_password, member, field="newPassword")
    # Hash before taking the lock: hashing is slow by design.
    verified_hash = member.password
    member.set_password(new_password)
    _replace_password(member, verified_hash, kept_key_hash)


@retry_on_conflict
def _replace_password(member: Member, verified_hash: str, kept_key_hash: str) -> None:
    """Save the member's new hash and revoke the other sessions."""
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        # Another change may have replaced the password that was verified.
        if locked.password != verified_hash:
            raise PasswordMismatchError
        member.save_fields("password")
        log_security_event(SecurityEvent.PASSWORD_CHANGED, member.pk)
        # Tokens stay: they were not made with the password (spec 2.15).
        revoke_sessions(member, except_key_hash=kept_key_hash, keep_tokens=True)
        queue_notice(member, "password_changed", _list_tokens_for_mail(member))
        if kept_key_hash:
            update_session_auth_hash(kept_key_hash, member)


def _list_tokens_for_mail(member: Member) -> dict[str, Any]:
    """Return the personal tokens, which outlive a change of the password.

    Their names, which are the member's own words, go to a verified address only.
    """
    if not is_mail_configured():
        return {}
    tokens = AuthSession.objects.filter(member=member, kind=AuthSession.Kind.TOKEN)
    names = list(tokens.order_by("name").values_list("name", flat=True))
    return {
        "token_count": len(names),
        "token_names": names if member.is_email_verified else [],
    }


def set_profile_image(member: Member, data_url: str | None) -> Member:
    """Set the profile image, or clear it with an empty value.

    Without one, the image of the identity provider is shown.
    """
    if data_url:
        consume_attempt(IMAGE_LIMIT, str(member.pk))
        data_url = clean_image(data_url)
    member.profile_image = data_url or ""
    member.save_fields("profile_image")
    return member


def clean_image(data_url: str) -> str:
    """Return the data URL of the image without metadata such as its place.

    One without metadata is not changed. Raises `InvalidImageError` unless the data URL
    decodes to the image it names.
    """
    parts = parse_data_url(data_url)
    if parts is None:
        raise InvalidImageError(gettext("Send data:image/(png|jpeg|webp|gif);base64,…"))
    kind, text = parts
    # Four characters of base64 are three bytes: refuse before decoding.
    if len(text) > MAX_IMAGE_BYTES * 4 // 3 + 4:
        raise InvalidImageError(gettext("The image is larger than 1 MiB."))
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise InvalidImageError from None
    if len(content) > MAX_IMAGE_BYTES:
        raise InvalidImageError(gettext("The image is larger than 1 MiB."))
    encoded = encode_image(io.BytesIO(content), "avatar", kind).content
    return f"data:image/{kind};base64,{base64.b64encode(encoded).decode()}"


def parse_data_url(data_url: str) -> tuple[str, str] | None:
    """Return the kind and base64 text of an image's data URL, None for other texts."""
    match = _DATA_URL_RE.fullmatch(data_url)
    return (match.group(1), match.group(2)) if match else None
