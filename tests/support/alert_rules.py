"""Texts of the rules and of the refused messages: tests/samples/notification_*.jsonl."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.support.alert_texts import variants

# Printed before and behind a message about no purchase.
AROUND = (
    ("", ""),
    ("[Web발신]\n", ""),
    ("{card}({digits}) ", ""),
    ("", " {minute}"),
    ("[{card}] 홍*동님({digits}) ", " {minute}"),
    ("{card} 알림\n", "\n{minute}\n{shop}"),
)
TEXTS_AROUND = 4


def combinations(values: Any) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from values
    else:
        for combination in product(*values.values()):
            yield dict(zip(values, combination, strict=True))


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Return a text with the values of `with`; `<word>` alone is the value itself."""
    if not isinstance(value, str):
        return value
    if value.startswith("<") and value[1:-1] in values:
        return values[value[1:-1]]
    for name, word in values.items():
        value = value.replace(f"<{name}>", str(word))
    return value


def list_refused(template: str) -> Iterator[str]:
    """Yield texts of a template, with what makes it look like a purchase around it."""
    for text, parts in list(variants(template))[:TEXTS_AROUND]:
        for before, behind in AROUND:
            yield before.format_map(parts) + text + behind.format_map(parts)
