"""Tags: names on entries, made on the way, looked up in batches."""

from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from accounts.models import Member
from core.api.ordering import next_position
from core.errors import DuplicateError, raise_on_constraint_violation
from ledger.locking import lock_ledger_exclusive, lock_ledger_shared, lock_member_row
from ledger.models import Tag
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404

TAG_NAME_TAKEN = "There is a tag of this name."

_TAGS_OF_ENTRIES = """
    SELECT l.entry_id, (SELECT t.name FROM account_tag t WHERE t.id = l.tag_id)
    FROM account_entry_tag l WHERE l.entry_id = ANY(%s::bigint[])
    ORDER BY l.entry_id, l.position
"""


def list_tags(member: Member) -> OwnedQuerySet:
    """The member's tags in their order."""
    return Tag.objects.owned_by(member)


def create_tag(member: Member, name: str) -> Tag:
    """A new tag, last in the order; its name is the member's only one."""
    tag = Tag(member=member, name=name)
    with transaction.atomic():
        lock_ledger_shared(member)
        lock_member_row(member)
        tag.sort_order = next_position(list_tags(member))
        with raise_on_constraint_violation(
            "account_tag_name_unique", DuplicateError(TAG_NAME_TAKEN)
        ):
            tag.save(force_insert=True)
    return tag


def rename_tag(member: Member, tag_id: int, name: str) -> Tag:
    """Entries refer to the tag, so that a new name reaches all of them."""
    with transaction.atomic():
        lock_ledger_shared(member)
        tag: Tag = get_owned_or_404(Tag.objects.select_for_update(), member, tag_id)
        tag.name = name
        with raise_on_constraint_violation(
            "account_tag_name_unique", DuplicateError(TAG_NAME_TAKEN)
        ):
            tag.save()
    return tag


def delete_tag(member: Member, tag_id: int) -> None:
    """Take the tag off whatever has it, and delete it."""
    with transaction.atomic():
        lock_ledger_exclusive(member)
        get_owned_or_404(Tag.objects.all(), member, tag_id).delete()


def get_or_create_tags(member: Member, names: Sequence[str]) -> list[Tag]:
    """The member's tags of these names, in this order; unknown ones are made, last.

    Call inside a transaction.
    """
    wanted = list(dict.fromkeys(names))
    known = _get_tags_by_name(member, wanted)
    if missing := [name for name in wanted if name not in known]:
        lock_member_row(member)
        first = next_position(Tag.objects.owned_by(member))
        Tag.objects.bulk_create(
            [
                Tag(member=member, name=name, sort_order=first + offset)
                for offset, name in enumerate(missing)
            ],
            ignore_conflicts=True,
        )
        known = _get_tags_by_name(member, wanted)
    return [known[name] for name in wanted]


def get_tag_names_by_entry(entry_ids: Iterable[int]) -> dict[int, list[str]]:
    """The tag names of many entries with one look-up (spec 3.4)."""
    names: dict[int, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_TAGS_OF_ENTRIES, [f"{{{','.join(map(str, entry_ids))}}}"])
        for entry_id, name in cursor.fetchall():
            names.setdefault(entry_id, []).append(name)
    return names


def _get_tags_by_name(member: Member, names: Sequence[str]) -> dict[str, Tag]:
    if not names:
        return {}
    rows = Tag.objects.owned_by(member).filter(name__in=names)
    return {tag.name: tag for tag in rows}
