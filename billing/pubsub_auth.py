"""Authentication of Pub/Sub pushes by Google's OIDC token (STORE_PUSH_AUDIENCE)."""

import hashlib
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from google.auth import jwt
from google.auth.exceptions import GoogleAuthError

from accounts.errors import InvalidIdTokenError
from accounts.idp_login import fetch_verified_claims
from accounts.rate_limits import RateLimitPolicy, consume_attempt

MAX_CACHED_TOKENS = 100
# Without an audience anybody can push.
PUSHES_PER_ADDRESS = RateLimitPolicy("push-per-address", 120, timedelta(minutes=1))
PUSHES_IN_ALL = RateLimitPolicy("push", 300, timedelta(minutes=1))
# Tokens that look right and are not known yet, of which Google is asked: Google itself
# sends a new one every hour.
TOKEN_CHECKS_PER_ADDRESS = RateLimitPolicy(
    "push-token-per-address", 10, timedelta(minutes=1)
)

# Verified tokens: SHA-256 to expiry in seconds since the epoch, oldest first. Google
# uses one token for many pushes.
_verified_tokens: dict[bytes, float] = {}


def verify_push(authorization: str, address: str, *, now: float | None = None) -> None:
    """Verify the Authorization header of a push; `address` is its `rate_limit_key`.

    Raises `InvalidIdTokenError` (401) unless audience, issuer, time and, if set, the
    push account's email are right, and `ProviderUnavailableError` if Google does not
    respond. Without STORE_PUSH_AUDIENCE pushes are accepted up to a limit: a
    notification only makes this service ask the store. Raises `RateLimitedError`.
    """
    if not settings.STORE_PUSH_AUDIENCE:
        consume_attempt(PUSHES_PER_ADDRESS, address)
        consume_attempt(PUSHES_IN_ALL, "all")
        return
    now = time.time() if now is None else now
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidIdTokenError
    token_hash = hashlib.sha256(token.encode("utf-8", "replace")).digest()
    if _verified_tokens.get(token_hash, 0.0) > now:
        return
    # Read the claims unverified first, so that strangers cannot make us call Google.
    try:
        claims: Any = jwt.decode(token, verify=False)  # type: ignore[no-untyped-call]
    except (GoogleAuthError, ValueError, TypeError, RecursionError):
        raise InvalidIdTokenError from None
    if not isinstance(claims, dict):
        raise InvalidIdTokenError
    _validate_claims(claims)
    consume_attempt(TOKEN_CHECKS_PER_ADDRESS, address)
    claims = fetch_verified_claims(token, settings.STORE_PUSH_AUDIENCE, now=now)
    _validate_claims(claims)
    while len(_verified_tokens) >= MAX_CACHED_TOKENS:
        _verified_tokens.pop(next(iter(_verified_tokens)), None)
    _verified_tokens[token_hash] = float(claims["exp"])


def clear_token_cache() -> None:
    """Forget all verified tokens."""
    _verified_tokens.clear()


def _validate_claims(claims: dict[str, Any]) -> None:
    """Raise `InvalidIdTokenError` unless the token is for this service's pushes."""
    if claims.get("aud") != settings.STORE_PUSH_AUDIENCE:
        raise InvalidIdTokenError
    email = settings.STORE_PUSH_EMAIL
    is_verified = str(claims.get("email_verified")).lower() == "true"
    if email and (claims.get("email") != email or not is_verified):
        raise InvalidIdTokenError
