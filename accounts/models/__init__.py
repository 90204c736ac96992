"""The tables of members, sessions, points and limits."""

from accounts.models.limits import RateLimit
from accounts.models.members import Member
from accounts.models.points import PointHistory
from accounts.models.sessions import AuthSession

__all__ = ["AuthSession", "Member", "PointHistory", "RateLimit"]
