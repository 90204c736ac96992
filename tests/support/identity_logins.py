"""Logins by identity provider, and accounts that were made by one."""

from typing import Any

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.id_tokens import EMAIL, make_id_token

PATH = "/api/auth/idp"


def log_in(client: JSONClient | None = None, token: Any = "", **fields: Any) -> Any:
    """Log in with a token that looks good, unless another is given."""
    body = {"idToken": make_id_token() if token == "" else token}
    return (client or JSONClient()).send("POST", PATH, body | fields)


def make_idp_member(**fields: Any) -> Member:
    """Return an account of the identity provider, which has no password."""
    member = make_member(**{"provider": "IDP", "email": EMAIL} | fields)
    member.set_unusable_password()
    member.save()
    return member
