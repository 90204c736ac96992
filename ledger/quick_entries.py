"""Quick entries: templates of entries that are written often."""

from typing import Any

from django.db import transaction
from django.db.models import Prefetch

from accounts.models import Member
from core.api.ordering import next_position
from ledger.categories import get_or_create_category
from ledger.locking import lock_ledger_shared, lock_member_row
from ledger.models import QuickEntry, QuickEntryTag
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404
from ledger.tags import get_or_create_tags
from ledger.wallets import raise_on_missing_wallet


def list_quick_entries(member: Member) -> OwnedQuerySet:
    """The member's templates in their order, with names and tags."""
    links = QuickEntryTag.objects.select_related("tag").order_by("position")
    return (
        QuickEntry.objects.owned_by(member)
        .select_related("category")
        .prefetch_related(Prefetch("tag_links", queryset=links))
    )


def get_quick_entry(member: Member, quick_entry_id: int) -> QuickEntry:
    found: QuickEntry = get_owned_or_404(
        list_quick_entries(member), member, quick_entry_id
    )
    return found


def create_quick_entry(member: Member, values: dict[str, Any]) -> QuickEntry:
    """A new template, last in the order."""
    with transaction.atomic():
        lock_ledger_shared(member)
        lock_member_row(member)
        quick = QuickEntry(
            member=member,
            sort_order=next_position(QuickEntry.objects.owned_by(member)),
        )
        _save(quick, values)
    return get_quick_entry(member, quick.pk)


def update_quick_entry(
    member: Member, quick_entry_id: int, values: dict[str, Any]
) -> QuickEntry:
    with transaction.atomic():
        lock_ledger_shared(member)
        rows = QuickEntry.objects.select_for_update(of=("self",))
        quick = get_owned_or_404(rows, member, quick_entry_id)
        _save(quick, values)
    return get_quick_entry(member, quick_entry_id)


def delete_quick_entry(member: Member, quick_entry_id: int) -> None:
    get_quick_entry(member, quick_entry_id).delete()


def _save(quick: QuickEntry, values: dict[str, Any]) -> None:
    """A category stays with its name: under a new type it is another category."""
    values = dict(values)
    tags = values.pop("tags", None)
    kept = quick.category.name if quick.category else None
    name = values.pop("category", kept)
    for field, value in values.items():
        setattr(quick, field, value)
    quick.category = get_or_create_category(quick.member, quick.type, name)
    with raise_on_missing_wallet("account_quick_entry_wallet_owned"):
        quick.save()
    if tags is not None:
        _replace_tags(quick, tags)


def _replace_tags(quick: QuickEntry, names: list[str]) -> None:
    QuickEntryTag.objects.filter(quick_entry=quick).delete()
    QuickEntryTag.objects.bulk_create(
        QuickEntryTag(
            quick_entry=quick, tag=tag, member_id=quick.member_id, position=position
        )
        for position, tag in enumerate(get_or_create_tags(quick.member, names))
    )
