"""Who may push notifications: whoever Google vouches for, where that is set up."""

import hashlib
import time
from typing import Any

from django.conf import settings
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from accounts.errors import InvalidIdTokenError
from accounts.idp_login import fetch_verified_claims

MAX_CACHED_TOKENS = 100

_verified_tokens: dict[bytes, float] = {}
"""Tokens that Google vouched for a moment ago, by digest, and when they expire."""


def verify_push_token(authorization: str, *, now: float | None = None) -> None:
    """Refuse a push without the token that Google signs for our subscription.

    `InvalidIdTokenError` (401) unless audience, issuer, time and, where set, the push
    account's email are right. Without STORE_PUSH_AUDIENCE everything passes:
    a notification is never believed, only a reason to ask the store.
    """
    if not settings.STORE_PUSH_AUDIENCE:
        return
    now = time.time() if now is None else now
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdTokenError
    digest = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    if _verified_tokens.get(digest, 0.0) > now:
        return
    _validate_claims(_decode_unverified(token))
    claims = fetch_verified_claims(token, settings.STORE_PUSH_AUDIENCE, now=now)
    _validate_claims(claims)
    while len(_verified_tokens) >= MAX_CACHED_TOKENS:
        _verified_tokens.pop(next(iter(_verified_tokens)), None)
    _verified_tokens[digest] = float(claims["exp"])


def clear_token_cache() -> None:
    """Ask Google again about all of them."""
    _verified_tokens.clear()


def _decode_unverified(token: str) -> dict[str, Any]:
    """What the token claims, unchecked: strangers do not make us ask Google."""
    try:
        claims: Any = jwt.decode(token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, TypeError, RecursionError):
        raise InvalidIdTokenError from None
    if not isinstance(claims, dict):
        raise InvalidIdTokenError
    return claims


def _validate_claims(claims: dict[str, Any]) -> None:
    if claims.get("aud") != settings.STORE_PUSH_AUDIENCE:
        raise InvalidIdTokenError
    email = settings.STORE_PUSH_EMAIL
    verified = str(claims.get("email_verified")).lower() == "true"
    if email and (claims.get("email") != email or not verified):
        raise InvalidIdTokenError
