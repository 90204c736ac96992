"""Errors of the board."""

from core.errors import DomainError


class NotAuthorError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = "Only the author can do this."


class SelfVoteError(DomainError):
    code = "SELF_VOTE"
    detail = "You cannot vote on your own posts or comments."
