"""The own profile of a member, read and changed through the API."""

from typing import Any

from tests.support.clients import JSONClient

PROFILE = "/api/auth/profile"


def change_profile(client: JSONClient, **fields: Any) -> Any:
    """Return the answer to a change of these fields."""
    return client.send("PUT", PROFILE, fields)
