"""Addresses of avatars (spec 5.7)."""


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
