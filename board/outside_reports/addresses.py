"""Numbers and addresses of posts and comments, as people copy them."""

import re

from board.locking import MAX_ID
from board.models import TargetType

_IN_ADDRESS_RE = re.compile(r"(?:^|[/#])(posts|comments)/([0-9]{1,19})(?=[/?#]|$)")
_NUMBER_RE = re.compile(r"[0-9]{1,19}")
_TYPES = {"posts": TargetType.POST, "comments": TargetType.COMMENT}


def find_target(text: str) -> tuple[TargetType, int] | None:
    """Return what the last part of an address names; a plain number is a post's.

    `https://example.org/posts/12/comments/34` is comment 34.
    """
    if _NUMBER_RE.fullmatch(text):
        return _checked(TargetType.POST, text)
    found = _IN_ADDRESS_RE.findall(text)
    return _checked(_TYPES[found[-1][0]], found[-1][1]) if found else None


def _checked(target_type: TargetType, number: str) -> tuple[TargetType, int] | None:
    return (target_type, int(number)) if 0 < int(number) <= MAX_ID else None
