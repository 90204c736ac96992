"""The tables of members, sessions, points, limits and settings."""

from accounts.models.counts import MemberCount
from accounts.models.limits import RateLimit
from accounts.models.members import Member
from accounts.models.points import PointHistory
from accounts.models.sessions import AuthSession
from accounts.models.settings import ApplicationSetting

__all__ = [
    "ApplicationSetting",
    "AuthSession",
    "Member",
    "MemberCount",
    "PointHistory",
    "RateLimit",
]
