"""Comparison of login ids and email addresses, without regard to case."""

import unicodedata


def normalize_identifier(text: str) -> str:
    """Return the text in NFKC with its case folded.

    Texts that Unicode calls compatible become one: `ＭＩＫＥ` and `mike`, `ſ` and `s`.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def comparison_key(text: str) -> str | None:
    """Return the key of a stored login id or address; None for a text outside ASCII.

    PostgreSQL generates the same key in `member.login_id_normalized` and
    `member.email_normalized`.
    """
    # Texts outside ASCII equal nothing. What folds to the same letters may be another
    # mailbox, and faß.example and fass.example are two domains. Within ASCII, Python
    # and PostgreSQL fold alike, whatever their versions of Unicode.
    return normalize_identifier(text) if text.isascii() else None
