"""Members that administrators list and change."""

from typing import Any

from accounts.models import Member
from tests.support.clients import JSONClient

MEMBERS = "/api/admin/members"


def put(client: JSONClient, member: Member, **body: Any) -> Any:
    (name,) = body
    return client.send("PUT", f"{MEMBERS}/{member.pk}/{name}", body)
