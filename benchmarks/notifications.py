"""Card notifications: texts a second, how many are right, and what one costs."""

import http.client
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import psycopg

from benchmarks.client import REQUEST_TIMEOUT_SECONDS, Client, Target, time_interleaved
from benchmarks.entries import LARGE_INDEX
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row
from benchmarks.sessions import PATH as TRIVIAL
from card_alerts import MAX_TEXT_LENGTH, parse
from devstack.stores.data_dir import LOOPBACK
from tests.support.alert_samples import (
    GIVEN,
    OWN,
    RECEIVED_AT,
    REPEATED_PARTS,
    differences,
    load,
)

NAME = "notifications"
PATH = "/api/account/entries/notification"
TEXT = "신한카드(1309)승인 홍*동 {:,}원(일시불)11/10 08:31 lunch 7 누적{:,}원"
MIN_TEXTS_PER_SECOND = 5_000
# Of texts that are made to be slow.
MAX_PARSE_MILLISECONDS = 20
MIN_ACCURACY = 0.98
REPEATS = 10


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    messages = load(GIVEN)
    texts = [message["text"] for message in messages]
    speed = median(measure_texts_per_second(texts) for _ in range(rounds))
    rows = [
        min_ratio_row(
            NAME, "texts/s on one core", f"{speed:,.0f}", speed, MIN_TEXTS_PER_SECOND
        )
    ]
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
    # The fastest of several rounds, since other work may interrupt a measurement.
    slowest = max(
        min(longest_parse_seconds([text]) for _ in range(3)) for text in crafted
    )
    rows.append(
        max_ratio_row(
            NAME,
            "slowest crafted text, ms",
            format_milliseconds(slowest),
            slowest * 1000,
            MAX_PARSE_MILLISECONDS,
        )
    )
    for name, labelled in (("given", messages), ("own", load(OWN))):
        rows += accuracy_rows(name, labelled)
    return [*rows, measure_endpoint(stage, rounds)]


def measure_endpoint(stage: BenchmarkEnvironment, rounds: int) -> Row:
    """Each a payment of its own, taken in for a member with many entries."""
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
    member = stage.dataset_spec.large_member(LARGE_INDEX)
    times = time_interleaved(
        {
            "ours": payment_sender(stage.service_target(PATH, member)),
            "trivial": Client(stage.service_target(TRIVIAL, member)),
        },
        rounds,
        REPEATS,
    )
    name = f"taken in, {stage.dataset_spec.sizes[LARGE_INDEX]:,} entries : T"
    ours = times["ours"]
    return Row(
        NAME, name, format_milliseconds(ours.median), ours.ratio_to(times["trivial"])
    )


def payment_sender(target: Target) -> Callable[[], object]:
    amounts = itertools.count(1_000)
    headers = {**target.headers, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
    )

    def call() -> object:
        amount = next(amounts)
        body = json.dumps({"text": TEXT.format(amount, 9 * amount)})
        connection.request("POST", target.path, body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(f"{response.status} {answer[:300]!r}")
        return answer

    return call


def measure_texts_per_second(texts: list[str]) -> float:
    start = time.perf_counter()
    for _ in range(REPEATS):
        for text in texts:
            parse(text, RECEIVED_AT)
    return REPEATS * len(texts) / (time.perf_counter() - start)


def longest_parse_seconds(texts: list[str]) -> float:
    longest = 0.0
    for text in texts:
        start = time.perf_counter()
        parse(text, RECEIVED_AT)
        longest = max(longest, time.perf_counter() - start)
    return longest


def accuracy_rows(name: str, messages: list[dict[str, Any]]) -> list[Row]:
    """The rate of messages with every field right, then those below it, by part."""
    wrong = {message["id"]: differences(message) for message in messages}
    right = proportion(not fields for fields in wrong.values())
    failing = ", ".join(key for key, fields in wrong.items() if fields) or "none"
    rows = [
        min_ratio_row(
            NAME, f"{name}: fully right", f"failing: {failing}", right, MIN_ACCURACY
        )
    ]
    fields = sorted({field for message in messages for field in message["expect"]})
    rates = [
        f"{field} {proportion(field not in each for each in wrong.values()):.1%}"
        for field in fields
    ]
    rows.append(Row(NAME, f"{name}: per field", ", ".join(rates)))
    companies: dict[str, list[bool]] = defaultdict(list)
    for message in messages:
        companies[message["company"]].append(not wrong[message["id"]])
    level = ", ".join(
        f"{each} {proportion(told):.0%}" for each, told in companies.items()
    )
    return [*rows, Row(NAME, f"{name}: per company", level)]


def proportion(told: Iterable[bool]) -> float:
    truths = list(told)
    return sum(truths) / len(truths)
