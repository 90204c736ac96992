"""Email addresses that a member may enter (spec 2.2)."""

from django.utils.encoding import punycode
from django.utils.translation import gettext

from core.errors import InvalidFieldError

LOCAL_DOMAIN = "localhost"


def validate_new_address(email: str) -> None:
    """Raise `InvalidFieldError` for an address at this machine or at an IP address."""
    if is_local_address(email):
        raise InvalidFieldError("email", gettext("Enter a valid email address."))


def is_local_address(email: str) -> bool:
    domain = email.rpartition("@")[2]
    try:
        # A resolver reads other dots and wide letters as ASCII.
        domain = punycode(domain)
    except UnicodeError:
        return False
    last = domain.lower().rstrip(".").rpartition(".")[2]
    # No top-level domain is a number; an IPv6 address has brackets.
    return domain.startswith("[") or last == LOCAL_DOMAIN or last.isdigit()
