"""Bodies of sign-ups."""

from typing import Any

from tests.support.factories import PASSWORD


def signup_body(**fields: Any) -> dict[str, Any]:
    """Return the body of a sign-up, with these fields in place of its own."""
    return {
        "loginId": "minji.kim",
        "password": PASSWORD,
        "displayName": "Kim Minji",
        "email": "minji@example.com",
    } | fields
