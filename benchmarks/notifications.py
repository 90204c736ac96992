"""Card notifications: parser speed and accuracy, and the cost of the endpoint."""

import http.client
import itertools
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import psycopg

from benchmarks.client import REQUEST_TIMEOUT_SECONDS, Client, Target, time_interleaved
from benchmarks.entries import LARGE_INDEX
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.processor import find_main_process, read_processor_seconds
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row
from benchmarks.sessions import PATH as TRIVIAL
from card_alerts import MAX_TEXT_LENGTH, parse, parse_all
from devstack.stores.data_dir import LOOPBACK
from tests.support.alert_samples import (
    EXAM_2026,
    EXAM_2026B,
    EXAM_2026C,
    EXAM_2026D,
    EXAM_2026E,
    GIVEN,
    LAYOUTS_2026,
    OWN,
    RECEIVED_AT,
    REPEATED_PARTS,
    differences,
    load,
)

NAME = "notifications"
PATH = "/api/account/entries/notification"
TEXT = "신한카드(1309)승인 홍*동 {:,}원(일시불)11/10 08:31 lunch 7 누적{:,}원"
# For texts crafted to make the parser slow.
MAX_PARSE_MILLISECONDS = 20
MIN_ACCURACY = 0.98
MAX_RATIO_TO_JSON = 40
CLIMB_SEED, CLIMB_STEPS = 2026, 400
_WON_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})*원")
REPEATS = 10
# Notifications a round of which the processor time is taken; the clock ticks 100 times
# a second. Their amounts are other than those that were timed.
PROCESSOR_REPEATS = 100
PROCESSOR_AMOUNTS = 500_000


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    messages = load(GIVEN)
    texts = [message["text"] for message in messages]
    speed = median(measure_texts_per_second(texts) for _ in range(rounds))
    # For information: it depends on the machine. `--against` judges the intake.
    rows = [Row(NAME, "parser alone, texts/processor second", f"{speed:,.0f}")]
    ratio = median(measure_ratio_to_json() for _ in range(rounds))
    rows.append(
        max_ratio_row(
            NAME,
            "parser : json.loads and one regex",
            "labeled lines of the samples",
            ratio,
            MAX_RATIO_TO_JSON,
        )
    )
    rows.append(
        Row(
            NAME,
            "longest single text",
            f"{longest_parse_seconds(texts) * 1000:.2f} ms, of the given",
        )
    )
    starts = ("", "신한카드(1234)승인 ")
    crafted = [
        (start + part * MAX_TEXT_LENGTH)[:MAX_TEXT_LENGTH]
        for part in REPEATED_PARTS
        for start in starts
    ]
    crafted.append(search_slow_text(crafted))
    slowest = max(parse_seconds(text) for text in crafted)
    rows.append(
        max_ratio_row(
            NAME,
            "slowest crafted text, ms",
            format_milliseconds(slowest),
            slowest * 1000,
            MAX_PARSE_MILLISECONDS,
        )
    )
    for name, labelled in (
        ("given", messages),
        ("2026", load(LAYOUTS_2026)),
        ("exam of 2026", load(EXAM_2026)),
        ("second exam of 2026", load(EXAM_2026B)),
        ("third exam of 2026", load(EXAM_2026C)),
        ("fourth exam of 2026", load(EXAM_2026D)),
        ("fifth exam of 2026", load(EXAM_2026E)),
        ("own", load(OWN)),
    ):
        rows += accuracy_rows(name, labelled)
    return [*rows, *measure_endpoint(environment, rounds)]


def measure_endpoint(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Time notifications of distinct payments for a member with many entries."""
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
        main_process = find_main_process(connection)
    member = environment.spec.large_member(LARGE_INDEX)
    times = time_interleaved(
        {
            "service": payment_sender(environment.service_target(PATH, member), 1_000),
            "trivial": Client(environment.service_target(TRIVIAL, member)),
        },
        rounds,
        REPEATS,
    )
    # The web server's workers, and PostgreSQL with the processes of its sessions.
    process_ids = [*environment.list_workers(), main_process]
    send = payment_sender(environment.service_target(PATH, member), PROCESSOR_AMOUNTS)
    started_at = sum(map(read_processor_seconds, process_ids))
    for _ in range(rounds * PROCESSOR_REPEATS):
        send()
    processor = sum(map(read_processor_seconds, process_ids)) - started_at
    size = f"{environment.spec.sizes[LARGE_INDEX]:,} entries"
    service = times["service"]
    return [
        Row(
            NAME,
            f"taken in, {size} : T",
            format_milliseconds(service.median),
            service.ratio_to(times["trivial"]),
        ),
        Row(
            NAME,
            f"taken in, {size}, texts/processor second",
            f"{rounds * PROCESSOR_REPEATS / processor:,.0f}",
        ),
    ]


def payment_sender(target: Target, first_amount: int) -> Callable[[], object]:
    """Return a function that posts the notification of a new payment."""
    amounts = itertools.count(first_amount)
    headers = {**target.headers, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
    )

    def call() -> object:
        amount = next(amounts)
        body = json.dumps({"text": TEXT.format(amount, 9 * amount)})
        connection.request("POST", target.path, body, headers)
        response = connection.getresponse()
        response_body = response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(f"{response.status} {response_body[:300]!r}")
        return response_body

    return call


def measure_texts_per_second(texts: list[str]) -> float:
    """Return how many texts are parsed in a second of processor time."""
    start = time.process_time()
    for _ in range(REPEATS):
        for text in texts:
            parse(text, RECEIVED_AT)
    return REPEATS * len(texts) / (time.process_time() - start)


def longest_parse_seconds(texts: list[str]) -> float:
    longest = 0.0
    for text in texts:
        start = time.perf_counter()
        parse(text, RECEIVED_AT)
        longest = max(longest, time.perf_counter() - start)
    return longest


def parse_seconds(text: str) -> float:
    """Return the least processor time of three parses of a text."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        parse_all(text, RECEIVED_AT)
        seconds.append(time.process_time() - start)
    return min(seconds)


def search_slow_text(texts: list[str]) -> str:
    """Return the slowest text that hill climbing finds from the slowest of `texts`.

    A step puts a part of another text in the place of a part, or repeats a part; it is
    kept if it makes the text slower. The steps are the same in every run.
    """
    source = random.Random(CLIMB_SEED)
    best = max(texts, key=parse_seconds)
    best_seconds = parse_seconds(best)
    for _ in range(CLIMB_STEPS):
        other = source.choice([*texts, best])
        start, length = source.randrange(len(other)), source.randint(1, 400)
        piece = other[start : start + length] * source.choice([1, 1, 3, 20])
        position = source.randrange(len(best))
        rest = best[position + source.choice([0, len(piece)]) :]
        candidate = (best[:position] + piece + rest)[:MAX_TEXT_LENGTH]
        seconds = parse_seconds(candidate)
        if seconds > best_seconds:
            best, best_seconds = candidate, seconds
    return best


def measure_ratio_to_json() -> float:
    """Return the processor time of the parser over that of reading the same lines.

    Reading is `json.loads` of a labeled line and one regex over its text.
    """
    lines = [
        json.dumps(message, ensure_ascii=False)
        for path in (GIVEN, OWN, LAYOUTS_2026, EXAM_2026)
        for message in load(path)
    ]
    texts = [json.loads(line)["text"] for line in lines]
    start = time.process_time()
    for _ in range(REPEATS):
        for line in lines:
            _WON_AMOUNT.findall(json.loads(line)["text"])
    reading = time.process_time() - start
    start = time.process_time()
    for _ in range(REPEATS):
        for text in texts:
            parse_all(text, RECEIVED_AT)
    return (time.process_time() - start) / reading


def accuracy_rows(name: str, messages: list[dict[str, Any]]) -> list[Row]:
    """Return the shares parsed correctly: in all fields, by field and by company."""
    wrong = {message["id"]: differences(message) for message in messages}
    right = proportion(not wrong_fields for wrong_fields in wrong.values())
    failing = (
        ", ".join(key for key, wrong_fields in wrong.items() if wrong_fields) or "none"
    )
    rows = [
        min_ratio_row(
            NAME, f"{name}: fully right", f"failing: {failing}", right, MIN_ACCURACY
        )
    ]
    fields = sorted({field for message in messages for field in message["expect"]})
    rates = {
        field: proportion(field not in wrong_fields for wrong_fields in wrong.values())
        for field in fields
    }
    field_rates = ", ".join(f"{field} {rate:.1%}" for field, rate in rates.items())
    rows.append(Row(NAME, f"{name}: per field", field_rates))
    companies: dict[str, list[bool]] = defaultdict(list)
    for message in messages:
        companies[message["company"]].append(not wrong[message["id"]])
    level = ", ".join(
        f"{company} {proportion(is_right):.0%}"
        for company, is_right in companies.items()
    )
    return [*rows, Row(NAME, f"{name}: per company", level)]


def proportion(outcomes: Iterable[bool]) -> float:
    values = list(outcomes)
    return sum(values) / len(values)
