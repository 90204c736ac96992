"""Comparison of login ids and email addresses in any letter case."""

import unicodedata


def normalize_identifier(text: str) -> str:
    """Return the text in NFKC, case-folded: `ＭＩＫＥ` is `mike`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def comparison_key(text: str) -> str | None:
    """Return the key that PostgreSQL generates too, None for a text outside ASCII."""
    # Outside ASCII, one folded text may be two mailboxes (faß.example, fass.example),
    # and versions of Unicode fold differently.
    return normalize_identifier(text) if text.isascii() else None
