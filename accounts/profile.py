"""What members change about themselves: name, email, password, picture."""

import base64
import binascii
import io
import re

from django.db import transaction

from accounts.errors import (
    PasswordMismatchError,
    PasswordNotSupportedError,
    PasswordUnchangedError,
)
from accounts.login import verify_password
from accounts.models import Member
from accounts.sessions import (
    invalidate_member_session_cache,
    revoke_sessions,
    update_session_auth_hash,
)
from accounts.signup import validate_new_password
from core.errors import InvalidFieldError, InvalidImageError
from core.image_decoder import open_image

MAX_IMAGE_BYTES = 2**20
MAX_IMAGE_PIXELS = 25_000_000
_DATA_URL_RE = re.compile(
    r"data:image/(png|jpeg|webp|gif);base64,([A-Za-z0-9+/]+={0,2})"
)


def update_profile(member: Member, changes: dict[str, str]) -> Member:
    """New sign-up information; a new display name reaches all live sessions."""
    for name, value in changes.items():
        setattr(member, name, value)
    if not changes:
        return member
    with transaction.atomic():
        member.save_fields(*changes)
        invalidate_member_session_cache(member.pk)
    return member


def change_password(
    member: Member, current: str | None, new: str, *, address: str, kept: str = ""
) -> None:
    """Replace the password after a check of the current one; sessions end.

    All of the member's sessions end but the one with the digest `kept`.

    Raises `PasswordNotSupportedError` for an identity-provider account,
    `PasswordMismatchError`, `PasswordUnchangedError`, or a validation error of `newPassword`.
    A LOCAL member whose password linking made unusable sets one without it.
    """
    if member.provider == Member.Provider.IDP:
        raise PasswordNotSupportedError
    if member.has_usable_password():
        if current is None:
            raise InvalidFieldError(
                "currentPassword", "This field is required.", "required"
            )
        verify_password(member, current, address)
        if current == new:
            raise PasswordUnchangedError
    validate_new_password(new, member, field="newPassword")
    verified = member.password
    member.set_password(new)
    with transaction.atomic():
        locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
        if locked.password != verified:
            raise PasswordMismatchError
        member.save_fields("password")
        revoke_sessions(member, except_digest=kept)
        if kept:
            update_session_auth_hash(kept, member)


def set_profile_image(member: Member, data_url: str | None) -> Member:
    """Set the picture, or clear it with an empty value: the provider's counts then."""
    if data_url:
        validate_image(data_url)
    member.profile_image = data_url or ""
    member.save_fields("profile_image")
    return member


def validate_image(data_url: str) -> None:
    """Refuse a data URL that does not really decode to the picture it names."""
    parts = parse_data_url(data_url)
    if parts is None:
        raise InvalidImageError("Send data:image/(png|jpeg|webp|gif);base64,…")
    kind, text = parts
    if len(text) > MAX_IMAGE_BYTES * 4 // 3 + 4:
        raise InvalidImageError("The picture is larger than 1 MiB.")
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise InvalidImageError from None
    if len(content) > MAX_IMAGE_BYTES:
        raise InvalidImageError("The picture is larger than 1 MiB.")
    with open_image(io.BytesIO(content), (kind,), MAX_IMAGE_PIXELS) as picture:
        picture.load()


def parse_data_url(data_url: str) -> tuple[str, str] | None:
    """Kind and base64 text of a picture's data URL, None for anything else."""
    match = _DATA_URL_RE.fullmatch(data_url)
    return (match.group(1), match.group(2)) if match else None
