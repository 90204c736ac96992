"""Changes of name, email, language, password and image."""

import base64
import binascii
import io
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.errors import (
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
    ReauthenticationRequiredError,
)
from accounts.login.fresh import is_session_fresh, list_methods
from accounts.login.password import verify_password
from accounts.mail.outbox import (
    is_mail_configured,
    queue_notice,
    require_mail_configured,
)
from accounts.members.email_addresses import validate_new_address
from accounts.members.names import normalize_display_name, validate_names
from accounts.members.passwords import validate_new_password
from accounts.models import AuthSession, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from accounts.sessions.store import (
    invalidate_member_session_cache,
    revoke_sessions,
    update_session_auth_hash,
)
from accounts.switches.switches import Switch, lock_switch, require_switch
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, InvalidImageError
from core.images import encode_image

MAX_IMAGE_BYTES = 2**20
# Decoding is expensive.
IMAGE_LIMIT = RateLimitPolicy("profile-images", 60, timedelta(hours=1))
_DATA_URL_RE = re.compile(
    r"data:image/(png|jpeg|webp|gif);base64,([A-Za-z0-9+/]+={0,2})"
)


@retry_on_conflict
def update_profile(
    member: Member, changes: Mapping[str, str], *, session_key_hash: str | None
) -> Member:
    """Save a new display name, email or language.

    An address in place of a verified address waits for its code. `session_key_hash` is
    None for administrators.
    """
    if not changes:
        return member
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True).defer("profile_image")
        stored = rows.get(pk=member.pk)
        values: dict[str, Any] = dict(changes)
        # A name that was allowed before may stay.
        name = values.get("display_name", stored.display_name)
        if name != stored.display_name:
            values["display_name"] = normalize_display_name(name)
            validate_names(values["display_name"], is_staff=stored.is_staff)
        if (email := values.pop("email", None)) is not None:
            if email not in {stored.email, stored.pending_email}:
                validate_new_address(email)
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
            end_codes(member)
        for name, value in values.items():
            setattr(member, name, value)
        member.save_fields(*values)
        invalidate_member_session_cache(member.pk)
    return member


def _plan_email_change(
    stored: Member, email: str, session_key_hash: str | None
) -> dict[str, Any]:
    """Return the fields to write; the caller has locked the member."""
    is_by_administrator = session_key_hash is None
    is_fresh = session_key_hash is not None and is_session_fresh(session_key_hash)
    if stored.is_email_verified and not is_by_administrator:
        # The current address cancels a pending address.
        if email in {stored.email, stored.pending_email}:
            return {"pending_email": "" if email == stored.email else email}
        if not is_fresh:
            methods = list_methods(stored)
            raise ReauthenticationRequiredError(members={"methods": methods})
        # Without mail it could never be verified.
        require_mail_configured()
        return {"pending_email": email}
    values: dict[str, Any] = {"email": email}
    if email != stored.email:
        values["pending_email"] = ""
        values["is_email_from_staff"] = is_by_administrator
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
    """Replace the password and revoke all sessions except `kept_key_hash`.

    Linking may have made the current password unusable (spec 2.6).
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
    verified_hash = member.password
    member.set_password(new_password)
    _replace_password(member, verified_hash, kept_key_hash)


@retry_on_conflict
def _replace_password(member: Member, verified_hash: str, kept_key_hash: str) -> None:
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        # A concurrent change was faster.
        if locked.password != verified_hash:
            raise PasswordMismatchError
        member.save_fields("password")
        end_codes(member)
        log_security_event(SecurityEvent.PASSWORD_CHANGED, member.pk)
        # Tokens do not depend on the password (spec 2.15).
        revoke_sessions(member, except_key_hash=kept_key_hash, keep_tokens=True)
        queue_notice(member, "password_changed", _list_tokens_for_mail(member))
        if kept_key_hash:
            update_session_auth_hash(kept_key_hash, member)


def _list_tokens_for_mail(member: Member) -> dict[str, Any]:
    """Return the tokens, but names only to a verified address."""
    if not is_mail_configured():
        return {}
    tokens = AuthSession.objects.filter(member=member, kind=AuthSession.Kind.TOKEN)
    names = list(tokens.order_by("name").values_list("name", flat=True))
    return {
        "token_count": len(names),
        "token_names": names if member.is_email_verified else [],
    }


def set_profile_image(member: Member, data_url: str | None) -> Member:
    """Replace or remove the image; raise `SwitchedOffError` for a new one."""
    if data_url:
        require_switch(Switch.IMAGES)
        IMAGE_LIMIT.consume(str(member.pk))
        data_url = clean_image(data_url)
    member.profile_image = data_url or ""
    _save_profile_image(member)
    return member


@retry_on_conflict
def _save_profile_image(member: Member) -> None:
    with transaction.atomic():
        # Locks the member first, as posts and images do.
        member.save_fields("profile_image")
        if member.profile_image:
            lock_switch(Switch.IMAGES)


def clean_image(data_url: str) -> str:
    """Return the image without metadata, such as a place."""
    parts = parse_data_url(data_url)
    if parts is None:
        raise InvalidImageError(gettext("Send data:image/(png|jpeg|webp|gif);base64,…"))
    kind, text = parts
    # Four characters of base64 are three bytes.
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
    match = _DATA_URL_RE.fullmatch(data_url)
    return (match.group(1), match.group(2)) if match else None
