"""Patterns for LIKE and ILIKE."""


def escape_like(text: str) -> str:
    """Escape the wildcards of a pattern, so that they match themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
