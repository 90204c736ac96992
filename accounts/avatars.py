"""Avatars: which picture stands for a member, and the bytes of a profile image."""

import base64
import binascii
from dataclasses import dataclass

from accounts.models import Member
from accounts.profile import parse_data_url
from core.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Avatar:
    """A profile image as it is served."""

    content: bytes
    content_type: str
    version: str


def avatar_url(member_id: int, version: str | None, idp_picture: str) -> str | None:
    """Where a member's picture is: the profile image, else the provider's, else none.

    The path of a profile image holds its version, so that it can be cached for good.
    """
    if version:
        return f"/api/members/{member_id}/avatar?v={version}"
    return idp_picture or None


def get_avatar(member_id: int) -> Avatar:
    """The member's profile image, or `NotFoundError` where there is none."""
    rows = Member.objects.filter(pk=member_id, avatar_version__isnull=False)
    row = rows.values_list("profile_image", "avatar_version").first()
    parts = parse_data_url(row[0]) if row else None
    if row is None or parts is None:
        raise NotFoundError
    kind, text = parts
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise NotFoundError from None
    return Avatar(content, f"image/{kind}", row[1])
