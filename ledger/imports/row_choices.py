"""What a member chooses for single rows, and the list of rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext

from accounts.models import Member
from core.api.pagination import PageRequest
from core.errors import DomainError, FieldError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.imports.judging import allowed_actions
from ledger.imports.storing import get_import, get_open_import
from ledger.models import ImportAction, ImportRow

MAX_ROWS_OF_CHANGE = 100


class SentRow(NamedTuple):
    """A choice of a request: None keeps the action, `edits` add up."""

    row: int
    action: ImportAction | None
    edits: dict[str, Any]


def list_rows(
    member: Member,
    import_id: int,
    status: str | None,
    page: PageRequest,
    now: datetime,
) -> tuple[int, Sequence[ImportRow]]:
    """Return the number of rows of a status, or of all, and one page of them."""
    row = get_import(member, import_id, now)
    rows = ImportRow.objects.owned_by(member).filter(import_id=row.id).order_by("row")
    if status is not None:
        rows = rows.filter(status=status)
    return rows.count(), page.slice_rows(rows)


@ledger_write(is_recorded=False)
def choose_rows(
    ledger: LockedLedger, import_id: int, sent: Sequence[SentRow], now: datetime
) -> list[ImportRow]:
    """Change what becomes of rows, all or none; return them in their order.

    Raises `DomainError` with each row that is not there, twice in the request, or that
    cannot have the action, and `DuplicateError` for a committed import.
    """
    row = get_open_import(ledger.member, import_id, now)
    rows = ImportRow.objects.owned_by(ledger.member).filter(import_id=row.id)
    found = {
        each.row: each for each in rows.filter(row__in=[each.row for each in sent])
    }
    errors = []
    seen: set[int] = set()
    for number, each in enumerate(sent):
        stored = found.get(each.row)
        error = _find_obstacle(stored, each, is_repeated=each.row in seen)
        seen.add(each.row)
        if error is not None:
            name, detail, code = error
            place = f"{number}.{name}"
            errors.append(FieldError(place, detail, code))
        elif stored is not None:
            stored.chosen = each.action or stored.chosen
            stored.edits = ((stored.edits or {}) | each.edits) or None
    if errors:
        raise DomainError(errors=tuple(errors))
    changed = list(found.values())
    for stored in changed:
        own = rows.filter(row=stored.row)
        own.update(chosen=stored.chosen, edits=stored.edits)
    return sorted(changed, key=lambda each: each.row)


def _find_obstacle(
    stored: ImportRow | None, sent: SentRow, *, is_repeated: bool
) -> tuple[str, str, str] | None:
    """Return a field, why it is refused, and a code; None if it is not."""
    if stored is None:
        return "row", gettext("The file has no such row."), "does_not_exist"
    if is_repeated:
        return "row", gettext("The row stands in the request twice."), "repeated"
    if sent.action is None:
        return None
    edits = (stored.edits or {}) | sent.edits
    has_target = edits.get("id") is not None
    allowed = allowed_actions(stored.status, stored.reason, has_target=True)
    if sent.action not in allowed:
        detail = gettext("The row cannot have this action.")
        return "action", detail, "invalid"
    if not has_target and sent.action not in allowed_actions(
        stored.status, stored.reason, has_target=False
    ):
        detail = gettext("Name the entry to merge with.")
        return "entry.id", detail, "required"
    return None
