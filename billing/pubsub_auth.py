"""Authentication of Pub/Sub pushes."""

import hashlib
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from accounts.errors import InvalidIdTokenError
from accounts.login.identity_provider import fetch_verified_claims
from accounts.security.rate_limits import RateLimitPolicy

MAX_CACHED_TOKENS = 100
PUSHES_PER_ADDRESS = RateLimitPolicy("push-per-address", 120, timedelta(minutes=1))
PUSHES_IN_ALL = RateLimitPolicy("push", 300, timedelta(minutes=1))
# Google, which is asked about unknown tokens, sends a new token every hour.
TOKEN_CHECKS_PER_ADDRESS = RateLimitPolicy(
    "push-token-per-address", 10, timedelta(minutes=1)
)

# SHA-256 of verified tokens -> expiry in epoch seconds, oldest first.
_verified_tokens: dict[bytes, float] = {}


def verify_push(authorization: str, address: str, *, now: float | None = None) -> None:
    """Verify the Authorization header; `address` is its `rate_limit_key`.

    Without STORE_PUSH_AUDIENCE anybody may push, up to a limit.
    """
    if not settings.STORE_PUSH_AUDIENCE:
        PUSHES_PER_ADDRESS.consume(address)
        PUSHES_IN_ALL.consume("all")
        return
    now = time.time() if now is None else now
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdTokenError
    token_hash = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    if _verified_tokens.get(token_hash, 0.0) > now:
        return
    # Unverified claims come first: strangers cannot make us call Google.
    try:
        claims: Any = jwt.decode(token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, TypeError, RecursionError):
        raise InvalidIdTokenError from None
    if not isinstance(claims, dict):
        raise InvalidIdTokenError
    _validate_claims(claims)
    TOKEN_CHECKS_PER_ADDRESS.consume(address)
    claims = fetch_verified_claims(token, settings.STORE_PUSH_AUDIENCE, now=now)
    _validate_claims(claims)
    while len(_verified_tokens) >= MAX_CACHED_TOKENS:
        _verified_tokens.pop(next(iter(_verified_tokens)), None)
    _verified_tokens[token_hash] = float(claims["exp"])


def clear_token_cache() -> None:
    _verified_tokens.clear()


def _validate_claims(claims: dict[str, Any]) -> None:
    if claims.get("aud") != settings.STORE_PUSH_AUDIENCE:
        raise InvalidIdTokenError
    email = settings.STORE_PUSH_EMAIL
    is_verified = str(claims.get("email_verified")).lower() == "true"
    if email and (claims.get("email") != email or not is_verified):
        raise InvalidIdTokenError
