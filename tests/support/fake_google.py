"""Google's word for push tokens, on a loopback address."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

from pytest_httpserver import HTTPServer

AUDIENCE = "https://ledger.example/api/billing/store/rtdn"
EMAIL = "push@ledger.iam.gserviceaccount.com"

MakeIdToken = Callable[..., str]


def fake_google_at(settings: Any, httpserver: HTTPServer) -> MakeIdToken:
    """Return `vouch(**claims)`, which makes a push token that Google vouches for."""
    settings.STORE_PUSH_AUDIENCE, settings.STORE_PUSH_EMAIL = AUDIENCE, EMAIL
    settings.IDP_TOKENINFO_URL = httpserver.url_for("/tokeninfo")

    def make(**claims: Any) -> str:
        given = {
            "iss": "https://accounts.google.com",
            "aud": AUDIENCE,
            "sub": "113",
            "email": EMAIL,
            "email_verified": True,
            "exp": int(time.time()) + 3600,
        } | claims
        httpserver.clear()
        said = {name: str(value) for name, value in given.items()}
        said["email_verified"] = str(given["email_verified"]).lower()
        httpserver.expect_request("/tokeninfo").respond_with_json(said)
        return sign(given)

    return make


def sign(claims: Any) -> str:
    parts = [{"alg": "RS256", "typ": "JWT"}, claims]
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in parts
    ]
    return ".".join([*encoded, "c2lnbmF0dXJl"])
