"""The kind of item that accounts make: an unusual login (spec 2.17)."""

from collections.abc import Iterable

from django.utils.translation import gettext

from accounts.inbox.sources import Description, InboxSource, ItemRow
from accounts.models import Member

SECURITY = "SECURITY"


def describe(reader: Member, rows: Iterable[ItemRow]) -> dict[int, Description]:
    text = gettext(
        "Your account was logged in to from a new device. If that was not you, change "
        "your password and end the other sessions."
    )
    return {row.id: Description(text) for row in rows}


SOURCE = InboxSource(kinds={SECURITY: False}, describe=describe)
