"""Profile changes by members: name, email, password and profile image."""

import base64
import binascii
import io
import re
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext

from accounts.errors import (
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
)
from accounts.login import verify_password
from accounts.models import Member
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
    member: Member, changes: dict[str, str], *, is_by_administrator: bool = False
) -> Member:
    """Save a new display name or email; live sessions show the name at once.

    With `is_by_administrator` another member than the own one is changed.
    """
    if not changes:
        return member
    fields = list(changes)
    is_new_email = changes.get("email", member.email) != member.email
    if "email" in changes and not (
        is_by_administrator and changes["email"] == member.email
    ):
        member.is_email_by_administrator = is_by_administrator
        fields.append("is_email_by_administrator")
    for name, value in changes.items():
        setattr(member, name, value)
    _save_profile(member, fields, is_new_email=is_new_email)
    return member


@retry_on_conflict
def _save_profile(member: Member, fields: list[str], *, is_new_email: bool) -> None:
    with transaction.atomic():
        member.save_fields(*fields)
        invalidate_member_session_cache(member.pk)
        if is_new_email:
            log_security_event(SecurityEvent.EMAIL_CHANGED, member.pk)


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
        revoke_sessions(member, except_key_hash=kept_key_hash)
        if kept_key_hash:
            update_session_auth_hash(kept_key_hash, member)


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
