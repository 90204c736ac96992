"""Compile the patterns of the grammar: each is verbose, and finds its example."""

import re

# The patterns with their examples, for the test that each finds its own.
EXAMPLES: list[tuple[re.Pattern[str], str]] = []


def pattern(
    expression: str, *, example: str, initials: str = "", flags: int = 0
) -> re.Pattern[str]:
    """Compile an expression with `re.VERBOSE`.

    A blank is written `[ ]`. The example is a piece of a message; parts that earlier
    steps have masked are placeholders of `masked_text`. A match begins with one of the
    initials, a set in the syntax of patterns: other places are skipped quickly.
    """
    if initials:
        expression = f"(?=(?-i:[{initials}]))(?:{expression})"
    compiled = re.compile(expression, flags | re.VERBOSE)
    EXAMPLES.append((compiled, example))
    return compiled
