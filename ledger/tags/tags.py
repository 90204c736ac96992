"""Tags of entries."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from django.utils.translation import gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.errors import DuplicateError, raise_on_constraint_violation
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room, require_room_in
from ledger.models import Tag, TagRollup
from ledger.models.base import OwnedQuerySet
from ledger.rollups.definitions import delete_rollups

TAG_NAME_TAKEN = gettext_lazy("A tag with this name already exists.")


def list_tags(member: Member) -> OwnedQuerySet:
    return Tag.objects.owned_by(member)


@ledger_write
def create_tag(
    ledger: LockedLedger, name: str, icon: str | None = None, color: str | None = None
) -> Tag:
    """Raise `DuplicateError` for a name that is taken."""
    tag = Tag(member=ledger.member, name=name, icon=icon, color=color)
    require_room(ledger, Tag)
    tag.sort_order = next_position(list_tags(ledger.member))
    with _raise_if_name_is_taken():
        tag.save(force_insert=True)
    return tag


@ledger_write
def update_tag(ledger: LockedLedger, tag_id: int, changes: dict[str, Any]) -> Tag:
    """Change the fields in `changes`; raise `DuplicateError` for the name."""
    tag: Tag = get_owned_or_404(Tag.objects.all(), ledger.member, tag_id)
    for name, value in changes.items():
        setattr(tag, name, value)
    with _raise_if_name_is_taken():
        tag.save()
    return tag


@ledger_write
def reorder_tags(ledger: LockedLedger, ids: list[int]) -> None:
    reorder(list_tags(ledger.member), ids)


@ledger_write
def delete_tag(ledger: LockedLedger, tag_id: int) -> None:
    get_owned_or_404(Tag.objects.all(), ledger.member, tag_id).delete()
    delete_rollups(ledger, [TagRollup], tag_id=tag_id)


def get_or_create_tags(ledger: LockedLedger, names: Sequence[str]) -> list[Tag]:
    member = ledger.member
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return []
    rows = Tag.objects.owned_by(member)
    known = {tag.name: tag for tag in rows.filter(name__in=wanted)}
    if missing := [name for name in wanted if name not in known]:
        require_room_in(rows, len(missing))
        first = next_position(rows)
        created = Tag.objects.bulk_create(
            Tag(member=member, name=name, sort_order=first + offset)
            for offset, name in enumerate(missing)
        )
        ledger.made_names += len(created)
        known |= {tag.name: tag for tag in created}
    return [known[name] for name in wanted]


def _raise_if_name_is_taken() -> AbstractContextManager[None]:
    return raise_on_constraint_violation(
        "account_tag_name_unique", DuplicateError(TAG_NAME_TAKEN)
    )
