"""Models of members and their access."""

from accounts.models.announcements import Announcement, AnnouncementMark
from accounts.models.audit_log import AuditLogEntry
from accounts.models.blocks import Block
from accounts.models.counts import MemberCount
from accounts.models.identities import LinkedIdentity, RemovedIdentity
from accounts.models.inbox import InboxItem, MutedKind
from accounts.models.legal import (
    Consent,
    ConsentCount,
    ConsentReminder,
    LegalDocument,
)
from accounts.models.limits import RateLimit
from accounts.models.mail import Code, CodeRequest, Mail
from accounts.models.members import Member
from accounts.models.points import PointHistory
from accounts.models.security import (
    LoginTicket,
    RecoveryCode,
    SecurityLogEntry,
    TotpFactor,
)
from accounts.models.sessions import AuthSession
from accounts.models.settings import ApplicationSetting

__all__ = [
    "Announcement",
    "AnnouncementMark",
    "ApplicationSetting",
    "AuditLogEntry",
    "AuthSession",
    "Block",
    "Code",
    "CodeRequest",
    "Consent",
    "ConsentCount",
    "ConsentReminder",
    "InboxItem",
    "LegalDocument",
    "LinkedIdentity",
    "LoginTicket",
    "Mail",
    "Member",
    "MemberCount",
    "MutedKind",
    "PointHistory",
    "RateLimit",
    "RecoveryCode",
    "RemovedIdentity",
    "SecurityLogEntry",
    "TotpFactor",
]
