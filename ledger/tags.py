"""Tags: names on entries, made on the way, looked up in batches."""

from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from accounts.models import Member
from core.api.ordering import next_position
from core.errors import Duplicate, refuse_when_broken
from ledger.locking import lock_ledger, lock_lists, share_ledger
from ledger.models import Tag
from ledger.models.base import OwnedQuerySet
from ledger.ownership import find_owned

NAME_TAKEN = "There is a tag of this name."

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
        share_ledger(member)
        lock_lists(member)
        tag.sort_order = next_position(list_tags(member))
        with refuse_when_broken("account_tag_name_unique", Duplicate(NAME_TAKEN)):
            tag.save(force_insert=True)
    return tag


def rename_tag(member: Member, tag_id: int, name: str) -> Tag:
    """Entries refer to the tag, so that a new name reaches all of them."""
    with transaction.atomic():
        share_ledger(member)
        tag: Tag = find_owned(Tag.objects.select_for_update(), member, tag_id)
        tag.name = name
        with refuse_when_broken("account_tag_name_unique", Duplicate(NAME_TAKEN)):
            tag.save()
    return tag


def delete_tag(member: Member, tag_id: int) -> None:
    """Take the tag off whatever has it, and delete it."""
    with transaction.atomic():
        lock_ledger(member)
        find_owned(Tag.objects.all(), member, tag_id).delete()


def resolve_tags(member: Member, names: Sequence[str]) -> list[Tag]:
    """The member's tags of these names, in this order; unknown ones are made, last.

    Call inside a transaction.
    """
    wanted = list(dict.fromkeys(names))
    known = _find_tags(member, wanted)
    if missing := [name for name in wanted if name not in known]:
        lock_lists(member)
        first = next_position(Tag.objects.owned_by(member))
        Tag.objects.bulk_create(
            [
                Tag(member=member, name=name, sort_order=first + offset)
                for offset, name in enumerate(missing)
            ],
            ignore_conflicts=True,
        )
        known = _find_tags(member, wanted)
    return [known[name] for name in wanted]


def read_tags_of_entries(entry_ids: Iterable[int]) -> dict[int, list[str]]:
    """The tag names of many entries with one look-up (service.md, Ledger entry)."""
    names: dict[int, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_TAGS_OF_ENTRIES, [f"{{{','.join(map(str, entry_ids))}}}"])
        for entry_id, name in cursor.fetchall():
            names.setdefault(entry_id, []).append(name)
    return names


def _find_tags(member: Member, names: Sequence[str]) -> dict[str, Tag]:
    if not names:
        return {}
    rows = Tag.objects.owned_by(member).filter(name__in=names)
    return {tag.name: tag for tag in rows}
