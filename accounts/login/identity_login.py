"""Login by identity provider (spec 2.4)."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Case, IntegerField, Value, When
from django.utils import timezone

from accounts.errors import (
    LinkingRefusedError,
    MemberSuspendedError,
    SignupDisabledError,
)
from accounts.legal.consents import add_consents, take_consents
from accounts.login.identities import link_by_address, list_linkable, record_use
from accounts.login.identity_provider import Identity, verify_id_token
from accounts.members.names import choose_display_name
from accounts.models import Member
from accounts.security.events import SecurityEvent, log_refusal, log_security_event
from accounts.security.rate_limits import count_identity_failures
from accounts.signup.setting import is_signup_enabled
from accounts.switches.switches import (
    Switch,
    lock_switch,
    require_switch,
    require_writable,
)
from core.db.transactions import retry_on_conflict


@dataclass(frozen=True, slots=True)
class IdentityLogin:
    """The member of an identity; with a second factor nothing is written yet."""

    member: Member
    identity: Identity
    created: bool = False
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Newcomer:
    """What is known of a member who is created by the login."""

    locale: str = Member.Locale.EN
    consents: tuple[int, ...] = ()
    ip_address: str = ""


def login_with_id_token(
    id_token: str,
    nonce: str | None,
    ip_address: str,
    *,
    locale: str = Member.Locale.EN,
    may_link: bool = True,
    consents: Collection[int] = (),
) -> IdentityLogin:
    require_switch(Switch.IDENTITY_PROVIDERS)
    with count_identity_failures(ip_address):
        identity = verify_id_token(id_token, nonce)
    newcomer = Newcomer(locale, tuple(consents), ip_address)
    return login_with_identity(identity, newcomer, may_link=may_link)


def login_with_identity(
    identity: Identity, newcomer: Newcomer | None = None, *, may_link: bool = True
) -> IdentityLogin:
    """Find the subject's member, link by verified email, or create one."""
    now = timezone.now()
    newcomer = newcomer or Newcomer()
    try:
        return _find_link_or_create(identity, now, newcomer, may_link)
    except IntegrityError:
        # A concurrent login was faster; its member may be gone again.
        return _find_link_or_create(identity, now, newcomer, may_link)


@retry_on_conflict
@transaction.atomic
def _find_link_or_create(
    identity: Identity, now: datetime, newcomer: Newcomer, may_link: bool
) -> IdentityLogin:
    # A removal goes before or after: its member has no row of the identity left.
    rows = Member.objects.select_for_update(no_key=True)
    member = rows.filter(idp_id=identity.subject).first()
    if member is not None:
        _require_active(member)
        lock_switch(Switch.IDENTITY_PROVIDERS)
        if not member.has_second_factor:
            record_use(member, identity, now)
        return IdentityLogin(member, identity)

    # A login may change nothing else then.
    require_writable()
    member = _lock_member_to_link(identity) if may_link else None
    if member is not None:
        _require_active(member)
        lock_switch(Switch.IDENTITY_PROVIDERS)
        if member.has_second_factor:
            return IdentityLogin(member, identity)
        link_by_address(member, identity, now)
        return IdentityLogin(member, identity, linked=True)

    if not is_signup_enabled():
        raise SignupDisabledError
    created = _create_member(identity, now, newcomer)
    return IdentityLogin(created, identity, created=True)


def _create_member(identity: Identity, now: datetime, newcomer: Newcomer) -> Member:
    consents = take_consents(newcomer.consents, newcomer.locale)
    lock_switch(Switch.IDENTITY_PROVIDERS)
    lock_switch(Switch.SIGNUP_ENABLED, SignupDisabledError)
    member = Member(
        login_id=f"idp-{secrets.token_hex(8)}",
        display_name=choose_display_name(
            identity.name, identity.email.partition("@")[0]
        ),
        email=identity.email,
        locale=newcomer.locale,
        provider=Member.Provider.IDP,
        idp_id=identity.subject,
        idp_picture=identity.picture,
    )
    member.set_unusable_password()
    member.save(force_insert=True)
    add_consents(member, consents, newcomer.ip_address, accepted=True)
    record_use(member, identity, now)
    log_security_event(SecurityEvent.ACCOUNT_CREATED, member.pk)
    return member


def _lock_member_to_link(identity: Identity) -> Member | None:
    """Lock and return the member to link: LOCAL members first, then the oldest.

    Raises `LinkingRefusedError` if others have the address, such as administrators.
    """
    local_first = Case(
        When(provider=Member.Provider.LOCAL, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    linkable = list_linkable(identity).select_for_update(of=("self",))
    member = linkable.order_by(local_first, "id").first()
    if member is None and identity.verified_email:
        others = Member.objects.with_email(identity.email).filter(idp_id=None)
        if (refused := others.first()) is not None:
            log_refusal(SecurityEvent.LINKING_REFUSED, refused.pk)
            raise LinkingRefusedError
    return member


def _require_active(member: Member) -> None:
    if not member.is_active:
        log_refusal(SecurityEvent.LOGIN_FAILED, member.pk, reason="SUSPENDED")
        raise MemberSuspendedError.of(member)
