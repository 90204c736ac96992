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
    IdentityProviderNotConfigured,
    InvalidIdToken,
    MemberSuspended,
    SignupDisabled,
)
from accounts.models import Member
from accounts.models.members import NAME_LENGTH
from accounts.sessions import end_sessions
from accounts.signup_setting import is_signup_enabled
from core import http_client
from core.api.fields import has_control_characters
from core.errors import ProviderUnavailable

ISSUERS = frozenset({"accounts.google.com", "https://accounts.google.com"})
CLOCK_SKEW_SECONDS = 10
PICTURE_LENGTH = 2048
EMAIL_LENGTH = 254


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


def check_id_token(id_token: str, *, now: float | None = None) -> Identity:
    """Ask the provider's token-info check; the audience must be our client id.

    Raises `InvalidIdToken`, `IdentityProviderNotConfigured`, or
    `ProviderUnavailable` when the provider fails.
    """
    if not settings.IDP_CLIENT_ID:
        raise IdentityProviderNotConfigured
    now = time.time() if now is None else now
    claims = read_id_token(id_token, settings.IDP_CLIENT_ID, now=now)
    return Identity(
        subject=claims["sub"],
        email=_text(claims, "email")[:EMAIL_LENGTH],
        email_verified=_text(claims, "email_verified").lower() == "true",
        name=_text(claims, "name")[:NAME_LENGTH],
        picture=_read_picture(claims),
    )


def read_id_token(id_token: str, audience: str, *, now: float) -> dict[str, Any]:
    """What the provider says of a token that it made for this audience.

    Raises `InvalidIdToken`, or `ProviderUnavailable` when the provider fails.
    """
    answer = http_client.get(settings.IDP_TOKENINFO_URL, {"id_token": id_token})
    if answer.status != 200:
        raise InvalidIdToken
    claims = _read_claims(answer.body)
    if not _is_for(audience, claims, now):
        raise InvalidIdToken
    return claims


def log_in_by_identity(identity: Identity) -> IdentityLogin:
    """Find by subject, else link a verified email's account, else create one.

    The picture is stored at the first login and when it changes. Two first logins
    at once end at the same member: the subject is unique in the database.
    """
    try:
        with transaction.atomic():
            return _climb_ladder(identity)
    except IntegrityError:
        with transaction.atomic():
            return _climb_ladder(identity)


def _climb_ladder(identity: Identity) -> IdentityLogin:
    member = Member.objects.filter(idp_id=identity.subject).first()
    if member is not None:
        return IdentityLogin(_welcome(member, identity))
    member = _find_by_email(identity)
    if member is not None:
        return IdentityLogin(_link(member, identity), linked=True)
    return IdentityLogin(_create(identity), created=True)


def _find_by_email(identity: Identity) -> Member | None:
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


def _link(member: Member, identity: Identity) -> Member:
    """Backfill the subject; a password that was set before loses its force.

    The email of a LOCAL account was never verified here, so whoever registered it
    first must not keep a way in: password and sessions end.
    """
    _welcome(member, identity)
    member.idp_id = identity.subject
    member.set_unusable_password()
    member.store("idp_id", "password")
    end_sessions(member)
    return member


def _welcome(member: Member, identity: Identity) -> Member:
    if not member.is_active:
        raise MemberSuspended
    if identity.picture and identity.picture != member.idp_picture:
        member.idp_picture = identity.picture
        member.store("idp_picture")
    return member


def _create(identity: Identity) -> Member:
    if not is_signup_enabled():
        raise SignupDisabled
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


def _read_claims(body: bytes) -> dict[str, Any]:
    try:
        claims = json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderUnavailable from None
    if not isinstance(claims, dict):
        raise ProviderUnavailable
    return claims


def _is_for(audience: str, claims: dict[str, Any], now: float) -> bool:
    subject, expires_at = _text(claims, "sub"), _text(claims, "exp")
    return (
        0 < len(subject) <= 255
        and _text(claims, "aud") == audience
        and _text(claims, "iss") in ISSUERS
        and expires_at.isascii()
        and expires_at.isdigit()
        and int(expires_at[:18]) > now - CLOCK_SKEW_SECONDS
    )


def _text(claims: dict[str, Any], name: str) -> str:
    """The value as text, "" where it is missing or could not be stored.

    Token info gives all values as strings; imitations give booleans and numbers.
    """
    value = claims.get(name)
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str | int) else ""
    return "" if has_control_characters(text) else text


def _read_picture(claims: dict[str, Any]) -> str:
    """Only https: the address is handed to browsers, never fetched here."""
    picture = _text(claims, "picture")
    if picture.startswith("https://") and len(picture) <= PICTURE_LENGTH:
        return picture
    return ""
