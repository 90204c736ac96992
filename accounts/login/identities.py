"""Identities of members: linked, used and removed (spec 2.18).

Every change holds the lock of the member, under which it is judged.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.errors import (
    LastCredentialError,
    LinkingRefusedError,
    MemberSuspendedError,
)
from accounts.identifiers import comparison_key
from accounts.login.fresh import lock_freshly_authenticated
from accounts.login.identity_provider import Identity
from accounts.mail.outbox import queue_notice
from accounts.members.search import own_email_condition
from accounts.models import LinkedIdentity, Member, RemovedIdentity
from accounts.security.events import SecurityEvent, log_refusal, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.sessions.store import revoke_sessions, revoke_sessions_of_identity
from accounts.switches.switches import Switch, lock_switch, require_writable
from core.db.transactions import retry_on_conflict
from core.errors import DuplicateError, NotFoundError, raise_on_constraint_violation
from core.sealing import hash_secret

Provider = LinkedIdentity.Provider


def list_identities(member: Member) -> QuerySet[LinkedIdentity]:
    return LinkedIdentity.objects.filter(member=member)


def is_address_proved(member: Member) -> bool:
    """Return True if a code or the provider of an identity has verified the address."""
    key = comparison_key(member.email)
    return member.is_email_verified or (
        bool(key)
        and any(
            comparison_key(linked.email) == key for linked in list_identities(member)
        )
    )


def list_linkable(identity: Identity) -> QuerySet[Member]:
    """Return the members whom the identity's verified address may link.

    Not administrators, nor members whose address may be somebody else's
    (decision 0145), nor those who have removed the identity.
    """
    if not identity.verified_email:
        return Member.objects.none()
    removed = RemovedIdentity.objects.filter(
        member=OuterRef("pk"),
        provider=identity.provider,
        digest=hash_subject(identity.provider, identity.subject),
    )
    return Member.objects.with_email(identity.verified_email).filter(
        own_email_condition(), ~Exists(removed), idp_id=None, role=Member.Role.MEMBER
    )


def link_by_address(member: Member, identity: Identity, now: datetime) -> None:
    """Link the locked member, judged by `list_linkable`, and end the sessions."""
    is_proved = member.is_email_verified
    # A stranger may have registered the unverified address.
    if not is_proved:
        member.set_unusable_password()
    member.idp_id = identity.subject
    member.save_fields("idp_id", "password")
    record_use(member, identity, now)
    end_codes(member)
    revoke_sessions(member)
    _tell(member, SecurityEvent.IDENTITY_LINKED, "identity_linked", identity.provider)


def complete_login(member: Member, identity: Identity, now: datetime) -> bool:
    """Use or link the identity of a login whose code was right; return True if linked.

    The caller has locked the member. Raises `LinkingRefusedError` if the link is no
    longer possible.
    """
    lock_switch(Switch.IDENTITY_PROVIDERS)
    if member.idp_id == identity.subject:
        record_use(member, identity, now)
        return False
    require_writable()
    is_taken = Member.objects.filter(idp_id=identity.subject).exists()
    if is_taken or not list_linkable(identity).filter(pk=member.pk).exists():
        log_refusal(SecurityEvent.LINKING_REFUSED, member.pk)
        raise LinkingRefusedError
    with raise_on_constraint_violation("member_idp_id_unique", LinkingRefusedError()):
        link_by_address(member, identity, now)
    return True


def record_use(member: Member, identity: Identity, now: datetime) -> None:
    """Note a login, with the picture and the address that the provider has now."""
    if identity.picture and identity.picture != member.idp_picture:
        member.idp_picture = identity.picture
        member.save_fields("idp_picture")
    row = LinkedIdentity(
        member=member,
        provider=identity.provider,
        subject=identity.subject,
        email=identity.verified_email,
        linked_at=now,
        last_used_at=now,
    )
    LinkedIdentity.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["member", "provider"],
        update_fields=["subject", "email", "last_used_at"],
    )


@retry_on_conflict
def link_from_within(
    member: Member, identity: Identity, key_hash: str, now: datetime
) -> LinkedIdentity:
    """Link an identity to the member of a fresh session.

    Raises `DuplicateError` for a second one of the provider, or one of another member.
    """
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        if not locked.is_active:
            raise MemberSuspendedError
        lock_switch(Switch.IDENTITY_PROVIDERS)
        if locked.idp_id is not None:
            raise DuplicateError
        locked.idp_id = identity.subject
        with raise_on_constraint_violation("member_idp_id_unique", DuplicateError()):
            locked.save_fields("idp_id")
        RemovedIdentity.objects.filter(
            member=locked,
            provider=identity.provider,
            digest=hash_subject(identity.provider, identity.subject),
        ).delete()
        linked = LinkedIdentity.objects.create(
            member=locked,
            provider=identity.provider,
            subject=identity.subject,
            email=identity.verified_email,
            linked_at=now,
        )
        _tell(
            locked, SecurityEvent.IDENTITY_LINKED, "identity_linked", identity.provider
        )
    return linked


@retry_on_conflict
def remove_identity(
    member: Member, provider: str, key_hash: str, now: datetime
) -> None:
    """Remove the identity and end the sessions that began with it.

    Raises `NotFoundError`, or `LastCredentialError` for the last way in.
    """
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        linked = list_identities(locked).filter(provider=provider).first()
        if linked is None:
            raise NotFoundError
        others = list_identities(locked).exclude(pk=linked.pk)
        if not (locked.has_usable_password() or others.exists()):
            raise LastCredentialError
        unlink(locked, linked)
        revoke_sessions_of_identity(locked, linked.provider, except_unknown=key_hash)


def remove_unproved_identities(member: Member, proved_email: str) -> None:
    """Remove identities of another or an unknown address (decision 0201).

    The caller has locked the member, whose owner has just proved the address.
    """
    for linked in list_identities(member):
        key = comparison_key(linked.email)
        if not key or key != comparison_key(proved_email):
            unlink(member, linked)


def unlink(member: Member, linked: LinkedIdentity) -> None:
    """Remove an identity of the locked member, and tell the member."""
    RemovedIdentity.objects.get_or_create(
        member=member,
        provider=linked.provider,
        digest=hash_subject(linked.provider, linked.subject),
    )
    linked.delete()
    member.idp_id = None
    member.save_fields("idp_id")
    _tell(member, SecurityEvent.IDENTITY_REMOVED, "identity_removed", linked.provider)


def hash_subject(provider: str, subject: str) -> bytes:
    return hash_secret(subject, f"removed {provider} identity")


def delete_identities(member: Member) -> None:
    LinkedIdentity.objects.filter(member=member).delete()
    RemovedIdentity.objects.filter(member=member).delete()


def _tell(member: Member, event: SecurityEvent, template: str, provider: str) -> None:
    name = Provider(provider).label
    log_security_event(event, member.pk, named=name)
    queue_notice(member, template, {"provider": name})
