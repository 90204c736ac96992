"""A false booking that is deleted teaches refusal (spec 4.11)."""

from collections.abc import Collection
from datetime import datetime

from card_alerts import Layout, learn_layout, learn_whole_layout
from ledger.base.ledger_write import LockedLedger
from ledger.models import Entry, LayoutKind, TaughtLayout
from ledger.taught_layouts.learning import (
    digest_again,
    find_source,
    is_confirmed_layout,
    list_read_slots,
    read_source,
)
from ledger.taught_layouts.storing import (
    normalize_sender,
    store_layout,
)


def teach_refusal(ledger: LockedLedger, entry: Entry, now: datetime) -> None:
    """Refuse texts of the layout of a pending entry from now on.

    Where an entry of the layout was ever confirmed they make entries that are not sure.
    Without a text, as for a booking of a bank, nothing is learned.
    """
    source = find_source(ledger, entry)
    if source is None:
        return
    text, sender = source.text or "", normalize_sender(source.sender or "")
    spans = list_read_slots(text, read_source(ledger.member, source))
    layout: Layout | None
    digest = source.layout_digest or digest_again(source)
    if is_confirmed_layout(ledger.member, digest):
        layout = learn_layout(text, spans) or learn_whole_layout(text)
        kind, is_unsure = source.kind, True
    else:
        layout, is_unsure = learn_whole_layout(text), False
        kind = LayoutKind.NONE.value
    if layout is not None:
        store_layout(
            ledger,
            layout,
            sender,
            now,
            kind=kind,
            is_complete=not is_unsure,
            is_unsure=is_unsure,
            deleted_entry_id=entry.pk,
        )


def forget_refusals(ledger: LockedLedger, entry_ids: Collection[int]) -> None:
    """Forget what the deletion of entries has taught: it was undone."""
    rows = TaughtLayout.objects.owned_by(ledger.member)
    for row in rows.filter(deleted_entry_ids__overlap=list(entry_ids)):
        left = [each for each in row.deleted_entry_ids or () if each not in entry_ids]
        if not left:
            row.delete()
            continue
        row.deleted_entry_ids = left
        row.save(update_fields=["deleted_entry_ids"])
