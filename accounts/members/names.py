"""Characters of members' names, and names reserved for staff (spec 2.2)."""

import unicodedata
from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext

from accounts.identifiers import normalize_identifier
from accounts.models.members import MAX_DISPLAY_NAME_LENGTH
from core.errors import DomainError, FieldError

FALLBACK_NAME = "Member"
# Control, format (bidirectional, zero-width), and separators of lines.
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp"})
# Letters and marks without a shape.
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f")


def normalize_display_name(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def is_invisible(character: str) -> bool:
    category = unicodedata.category(character)
    return category in INVISIBLE_CATEGORIES or character in FILLERS


def is_reserved(name: str) -> bool:
    """Return True for a name of staff, in any letter case and with any spaces."""
    return _fold(name) in {_fold(each) for each in settings.RESERVED_NAMES}


def _fold(name: str) -> str:
    return "".join(normalize_identifier(name).split())


def validate_names(
    display_name: str, *, login_id: str = "", is_staff: bool = False
) -> None:
    """Raise `DomainError` for a name that the member may not take.

    `display_name` is normalized.
    """
    reserved = gettext("This name is reserved for staff.")
    errors = [
        FieldError(field, reserved, "reserved")
        for field, name in (("loginId", login_id), ("displayName", display_name))
        if not is_staff and is_reserved(name)
    ]
    errors += _list_display_name_errors(display_name)
    if errors:
        raise DomainError(errors=tuple(errors))


def _list_display_name_errors(name: str) -> Iterator[FieldError]:
    if not name:
        text = gettext("This field may not be blank.")
        yield FieldError("displayName", text, "blank")
    if any(map(is_invisible, name)):
        text = gettext("Invisible characters are not allowed.")
        yield FieldError("displayName", text, "control")
    # NFKC makes several characters of some.
    if len(name) > MAX_DISPLAY_NAME_LENGTH:
        text = gettext("Must be at most {max_length} characters.")
        detail = text.format(max_length=MAX_DISPLAY_NAME_LENGTH)
        yield FieldError("displayName", detail, "max_length")


def choose_display_name(*candidates: str) -> str:
    """Return the first that a new member may take, without invisible characters."""
    for candidate in candidates:
        visible = "".join(c for c in candidate if not is_invisible(c))
        name = normalize_display_name(visible)
        name = "".join(c for c in name if not is_invisible(c))
        name = name[:MAX_DISPLAY_NAME_LENGTH].strip()
        if name and not is_reserved(name):
            return name
    return FALLBACK_NAME
