"""Kinds of accounts: an unusual login, a consent of long ago, an announcement."""

from collections.abc import Iterable

from django.utils.translation import gettext

from accounts.inbox.sources import Description, InboxSource, ItemRow
from accounts.models import Member

# SECURITY tells of an unusual login (spec 2.17), CONSENT reminds of a marketing consent
# (spec 2.20).
SECURITY, CONSENT = "SECURITY", "CONSENT"
# No item is stored of it (`accounts.inbox.announced`).
ANNOUNCEMENT = "ANNOUNCEMENT"


def describe(reader: Member, rows: Iterable[ItemRow]) -> dict[int, Description]:
    texts = {
        SECURITY: gettext(
            "Your account was logged in to from a new device. If that was not you, "
            "change your password and end the other sessions."
        ),
        CONSENT: gettext(
            "You agreed to receive marketing more than two years ago, and still do. "
            "You can take it back at any time."
        ),
    }
    return {row.id: Description(texts[row.kind]) for row in rows}


SOURCE = InboxSource(
    kinds={SECURITY: False, CONSENT: False, ANNOUNCEMENT: False}, describe=describe
)
