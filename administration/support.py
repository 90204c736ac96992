"""What support may know of a member (spec 7.13): never the content of the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from accounts.locking import lock_actor_and_target
from accounts.login.identities import list_identities
from accounts.login.second_factor import FactorStatus, get_factor_status
from accounts.models import (
    AuditLogEntry,
    AuthSession,
    Consent,
    LinkedIdentity,
    Member,
    SecurityLogEntry,
)
from accounts.security.audit_log import READ, log_admin_action, with_reason
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.listing import list_sessions
from accounts.tokens.tokens import list_tokens
from billing.models import Purchase
from core.db.transactions import retry_on_conflict
from ledger.base.row_counts import count_member_rows

# The newest rows of each kind.
MAX_ROWS = 20
MAX_REASON_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Support:
    member: Member
    factors: FactorStatus
    identities: Sequence[LinkedIdentity]
    sessions: Sequence[AuthSession]
    tokens: Sequence[AuthSession]
    consents: Sequence[Consent]
    purchases: Sequence[Purchase]
    staff_actions: Sequence[AuditLogEntry]
    ledger_rows: dict[str, int]
    security_events: Sequence[SecurityLogEntry]


def read_support(actor: Member, member_id: int, reason: str, now: datetime) -> Support:
    """Log the reading, which the member sees, and return what support needs.

    Raises the errors of `lock_actor_and_target`.
    """
    member = _log_reading(actor, member_id, reason)
    consents = Consent.objects.filter(member=member).select_related("document")
    actions = AuditLogEntry.objects.filter(
        target_type=Member._meta.label, target_id=str(member.pk)
    )
    events = SecurityLogEntry.objects.filter(member=member)
    purchases = Purchase.objects.filter(member=member).defer("sealed_token")
    return Support(
        member=member,
        factors=get_factor_status(member),
        identities=list(list_identities(member)),
        sessions=list(list_sessions(member, now)[:MAX_ROWS]),
        tokens=list(list_tokens(member, now)[:MAX_ROWS]),
        consents=list(consents.defer("document__body").order_by("-id")[:MAX_ROWS]),
        purchases=list(purchases.order_by("-id")[:MAX_ROWS]),
        staff_actions=list(actions.order_by("-id")[:MAX_ROWS]),
        ledger_rows=count_member_rows(member.pk),
        security_events=list(events.order_by("-id")[:MAX_ROWS]),
    )


@retry_on_conflict
def _log_reading(actor: Member, member_id: int, reason: str) -> Member:
    # Committed before anything is read: a failure later hides no reading.
    with transaction.atomic():
        member = lock_actor_and_target(actor, member_id)
        log_admin_action(actor, member, READ, with_reason("Support view.", reason))
        log_security_event(SecurityEvent.SUPPORT_VIEWED, member.pk, is_by_staff=True)
    return member
