"""Login by identity provider: the token's check and the find, link, create ladder."""

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, IntegerField, Value, When

from accounts.errors import (
    IdentityProviderNotConfiguredError,
    InvalidIdTokenError,
    MemberSuspendedError,
    SignupDisabledError,
)
from accounts.models import Member
from accounts.models.members import MAX_DISPLAY_NAME_LENGTH
from accounts.sessions import revoke_sessions
from accounts.signup_setting import is_signup_enabled
from core import http_client
from core.api.fields import has_control_characters
from core.errors import ProviderUnavailableError

TRUSTED_ISSUERS = frozenset({"accounts.google.com", "https://accounts.google.com"})
CLOCK_SKEW_SECONDS = 10
MAX_PICTURE_URL_LENGTH = 2048
MAX_EMAIL_LENGTH = 254


@dataclass(frozen=True, slots=True)
class Identity:
    """What the provider vouches for."""

    subject: str
    email: str
    email_verified: bool
    name: str
    picture: str


@dataclass(frozen=True, slots=True)
class IdentityLogin:
    """The member, and how the ladder got to them."""

    member: Member
    created: bool = False
    linked: bool = False


def verify_id_token(id_token: str, *, now: float | None = None) -> Identity:
    """Ask the provider's token-info check; the audience must be our client id.

    Raises `InvalidIdTokenError`, `IdentityProviderNotConfiguredError`, or
    `ProviderUnavailableError` when the provider fails.
    """
    if not settings.IDP_CLIENT_ID:
        raise IdentityProviderNotConfiguredError
    now = time.time() if now is None else now
    claims = fetch_verified_claims(id_token, settings.IDP_CLIENT_ID, now=now)
    return Identity(
        subject=claims["sub"],
        email=_text_claim(claims, "email")[:MAX_EMAIL_LENGTH],
        email_verified=_text_claim(claims, "email_verified").lower() == "true",
        name=_text_claim(claims, "name")[:MAX_DISPLAY_NAME_LENGTH],
        picture=_picture_claim(claims),
    )


def fetch_verified_claims(
    id_token: str, audience: str, *, now: float
) -> dict[str, Any]:
    """What the provider says of a token that it made for this audience.

    Raises `InvalidIdTokenError`, or `ProviderUnavailableError` when the provider fails.
    """
    answer = http_client.get(settings.IDP_TOKENINFO_URL, {"id_token": id_token})
    if answer.status != 200:
        raise InvalidIdTokenError
    claims = _parse_claims(answer.body)
    if not _has_valid_claims(audience, claims, now):
        raise InvalidIdTokenError
    return claims


def login_with_identity(identity: Identity) -> IdentityLogin:
    """Find by subject, else link a verified email's account, else create one.

    The picture is stored at the first login and when it changes. Two first logins
    at once end at the same member: the subject is unique in the database.
    """
    try:
        with transaction.atomic():
            return _find_link_or_create(identity)
    except IntegrityError:
        with transaction.atomic():
            return _find_link_or_create(identity)


def _find_link_or_create(identity: Identity) -> IdentityLogin:
    member = Member.objects.filter(idp_id=identity.subject).first()
    if member is not None:
        return IdentityLogin(_refresh_on_login(member, identity))
    member = _find_member_to_link(identity)
    if member is not None:
        return IdentityLogin(_link_identity(member, identity), linked=True)
    return IdentityLogin(_create_member(identity), created=True)


def _find_member_to_link(identity: Identity) -> Member | None:
    """The account to link: LOCAL first, then the oldest; no other subject's."""
    if not (identity.email and identity.email_verified):
        return None
    local_first = Case(
        When(provider=Member.Provider.LOCAL, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    candidates = Member.objects.select_for_update().filter(
        email__iexact=identity.email, idp_id=None
    )
    return candidates.order_by(local_first, "id").first()


def _link_identity(member: Member, identity: Identity) -> Member:
    """Backfill the subject; a password that was set before loses its force.

    The email of a LOCAL account was never verified here, so whoever registered it
    first must not keep a way in: password and sessions end.
    """
    _refresh_on_login(member, identity)
    member.idp_id = identity.subject
    member.set_unusable_password()
    member.save_fields("idp_id", "password")
    revoke_sessions(member)
    return member


def _refresh_on_login(member: Member, identity: Identity) -> Member:
    if not member.is_active:
        raise MemberSuspendedError
    if identity.picture and identity.picture != member.idp_picture:
        member.idp_picture = identity.picture
        member.save_fields("idp_picture")
    return member


def _create_member(identity: Identity) -> Member:
    if not is_signup_enabled():
        raise SignupDisabledError
    member = Member(
        login_id=f"idp-{secrets.token_hex(8)}",
        display_name=identity.name or identity.email.partition("@")[0] or "Member",
        email=identity.email,
        provider=Member.Provider.IDP,
        idp_id=identity.subject,
        idp_picture=identity.picture,
    )
    member.set_unusable_password()
    member.save(force_insert=True)
    return member


def _parse_claims(body: bytes) -> dict[str, Any]:
    try:
        claims = json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderUnavailableError from None
    if not isinstance(claims, dict):
        raise ProviderUnavailableError
    return claims


def _has_valid_claims(audience: str, claims: dict[str, Any], now: float) -> bool:
    subject, expires_at = _text_claim(claims, "sub"), _text_claim(claims, "exp")
    return (
        0 < len(subject) <= 255
        and _text_claim(claims, "aud") == audience
        and _text_claim(claims, "iss") in TRUSTED_ISSUERS
        and expires_at.isascii()
        and expires_at.isdigit()
        and int(expires_at[:18]) > now - CLOCK_SKEW_SECONDS
    )


def _text_claim(claims: dict[str, Any], name: str) -> str:
    """The value as text, "" where it is missing or could not be stored.

    Token info gives all values as strings; imitations give booleans and numbers.
    """
    value = claims.get(name)
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str | int) else ""
    return "" if has_control_characters(text) else text


def _picture_claim(claims: dict[str, Any]) -> str:
    """Only https: the address is handed to browsers, never fetched here."""
    picture = _text_claim(claims, "picture")
    if picture.startswith("https://") and len(picture) <= MAX_PICTURE_URL_LENGTH:
        return picture
    return ""
