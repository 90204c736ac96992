"""Every refusal of the board that is not shared with other apps."""

from core.errors import DomainError


class NotAuthorError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = "Only its author may do this."


class SelfVoteError(DomainError):
    code = "SELF_VOTE"
    detail = "Members do not vote on their own posts and comments."
