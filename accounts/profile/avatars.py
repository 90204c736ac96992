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
