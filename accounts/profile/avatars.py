"""Avatars."""

import base64
import binascii
from dataclasses import dataclass

from accounts.models import Member
from accounts.profile.profile import parse_data_url
from core.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Avatar:
    content: bytes
    content_type: str
    version: str


def avatar_url(member_id: int, version: str | None, idp_picture: str) -> str | None:
    """Return the URL of the profile image, else of the provider's picture."""
    if version:
        return f"/api/members/{member_id}/avatar?v={version}"
    return idp_picture or None


# The same in SQL, for the member `m`.
AVATAR_URL_SQL = """
    CASE WHEN m.avatar_version <> ''
    THEN '/api/members/' || m.id || '/avatar?v=' || m.avatar_version
    ELSE nullif(m.idp_picture, '') END
"""


def get_avatar(member_id: int) -> Avatar:
    rows = Member.objects.filter(pk=member_id, avatar_version__isnull=False)
    row = rows.values_list("profile_image", "avatar_version").first()
    if row is None:
        raise NotFoundError
    data_url, version = row
    parts = parse_data_url(data_url)
    if parts is None:
        raise NotFoundError
    kind, text = parts
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise NotFoundError from None
    return Avatar(content, f"image/{kind}", version)
