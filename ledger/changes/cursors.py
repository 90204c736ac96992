"""How far a client has read the feed of changes (spec 3.26)."""

from datetime import date, timedelta
from typing import Final, NamedTuple

from django.core import signing
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InvalidFieldError
from ledger.errors import CursorExpiredError

# Tombstones are kept longer than that.
MAX_AGE = timedelta(days=180)
# After all rows of a revision.
LAST_KIND: Final = "~"
_SIGNER = signing.Signer(salt="ledger.changes")


class Cursor(NamedTuple):
    """A place in the order of version, kind and id.

    `base` is the revision at which the client began to read, or had read all before:
    it needs no earlier deletion.
    """

    version: int
    kind: str
    id: int
    base: int
    base_day: date
    has_paid_kinds: bool

    @property
    def is_at_end(self) -> bool:
        return self.kind == LAST_KIND

    def seal(self, member: Member) -> str:
        values = [member.pk, *self[:4], self.base_day.toordinal(), self.has_paid_kinds]
        return _SIGNER.sign_object(values)


def open_cursor(
    text: str, member: Member, today: date, *, has_paid_kinds: bool
) -> Cursor:
    """Return a cursor that `Cursor.seal` wrote for the member.

    Raises `InvalidFieldError` for anything else, and `CursorExpiredError` for one that
    is too old, or from before the plan began or ended.
    """
    try:
        owner, version, kind, row_id, base, day, paid = _SIGNER.unsign_object(text)
    except (signing.BadSignature, ValueError):
        owner = None
    if owner != member.pk:
        detail = gettext("Must be a cursor that an answer gave.")
        raise InvalidFieldError("since", detail)
    cursor = Cursor(version, kind, row_id, base, date.fromordinal(day), paid)
    is_old = today - cursor.base_day > MAX_AGE
    if is_old or cursor.has_paid_kinds != has_paid_kinds:
        raise CursorExpiredError
    return cursor
