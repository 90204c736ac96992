"""Checks of the claims in ID tokens."""

from collections.abc import Mapping
from typing import Any

from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from accounts.errors import InvalidIdTokenError
from core.api.fields import has_control_characters

# With HS256 the public key would be the secret: a token must not choose.
SIGNATURE_ALGORITHM = "RS256"
TRUSTED_ISSUERS = frozenset({"accounts.google.com", "https://accounts.google.com"})
CLOCK_SKEW_SECONDS = 10
MAX_SUBJECT_LENGTH = 255


def require_plausible_token(id_token: str, audience: str, *, now: float) -> None:
    """Raise `InvalidIdTokenError` early: strangers cannot make us call the provider."""
    try:
        header = jwt.decode_header(id_token)  # type: ignore[no-untyped-call]
        claims = jwt.decode(id_token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, TypeError, RecursionError):
        raise InvalidIdTokenError from None
    if not isinstance(header, dict) or header.get("alg") != SIGNATURE_ALGORITHM:
        raise InvalidIdTokenError
    if not isinstance(claims, dict):
        raise InvalidIdTokenError
    require_claims_for(audience, claims, now=now)


def require_claims_for(audience: str, claims: Mapping[str, Any], *, now: float) -> None:
    """Raise `InvalidIdTokenError` for a wrong subject, audience, issuer or expiry.

    `now` is in epoch seconds.
    """
    expires_at = text_claim(claims, "exp")
    is_valid = (
        0 < len(text_claim(claims, "sub")) <= MAX_SUBJECT_LENGTH
        and text_claim(claims, "aud") == audience
        and text_claim(claims, "iss") in TRUSTED_ISSUERS
        and expires_at.isascii()
        and expires_at.isdigit()
        and int(expires_at[:18]) > now - CLOCK_SKEW_SECONDS
    )
    if not is_valid:
        raise InvalidIdTokenError


def read_issue_time(claims: Mapping[str, Any]) -> int:
    """Return the issue time in epoch seconds, 0 if unknown."""
    text = text_claim(claims, "iat")
    return int(text[:18]) if text.isascii() and text.isdigit() else 0


def text_claim(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim as text, "" if it is missing or cannot be stored."""
    value = claims.get(name)
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str | int) else ""
    return "" if has_control_characters(text) else text
