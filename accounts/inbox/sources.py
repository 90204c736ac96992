"""The kinds of items, with their texts and targets, by app.

An app above accounts names its source in the setting `INBOX_SOURCES`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.models import Member


@dataclass(slots=True)
class ItemRow:
    id: int
    kind: str
    at: str
    count: int
    read: bool
    target_type: str
    target_id: int
    actor_id: int | None
    display_name: str | None
    avatar_version: str | None
    idp_picture: str | None
    role: str | None


class Description(NamedTuple):
    """`target` is `{type, id, postId}`, or None."""

    text: str
    target: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class InboxSource:
    # Kind -> whether members may do without it.
    kinds: Mapping[str, bool]
    # SQL by type of target, on the item `i`: true while the target can be seen.
    is_shown: Mapping[str, str] = field(default_factory=dict)
    # Describes items of these kinds for their reader, by id.
    describe: Callable[[Member, Iterable[ItemRow]], dict[int, Description]] = (
        lambda reader, rows: {}
    )


@cache
def list_sources() -> tuple[InboxSource, ...]:
    return tuple(import_string(path) for path in settings.INBOX_SOURCES)


@cache
def list_kinds() -> dict[str, bool]:
    return {
        kind: may_be_muted
        for source in list_sources()
        for kind, may_be_muted in source.kinds.items()
    }


@cache
def format_is_shown() -> str:
    conditions = [
        f"WHEN i.target_type = '{target_type}' THEN {condition}"
        for source in list_sources()
        for target_type, condition in source.is_shown.items()
    ]
    return f"CASE {' '.join(conditions)} ELSE true END" if conditions else "true"
