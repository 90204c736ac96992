"""ID tokens, put to the identity provider's own check (spec 2.4)."""

import json
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts.errors import IdentityProviderNotConfiguredError, InvalidIdTokenError
from accounts.login.id_tokens import (
    read_issue_time,
    require_claims_for,
    require_plausible_token,
    text_claim,
)
from accounts.models import LinkedIdentity
from accounts.models.members import MAX_DISPLAY_NAME_LENGTH
from core import http_client
from core.errors import ProviderUnavailableError

MAX_PICTURE_URL_LENGTH = 2048
MAX_EMAIL_LENGTH = 254

identity_provider = http_client.OutsideService("identity provider")


@dataclass(frozen=True, slots=True)
class Identity:
    subject: str
    email: str
    email_verified: bool
    name: str
    picture: str
    issued_at: int = 0
    provider: str = LinkedIdentity.Provider.GOOGLE

    @property
    def verified_email(self) -> str:
        return self.email if self.email_verified else ""


def verify_id_token(
    id_token: str, nonce: str | None = None, *, now: float | None = None
) -> Identity:
    if not settings.IDP_CLIENT_ID:
        raise IdentityProviderNotConfiguredError
    now = time.time() if now is None else now
    if settings.IDP_TOKENS_ARE_JWTS:
        require_plausible_token(id_token, settings.IDP_CLIENT_ID, now=now)
    claims = fetch_verified_claims(id_token, settings.IDP_CLIENT_ID, now=now)
    if nonce is not None and text_claim(claims, "nonce") != nonce:
        raise InvalidIdTokenError
    picture = text_claim(claims, "picture")
    if not picture.startswith("https://") or len(picture) > MAX_PICTURE_URL_LENGTH:
        picture = ""
    email = text_claim(claims, "email")
    return Identity(
        subject=text_claim(claims, "sub"),
        email=email if len(email) <= MAX_EMAIL_LENGTH else "",
        email_verified=text_claim(claims, "email_verified").lower() == "true",
        name=text_claim(claims, "name")[:MAX_DISPLAY_NAME_LENGTH],
        picture=picture,
        issued_at=read_issue_time(claims),
    )


def fetch_verified_claims(
    id_token: str, audience: str, *, now: float
) -> dict[str, Any]:
    response = http_client.get(
        settings.IDP_TOKENINFO_URL, {"id_token": id_token}, service=identity_provider
    )
    if response.status != 200:
        raise InvalidIdTokenError
    try:
        claims = json.loads(response.body)
    except (ValueError, RecursionError):
        raise ProviderUnavailableError from None
    if not isinstance(claims, dict):
        raise ProviderUnavailableError
    require_claims_for(audience, claims, now=now)
    return claims
