"""Tags of entries, including those created by name when an entry is written."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.db.transactions import retry_on_conflict
from core.errors import DuplicateError, raise_on_constraint_violation
from ledger.locking import lock_ledger
from ledger.models import Tag, TagRollup
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404
from ledger.quotas import require_room
from ledger.rollups import delete_rollups

TAG_NAME_TAKEN = gettext_lazy("A tag with this name already exists.")

# Names are looked up by primary key, once per tag of the page, instead of joined.


def list_tags(member: Member) -> OwnedQuerySet:
    """Return the member's tags in their order."""
    return Tag.objects.owned_by(member)


@retry_on_conflict
def create_tag(member: Member, name: str) -> Tag:
    """Create a tag at the end of the list; raise `DuplicateError` for its name."""
    tag = Tag(member=member, name=name)
    with transaction.atomic():
        lock_ledger(member)
        require_room(member, Tag)
        tag.sort_order = next_position(list_tags(member))
        with raise_on_constraint_violation(
            "account_tag_name_unique", DuplicateError(TAG_NAME_TAKEN)
        ):
            tag.save(force_insert=True)
    return tag


@retry_on_conflict
def rename_tag(member: Member, tag_id: int, name: str) -> Tag:
    """Rename a tag, with all entries that have it; raise `DuplicateError`."""
    with transaction.atomic():
        lock_ledger(member)
        tag: Tag = get_owned_or_404(Tag.objects.all(), member, tag_id)
        tag.name = name
        with raise_on_constraint_violation(
            "account_tag_name_unique", DuplicateError(TAG_NAME_TAKEN)
        ):
            tag.save()
    return tag


@retry_on_conflict
def reorder_tags(member: Member, ids: list[int]) -> None:
    """Give the member's tags the order of `ids`, which must name all of them."""
    with transaction.atomic():
        lock_ledger(member)
        reorder(list_tags(member), ids)


@retry_on_conflict
def delete_tag(member: Member, tag_id: int) -> None:
    """Delete a tag and remove it from everything that has it."""
    with transaction.atomic():
        lock_ledger(member)
        get_owned_or_404(Tag.objects.all(), member, tag_id).delete()
        delete_rollups(member, [TagRollup], tag_id=tag_id)


def get_or_create_tags(member: Member, names: Sequence[str]) -> list[Tag]:
    """Return the member's tags with these names, in this order, without repetitions.

    Unknown ones are created at the end of the list. Call under `lock_ledger`.
    """
    wanted = list(dict.fromkeys(names))
    known = _get_tags_by_name(member, wanted)
    if missing := [name for name in wanted if name not in known]:
        require_room(member, Tag, len(missing))
        first = next_position(Tag.objects.owned_by(member))
        created = Tag.objects.bulk_create(
            Tag(member=member, name=name, sort_order=first + offset)
            for offset, name in enumerate(missing)
        )
        known |= {tag.name: tag for tag in created}
    return [known[name] for name in wanted]


def _get_tags_by_name(member: Member, names: Sequence[str]) -> dict[str, Tag]:
    if not names:
        return {}
    rows = Tag.objects.owned_by(member).filter(name__in=names)
    return {tag.name: tag for tag in rows}
