"""The parser's speed and accuracy, and the cost of the endpoint."""

import itertools
import json
import random
import re
import time
from collections.abc import Callable
from typing import Any

from benchmarks.alert_accuracy import measure_exam
from benchmarks.client import Calls, Client, Target
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, bounded, compare, format_milliseconds
from benchmarks.second_opinion import measure_opinion
from card_alerts import (
    MAX_TEXT_LENGTH,
    Layout,
    learn_layout,
    locate_corrections,
    parse_all,
    read_with_layout,
)
from card_alerts.layouts import MAX_LAYOUT_TEXT_LENGTH, make_template
from tests.support import alert_samples, taught_texts
from tests.support.alert_samples import RECEIVED_AT, REPEATED_PARTS, differences, load
from tests.support.taught_texts import change_text

NAME = "notifications"
PATH = "/api/account/entries/notification"
TEXT = "신한카드(1309)승인 홍*동 {:,}원(일시불)11/10 08:31 lunch 7 누적{:,}원"
TAUGHT, NEWEST = "exam 4", "exam 33"
SAMPLES = {
    "given": alert_samples.GIVEN,
    "2026": alert_samples.LAYOUTS_2026,
    "exam 1": alert_samples.EXAM_2026,
    "exam 2": alert_samples.EXAM_2026B,
    "exam 3": alert_samples.EXAM_2026C,
    TAUGHT: alert_samples.EXAM_2026D,
    "exam 5": alert_samples.EXAM_2026E,
    "exam 6": alert_samples.EXAM_2026F,
    "own": alert_samples.OWN,
}
MIN_ACCURACY = 0.98
MAX_RATIO_TO_READING = 40
# The most that a member may have.
LAYOUTS = 200
MAX_LAYOUT_MICROSECONDS, MAX_TEXT_MILLISECONDS = 5, 20
CLIMB_SEED, CLIMB_STEPS = 2026, 400
_WON_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})*원")
REPEATS = 10


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    steps = min(CLIMB_STEPS, environment.effort.max_repeats * 4)
    messages = {name: load(path) for name, path in SAMPLES.items()}
    every = [each for part in messages.values() for each in part]
    rows = [
        *measure_parser(every),
        *measure_opinion(NAME, every),
        *measure_layouts(messages[TAUGHT]),
        *measure_crafted_texts(steps),
    ]
    for name, part in messages.items():
        failing = [message["id"] for message in part if differences(message)]
        text, right = ", ".join(failing) or "none", 1 - len(failing) / len(part)
        name = f"{name}: fully right"
        rows.append(
            bounded(NAME, name, f"failing: {text}", right, minimum=MIN_ACCURACY)
        )
    rows += measure_exam(NAME, NEWEST, alert_samples.NEWEST_EXAM)
    return [*rows, *measure_endpoint(environment)]


def least_seconds(function: Callable[..., object], *arguments: Any) -> float:
    """Return the least processor time of three calls."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        function(*arguments)
        seconds.append(time.process_time() - started)
    return min(seconds)


def parse_each(messages: list[Any]) -> None:
    for message in messages:
        parse_all(message["text"], RECEIVED_AT, with_opinion=False)


def read_each(layouts: list[Layout], texts: list[str]) -> None:
    for text in texts:
        for layout in layouts:
            read_with_layout(layout, text)


def measure_parser(messages: list[Any]) -> list[Row]:
    def read(lines: list[str]) -> None:
        for line in lines:
            _WON_AMOUNT.findall(json.loads(line)["text"])

    lines = [json.dumps(message, ensure_ascii=False) for message in messages]
    parsing, reading = least_seconds(parse_each, messages), least_seconds(read, lines)
    name = "grammar : json.loads and one regex, processor time"
    level = f"{len(messages) / parsing:,.0f} texts a second"
    return [bounded(NAME, name, level, parsing / reading, MAX_RATIO_TO_READING)]


def measure_layouts(messages: list[Any]) -> list[Row]:
    layouts: list[Layout] = []
    for message in messages:
        spans = locate_corrections(message["text"], message["expect"]["merchant"], None)
        if layout := learn_layout(message["text"], spans):
            layouts.append(layout)
    texts = [message["text"] for message in messages]
    seconds = least_seconds(read_each, layouts[:LAYOUTS], texts)
    each = seconds / len(layouts[:LAYOUTS]) / len(texts) * 1_000_000
    text = f"of {len(layouts[:LAYOUTS])} layouts, {len(texts)} texts"
    return [bounded(NAME, "a layout, µs a text", text, each, MAX_LAYOUT_MICROSECONDS)]


def measure_crafted_texts(steps: int) -> list[Row]:
    """Search for slow texts: a change is kept if it makes the text slower."""
    source = random.Random(CLIMB_SEED)
    texts = [
        (start + part * MAX_TEXT_LENGTH)[:MAX_TEXT_LENGTH]
        for part in REPEATED_PARTS
        for start in ("", "신한카드(1234)승인 ")
    ]

    def parse_seconds(text: str) -> tuple[float, str]:
        return least_seconds(parse_all, text, RECEIVED_AT), text

    def layout_seconds(text: str) -> tuple[float, str]:
        marked = taught_texts.mark(source, text)
        layout = Layout(make_template(text, marked, is_wide=True))
        many = [layout] * LAYOUTS
        return least_seconds(read_each, many, [text]), text

    parsed = max(map(parse_seconds, texts))
    read = layout_seconds(taught_texts.make_text(source))
    for _ in range(steps):
        text = change_text(source, source.choice([*texts, parsed[1]]), parsed[1])
        parsed = max(parsed, parse_seconds(text[:MAX_TEXT_LENGTH]))
        text = change_text(source, taught_texts.make_text(source), read[1])
        read = max(read, layout_seconds(text[:MAX_LAYOUT_TEXT_LENGTH]))
    return [
        bounded(NAME, name, format_milliseconds(ms / 1_000), ms, MAX_TEXT_MILLISECONDS)
        for name, ms in (
            ("slowest crafted text, ms", parsed[0] * 1_000),
            (f"slowest crafted text and {LAYOUTS} layouts, ms", read[0] * 1_000),
        )
    ]


def measure_endpoint(environment: BenchmarkEnvironment) -> list[Row]:
    member = environment.spec.large_member()
    send = make_sender(environment.service_target(PATH, member))
    calls: Calls = {"service": send, "T": environment.trivial_client(member)}
    times = environment.time(calls, REPEATS)
    text = f"taken in, {environment.spec.large_size:,} entries"
    return [
        *compare(NAME, times, [(f"{text} : T", "service", ["T"], None)]),
        environment.measure_processor_time(NAME, text, send),
    ]


def make_sender(target: Target) -> Callable[[], object]:
    """Send a new payment with each call."""
    client, amounts = Client(target), itertools.count(1_000)

    def send() -> object:
        amount = next(amounts)
        return client.send(target.sending({"text": TEXT.format(amount, 9 * amount)}))

    return send
