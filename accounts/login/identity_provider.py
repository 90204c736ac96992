"""Login by identity provider (spec 2.4)."""

import json
import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, IntegerField, Value, When
from django.utils import timezone

from accounts.errors import (
    IdentityProviderNotConfiguredError,
    InvalidIdTokenError,
    LinkingRefusedError,
    MemberSuspendedError,
    SignupDisabledError,
)
from accounts.login.id_tokens import (
    read_issue_time,
    require_claims_for,
    require_plausible_token,
    text_claim,
)
from accounts.members.names import choose_display_name
from accounts.members.search import own_email_condition
from accounts.models import Member
from accounts.models.members import MAX_DISPLAY_NAME_LENGTH
from accounts.security.events import SecurityEvent, log_refusal, log_security_event
from accounts.security.rate_limits import count_identity_failures
from accounts.sessions.store import revoke_sessions
from accounts.signup.setting import is_signup_enabled
from core import http_client
from core.db.transactions import retry_on_conflict
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


@dataclass(frozen=True, slots=True)
class IdentityLogin:
    member: Member
    created: bool = False
    linked: bool = False


def login_with_id_token(
    id_token: str, nonce: str | None, ip_address: str, *, locale: str = Member.Locale.EN
) -> IdentityLogin:
    with count_identity_failures(ip_address):
        identity = verify_id_token(id_token, nonce)
    return login_with_identity(identity, locale=locale)


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


def login_with_identity(
    identity: Identity, *, locale: str = Member.Locale.EN
) -> IdentityLogin:
    """Find the subject's member, link by verified email, or create one."""
    now = timezone.now()
    try:
        return _find_link_or_create(identity, now, locale)
    except IntegrityError:
        # A concurrent login was faster; its member may be gone again.
        return _find_link_or_create(identity, now, locale)


@retry_on_conflict
@transaction.atomic
def _find_link_or_create(
    identity: Identity, now: datetime, locale: str
) -> IdentityLogin:
    member = Member.objects.filter(idp_id=identity.subject).first()
    if member is not None:
        _refresh_on_login(member, identity)
        return IdentityLogin(member)

    member = _lock_member_to_link(identity, now)
    if member is not None:
        _refresh_on_login(member, identity)
        # A stranger may have registered the unverified address.
        member.idp_id = identity.subject
        if not member.is_email_verified:
            member.set_unusable_password()
        member.save_fields("idp_id", "password")
        revoke_sessions(member)
        log_security_event(SecurityEvent.IDENTITY_LINKED, member.pk)
        return IdentityLogin(member, linked=True)

    if not is_signup_enabled():
        raise SignupDisabledError
    member = Member(
        login_id=f"idp-{secrets.token_hex(8)}",
        display_name=choose_display_name(
            identity.name, identity.email.partition("@")[0]
        ),
        email=identity.email,
        locale=locale,
        provider=Member.Provider.IDP,
        idp_id=identity.subject,
        idp_picture=identity.picture,
    )
    member.set_unusable_password()
    member.save(force_insert=True)
    log_security_event(SecurityEvent.ACCOUNT_CREATED, member.pk)
    return IdentityLogin(member, created=True)


def _lock_member_to_link(identity: Identity, now: datetime) -> Member | None:
    """Lock and return the member to link: LOCAL members first, then the oldest.

    Raises `LinkingRefusedError` if others have the address, such as administrators.
    """
    if not (identity.email and identity.email_verified):
        return None
    local_first = Case(
        When(provider=Member.Provider.LOCAL, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    candidates = Member.objects.with_email(identity.email).filter(idp_id=None)
    linkable = candidates.filter(own_email_condition(), role=Member.Role.MEMBER)
    member = linkable.select_for_update().order_by(local_first, "id").first()
    if member is None and (refused := candidates.first()) is not None:
        log_refusal(SecurityEvent.LINKING_REFUSED, refused.pk)
        raise LinkingRefusedError
    return member


def _refresh_on_login(member: Member, identity: Identity) -> None:
    if not member.is_active:
        log_refusal(SecurityEvent.LOGIN_FAILED, member.pk, reason="SUSPENDED")
        raise MemberSuspendedError
    if identity.picture and identity.picture != member.idp_picture:
        member.idp_picture = identity.picture
        member.save_fields("idp_picture")
