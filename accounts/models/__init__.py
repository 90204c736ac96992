"""The tables of members, sessions, points, limits and settings."""

from accounts.models.counts import MemberTally
from accounts.models.limits import RateLimit
from accounts.models.members import Member
from accounts.models.points import PointHistory
from accounts.models.sessions import AuthSession
from accounts.models.settings import ApplicationSetting

__all__ = [
    "ApplicationSetting",
    "AuthSession",
    "Member",
    "MemberTally",
    "PointHistory",
    "RateLimit",
]
