"""ID tokens and the identity provider's token-info check, on a loopback address."""

import base64
import json
from collections.abc import Callable
from typing import Any

from pytest_httpserver import HTTPServer

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member

CLIENT_ID = "ledger.apps.example"
EMAIL = "minji@example.com"
PICTURE = "https://pictures.example/minji.png"
# In the year 2100.
EXPIRY = "4102444800"
# A header that the provider writes.
HEADER = {"alg": "RS256", "typ": "JWT"}

Vouch = Callable[..., str]


def make_id_token(header: Any = HEADER, **claims: Any) -> str:
    """Return a token with these claims instead of good ones; None omits a claim."""
    return encode_id_token(header, good_claims(claims))


def encode_id_token(header: Any, claims: Any) -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), b"signature"]
    return ".".join(base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts)


def good_claims(changes: dict[str, Any]) -> dict[str, Any]:
    claims = {
        "iss": "https://accounts.google.com",
        "aud": CLIENT_ID,
        "sub": "subject-1",
        "email": EMAIL,
        "email_verified": "true",
        "name": "Kim Minji",
        "picture": PICTURE,
        "exp": EXPIRY,
    } | changes
    return {name: value for name, value in claims.items() if value is not None}


def fake_provider_at(settings: Any, httpserver: HTTPServer) -> Vouch:
    """Return `vouch(**claims)`: the provider vouches for a token with them, returned."""
    settings.IDP_CLIENT_ID = CLIENT_ID
    settings.IDP_TOKENINFO_URL = httpserver.url_for("/tokeninfo")
    settings.IDP_TOKENS_ARE_JWTS = True

    def vouch(**claims: Any) -> str:
        httpserver.clear()
        body = good_claims(claims)
        httpserver.expect_request("/tokeninfo").respond_with_json(body)
        return make_id_token(**claims)

    return vouch


PATH = "/api/auth/idp"


def log_in(client: JSONClient | None = None, token: Any = "", **fields: Any) -> Any:
    """Log in with a token that looks good, unless another is given."""
    body = {"idToken": make_id_token() if token == "" else token}
    return (client or JSONClient()).send("POST", PATH, body | fields)


def make_idp_member(**fields: Any) -> Member:
    """Return an account of the identity provider, which has no password."""
    member = make_member(**{"provider": "IDP", "email": EMAIL} | fields)
    member.set_unusable_password()
    member.save()
    return member
