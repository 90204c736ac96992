"""The parser of card alerts by its grammar alone, its model alone, and by both."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.report import Row, bounded
from card_alerts import ParseResult, parse
from card_alerts.normalization import normalize
from card_alerts.opinion.opinion import FIGURES_FILE, MODEL, Opinion, load_opinion
from devstack.environment import ROOT
from tests.support.alert_samples import RECEIVED_AT, squeeze

MIN_TEXTS_A_SECOND, MAX_MEMORY = 1_500, 15
ROUNDS = 3
# Prints how many MiB the model adds to a process that has read the same texts without.
PRINT_MEMORY = """
import sys
from pathlib import Path
from card_alerts import parse
from tests.support.alert_samples import RECEIVED_AT, OWN, load
PAGES = Path("/proc/self/statm")
def read(with_opinion):
    for each in load(OWN):
        parse(each["text"], RECEIVED_AT, with_opinion=with_opinion)
    return int(PAGES.read_text().split()[1]) * 4096 / 2**20
before = read(False)
print(read(True) - before)
"""


def measure_opinion(name: str, messages: list[Any]) -> list[Row]:
    alone = texts_a_second(messages, with_opinion=False)
    both = texts_a_second(messages, with_opinion=True)
    memory = measure_memory()
    rows = [
        Row(name, "grammar alone", f"{alone:,.0f} texts a second"),
        bounded(
            name,
            "with the model, texts a second",
            f"{both:,.0f}, {both / alone:.2f} of the grammar's",
            both,
            minimum=MIN_TEXTS_A_SECOND,
        ),
        bounded(
            name,
            "memory of the model, MiB",
            f"{memory:.1f} MiB a process",
            memory,
            MAX_MEMORY,
        ),
    ]
    opinion = load_opinion()
    readers: dict[str, Callable[[Any], tuple[bool, str | None]]] = {
        "grammar alone": lambda message: _read(message, with_opinion=False),
        "both": lambda message: _read(message, with_opinion=True),
    }
    if opinion:
        readers["model alone"] = lambda message: read_by_model(message, opinion)
    for reader, read in readers.items():
        rows.append(Row(name, f"known samples, {reader}", describe(messages, read)))
    figures = json.loads((MODEL / FIGURES_FILE).read_text(encoding="utf-8"))
    for left_out, percent in figures["percent"].items():
        for field, value in percent.items():
            rows.append(Row(name, f"model, {left_out}: {field}", f"{value} %"))
    return rows


def texts_a_second(messages: list[Any], *, with_opinion: bool) -> float:
    """Return the texts per second of processor time, in the best of three rounds."""
    parse(messages[0]["text"], RECEIVED_AT, with_opinion=with_opinion)
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for message in messages:
            parse(message["text"], RECEIVED_AT, with_opinion=with_opinion)
        seconds.append(time.process_time() - started)
    return len(messages) / min(seconds)


def measure_memory() -> float:
    command = [sys.executable, "-c", PRINT_MEMORY]
    printed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return float(printed)


def describe(
    messages: list[Any], read: Callable[[Any], tuple[bool, str | None]]
) -> str:
    """Return the shares of payments, of others that are booked, and of names."""
    counts: Counter[str] = Counter()
    for message in messages:
        expected = message["expect"]
        is_read, name = read(message)
        if expected["ignored"]:
            counts["others"] += 1
            counts["booked"] += is_read
            continue
        counts["payments"] += 1
        counts["read"] += is_read
        accepted = [expected["merchant"], *message.get("merchant_alt", [])]
        counts["names"] += is_read and squeeze(name) in map(squeeze, accepted)
    return (
        f"payments {counts['read'] / counts['payments']:.1%},"
        f" others booked {counts['booked'] / counts['others']:.1%},"
        f" names {counts['names'] / max(1, counts['read']):.1%}"
    )


def _read(message: Any, *, with_opinion: bool) -> tuple[bool, str | None]:
    parsed: ParseResult = parse(
        message["text"],
        RECEIVED_AT,
        title=message.get("title", ""),
        with_opinion=with_opinion,
    )
    return parsed.recognized, parsed.merchant


def read_by_model(message: Any, opinion: Opinion) -> tuple[bool, str | None]:
    text = normalize(f"{message.get('title', '')}\n{message['text']}".strip()).text
    scores = opinion.kinds.judge(text)
    names = opinion.names.find(text).merchants
    name = text[slice(*names[0].span)] if names else None
    return scores.payment + scores.cancellation > 0.5, name
