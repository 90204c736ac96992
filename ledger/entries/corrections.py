"""Corrections of an expense, which its flat refunds follow (contract C4)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EXPENSE, EntryShape
from ledger.models import Entry, EntryTag, Tag


@dataclass(frozen=True, slots=True)
class Followers:
    """Flat refunds with the category, and with the tags, of their expense."""

    category_id: int | None
    of_category: list[int]
    of_tags: list[int]


def find_followers(
    ledger: LockedLedger,
    expense: Entry,
    before: EntryShape,
    after: EntryShape,
    *,
    has_tags: bool,
) -> Followers | None:
    """Return the refunds to correct with a flat expense, before it is written.

    None if there are none, and without `has_tags` if the category stays.
    """
    is_flat = not (before.lines or after.lines)
    if not (is_flat and before.type == after.type == EXPENSE):
        return None
    places = [(each.category, each.category_type) for each in (before, after)]
    if not has_tags and places[0] == places[1]:
        return None
    refunds = Entry.objects.owned_by(ledger.member).filter(
        refund_of=expense.pk, line_count=0
    )
    rows = list(refunds.values_list("pk", "category_id", "category_type"))
    if not rows:
        return None
    ids = [pk for pk, _, _ in rows]
    links = EntryTag.objects.owned_by(ledger.member)
    tags: dict[int, set[int]] = defaultdict(set)
    for entry_id, tag_id in links.filter(entry__in=[expense.pk, *ids]).values_list(
        "entry_id", "tag_id"
    ):
        tags[entry_id].add(tag_id)
    category = expense.category_id, before.category_type
    return Followers(
        category_id=expense.category_id,
        of_category=[pk for pk, *own in rows if tuple(own) == category],
        of_tags=[pk for pk in ids if tags[pk] == tags[expense.pk]],
    )


def correct_followers(
    ledger: LockedLedger,
    expense: Entry,
    followers: Followers,
    after: EntryShape,
    tags: Sequence[Tag] | None,
    now: datetime,
) -> None:
    """Give the refunds what their expense has got; `tags` are None if unchanged."""
    rows = Entry.objects.owned_by(ledger.member)
    has_changed = expense.category_id != followers.category_id
    if has_changed and after.category_type == EXPENSE:
        rows.filter(pk__in=followers.of_category).update(
            category=expense.category_id, updated_at=now
        )
    if tags is None:
        return
    links = EntryTag.objects.owned_by(ledger.member)
    links.filter(entry__in=followers.of_tags).delete()
    EntryTag.objects.bulk_create(
        EntryTag(
            member_id=ledger.member.pk,
            entry_id=entry_id,
            tag_id=tag.pk,
            position=position,
        )
        for entry_id in followers.of_tags
        for position, tag in enumerate(tags)
    )
    rows.filter(pk__in=followers.of_tags).update(updated_at=now)
