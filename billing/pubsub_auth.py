"""Who may push notifications: whoever Google vouches for, where that is set up."""

import hashlib
import time
from typing import Any

from django.conf import settings
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from accounts.errors import InvalidIdToken
from accounts.idp_login import read_id_token

KNOWN_TOKENS = 100

_vouched: dict[bytes, float] = {}
"""Tokens that Google vouched for a moment ago, by digest, and when they expire."""


def check_push(authorization: str, *, now: float | None = None) -> None:
    """Refuse a push without the token that Google signs for our subscription.

    `InvalidIdToken` (401) unless audience, issuer, time and, where set, the push
    account's email are right. Without STORE_PUSH_AUDIENCE everything passes:
    a notification is never believed, only a reason to ask the store.
    """
    if not settings.STORE_PUSH_AUDIENCE:
        return
    now = time.time() if now is None else now
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdToken
    digest = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    if _vouched.get(digest, 0.0) > now:
        return
    _refuse_claims(_peek(token))
    claims = read_id_token(token, settings.STORE_PUSH_AUDIENCE, now=now)
    _refuse_claims(claims)
    while len(_vouched) >= KNOWN_TOKENS:
        _vouched.pop(next(iter(_vouched)), None)
    _vouched[digest] = float(claims["exp"])


def forget_tokens() -> None:
    """Ask Google again about all of them."""
    _vouched.clear()


def _peek(token: str) -> dict[str, Any]:
    """What the token claims, unchecked: strangers do not make us ask Google."""
    try:
        claims: Any = jwt.decode(token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, TypeError, RecursionError):
        raise InvalidIdToken from None
    if not isinstance(claims, dict):
        raise InvalidIdToken
    return claims


def _refuse_claims(claims: dict[str, Any]) -> None:
    if claims.get("aud") != settings.STORE_PUSH_AUDIENCE:
        raise InvalidIdToken
    email = settings.STORE_PUSH_EMAIL
    verified = str(claims.get("email_verified")).lower() == "true"
    if email and (claims.get("email") != email or not verified):
        raise InvalidIdToken
