"""Sign-ups, profiles and members that administrators change."""

from typing import Any

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD

PROFILE = "/api/auth/profile"


def change_profile(client: JSONClient, **fields: Any) -> Any:
    """Return the answer to a change of these fields."""
    return client.send("PUT", PROFILE, fields)


def signup_body(**fields: Any) -> dict[str, Any]:
    """Return the body of a sign-up, with these fields in place of its own."""
    return {
        "loginId": "minji.kim",
        "password": PASSWORD,
        "displayName": "Kim Minji",
        "email": "minji@example.com",
    } | fields


MEMBERS = "/api/admin/members"


def put(client: JSONClient, member: Member, **body: Any) -> Any:
    (name,) = body
    return client.send("PUT", f"{MEMBERS}/{member.pk}/{name}", body)


LOOK_ALIKES = {
    "mıke": "mike",
    "ſiteadmin": "siteadmin",
    "\u212aim": "kim",
    "ｍｉｋｅ": "mike",
    "ﬁona": "fiona",
    "ⓜike": "mike",
    "mіke": "mike",  # the second letter is Cyrillic
    "mi\u00adke": "mike",
    "mi\u200dke": "mike",
}
