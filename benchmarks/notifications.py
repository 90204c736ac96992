"""The parser of card notifications: texts a second, and how many are fully right."""

import time
from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from benchmarks.report import Row, at_least
from benchmarks.stage import Stage
from ledger.notifications.parser import parse
from tests.ledger.notifications.samples import (
    GIVEN,
    OWN,
    RECEIVED_AT,
    differences,
    load,
)

NAME = "notifications"
TEXTS_PER_SECOND = 5_000
RIGHT = 0.98
REPEATS = 10


def measure(stage: Stage, rounds: int) -> list[Row]:
    """Pure computing: the stage's servers are not asked."""
    messages = load(GIVEN)
    texts = [message["text"] for message in messages]
    speed = median(count_per_second(texts) for _ in range(rounds))
    rows = [
        at_least(NAME, "texts/s on one core", f"{speed:,.0f}", speed, TEXTS_PER_SECOND)
    ]
    rows.append(
        Row(
            NAME, "longest single text", f"{slowest(texts) * 1000:.2f} ms, of the given"
        )
    )
    for name, labelled in (("given", messages), ("own", load(OWN))):
        rows += rate_rows(name, labelled)
    return rows


def count_per_second(texts: list[str]) -> float:
    start = time.perf_counter()
    for _ in range(REPEATS):
        for text in texts:
            parse(text, RECEIVED_AT)
    return REPEATS * len(texts) / (time.perf_counter() - start)


def slowest(texts: list[str]) -> float:
    longest = 0.0
    for text in texts:
        start = time.perf_counter()
        parse(text, RECEIVED_AT)
        longest = max(longest, time.perf_counter() - start)
    return longest


def rate_rows(name: str, messages: list[dict]) -> list[Row]:
    """The rate of messages with every field right, then those below it, by part."""
    wrong = {message["id"]: differences(message) for message in messages}
    right = share(not fields for fields in wrong.values())
    failing = ", ".join(key for key, fields in wrong.items() if fields) or "none"
    rows = [at_least(NAME, f"{name}: fully right", f"failing: {failing}", right, RIGHT)]
    fields = sorted({field for message in messages for field in message["expect"]})
    rates = [
        f"{field} {share(field not in each for each in wrong.values()):.1%}"
        for field in fields
    ]
    rows.append(Row(NAME, f"{name}: per field", ", ".join(rates)))
    companies: dict[str, list[bool]] = defaultdict(list)
    for message in messages:
        companies[message["company"]].append(not wrong[message["id"]])
    level = ", ".join(f"{each} {share(told):.0%}" for each, told in companies.items())
    return [*rows, Row(NAME, f"{name}: per company", level)]


def share(told: Iterable[bool]) -> float:
    truths = list(told)
    return sum(truths) / len(truths)
