"""The proof of identity that staff give before a deed in Django admin (spec 2.13).

A session that is not fresh gives it in the form of the deed itself, which so loses
nothing: the password, or with a second factor a code.
"""

from typing import cast

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from accounts.errors import (
    CodeInvalidError,
    HashingBusyError,
    PasswordMismatchError,
    TooManyHashesError,
)
from accounts.login.fresh import is_session_fresh, mark_fresh
from accounts.login.password import verify_password
from accounts.login.second_factor import verify_second_factor
from accounts.models import Member
from accounts.sessions.store import hash_session_key
from core.client_ip import get_client_ip
from core.errors import RateLimitedError

PROOF_FIELD = "proof"
REFUSALS = (
    *(CodeInvalidError, PasswordMismatchError),
    *(RateLimitedError, HashingBusyError, TooManyHashesError),
)


class IdentityProof:
    """A field of a form; `check` makes the session fresh."""

    field = PROOF_FIELD

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        # The row with the password, which sessions do not load.
        self._member = Member.objects.get(pk=cast("Member", request.user).pk)
        self.is_code = self._member.has_second_factor
        self.error = ""

    @property
    def label(self) -> str:
        return gettext("Your code") if self.is_code else gettext("Your password")

    @property
    def help_text(self) -> str:
        if self.is_code:
            return gettext(
                "You logged in more than 10 minutes ago. Enter a code of your "
                "authenticator app, or a recovery code."
            )
        return gettext(
            "You logged in more than 10 minutes ago. Enter your password again."
        )

    def check(self) -> bool:
        """Judge what was sent, as a login is: failures count alike."""
        proof, now = self._request.POST.get(PROOF_FIELD, ""), timezone.now()
        address = get_client_ip(self._request)
        if not proof:
            return False
        try:
            if self.is_code:
                verify_second_factor(self._member, proof, address, now)
            else:
                verify_password(self._member, proof, address)
        except REFUSALS as error:
            self.error = str(error.detail)
            return False
        mark_fresh(
            get_session_key_hash(self._request), now, has_shown_factor=self.is_code
        )
        return True


def ask_for_proof(request: HttpRequest) -> IdentityProof | None:
    """Return the proof that the session lacks; None if it is fresh."""
    if is_session_fresh(get_session_key_hash(request)):
        return None
    return IdentityProof(request)


def get_session_key_hash(request: HttpRequest) -> str:
    return hash_session_key(request.session.session_key or "")
