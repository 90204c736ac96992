"""Card notifications: texts a second, how many are right, and what one costs."""

import http.client
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median

import psycopg

from benchmarks.client import TIMEOUT_SECONDS, Client, Target, time_in_turn
from benchmarks.entries import LARGE
from benchmarks.environment import Stage
from benchmarks.report import Row, at_least, milliseconds
from benchmarks.sessions import PATH as TRIVIAL
from card_alerts.parser import parse
from devstack.stores.data_dir import LOOPBACK
from tests.support.alert_samples import GIVEN, OWN, RECEIVED_AT, differences, load

NAME = "notifications"
ADDRESS = "/api/account/entries/notification"
TEXT = "신한카드(1309)승인 홍*동 {:,}원(일시불)11/10 08:31 lunch 7 누적{:,}원"
TEXTS_PER_SECOND = 5_000
RIGHT = 0.98
REPEATS = 10


def measure(stage: Stage, rounds: int) -> list[Row]:
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
    return [*rows, measure_endpoint(stage, rounds)]


def measure_endpoint(stage: Stage, rounds: int) -> Row:
    """Each a payment of its own, taken in for a member with many entries."""
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
    member = stage.shape.member_of_size(LARGE)
    times = time_in_turn(
        {
            "ours": send_payments(stage.ask_ours(ADDRESS, member)),
            "trivial": Client(stage.ask_ours(TRIVIAL, member)),
        },
        rounds,
        REPEATS,
    )
    name = f"taken in, {stage.shape.sizes[LARGE]:,} entries : T"
    ours = times["ours"]
    return Row(NAME, name, milliseconds(ours.median), ours.to(times["trivial"]))


def send_payments(target: Target) -> Callable[[], object]:
    amounts = itertools.count(1_000)
    headers = {**target.headers, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=TIMEOUT_SECONDS
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
