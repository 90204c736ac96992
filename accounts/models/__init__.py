"""Models of members, sessions, points, rate limits, counters, settings and the log."""

from accounts.models.audit_log import AuditLogEntry
from accounts.models.counts import MemberCount
from accounts.models.limits import RateLimit
from accounts.models.members import Member
from accounts.models.points import PointHistory
from accounts.models.sessions import AuthSession
from accounts.models.settings import ApplicationSetting

__all__ = [
    "ApplicationSetting",
    "AuditLogEntry",
    "AuthSession",
    "Member",
    "MemberCount",
    "PointHistory",
    "RateLimit",
]
