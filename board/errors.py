"""Errors of the board."""

from django.utils.translation import gettext_lazy

from core.errors import DomainError


class NotAuthorError(DomainError):
    status = 403
    code = "FORBIDDEN"
    detail = gettext_lazy("Only the author can do this.")


class SelfVoteError(DomainError):
    code = "SELF_VOTE"
    detail = gettext_lazy("You cannot vote on your own posts or comments.")
