"""Costly requests of one member on 16 connections, while another member works."""

import asyncio
import base64
import functools
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from benchmarks.environment import TRIVIAL_PATH, BenchmarkEnvironment
from benchmarks.hostile_files import (
    FORM,
    make_form,
    make_image_bomb,
    make_workbook_bomb,
)
from benchmarks.memory import tree_memory_mib
from benchmarks.report import Row, log_progress
from benchmarks.slow_clients import describe_observed, observe, observed_seconds
from devstack.stores.data_dir import LOOPBACK

CONNECTIONS = 16
SECONDS = 5.0
REQUEST_TIMEOUT_SECONDS = 30.0
LIST_PATH = "/api/account/entries?size=50"
# Of both paths together.
OBSERVER_RATE = 40
MAX_OBSERVER_SECONDS = 0.3
NO_RESPONSE = 0
SERVER_ERROR = 500

# The number of the request → method, path, content type, body.
MakeRequest = Callable[[int], tuple[str, str, str, bytes]]


@dataclass(frozen=True)
class Attack:
    """Requests without end, which may differ by their number."""

    name: str
    make_request: MakeRequest
    is_anonymous: bool = False


@dataclass
class Attackers:
    """Connections that send one request after the other."""

    port: int
    token: str
    attack: Attack
    statuses: Counter[int] = field(default_factory=Counter)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    failure: str = ""

    async def run(
        self, seconds: float, connections: int = CONNECTIONS, most: int = 10**9
    ) -> None:
        """Send requests for so many seconds, at most so many of them."""
        end = time.monotonic() + seconds
        await asyncio.gather(*(self.send(end, most) for _ in range(connections)))

    async def send(self, end: float, most: int) -> None:
        writer: asyncio.StreamWriter | None = None
        while time.monotonic() < end and (number := next(self.numbers)) < most:
            try:
                async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                    if writer is None:
                        reader, writer = await asyncio.open_connection(
                            LOOPBACK, self.port
                        )
                    status, body, is_closed = await self.exchange(
                        reader, writer, number
                    )
            except (OSError, EOFError, TimeoutError, ValueError) as error:
                status, body, is_closed = NO_RESPONSE, repr(error).encode(), True
            self.statuses[status] += 1
            if status in {NO_RESPONSE, SERVER_ERROR} and not self.failure:
                self.failure = f"{status} {body[:300]!r}"
            if is_closed and writer is not None:
                writer.close()
                writer = None
        if writer is not None:
            writer.close()

    async def exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> tuple[int, bytes, bool]:
        """Return status and body, and whether the connection has to be closed."""
        method, path, content_type, body = self.attack.make_request(number)
        lines = [f"{method} {path} HTTP/1.1", f"Host: {LOOPBACK}:{self.port}"]
        if not self.attack.is_anonymous:
            lines.append(f"Authorization: Bearer {self.token}")
        if method != "GET":
            lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        # The server may have answered without reading all of it.
        with suppress(ConnectionError):
            await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        length = head.partition("\r\ncontent-length: ")[2].partition("\r\n")[0]
        answer = await reader.readexactly(int(length or 0))
        is_closed = "\r\nconnection: close" in head or not length
        return status, answer, is_closed and status != 204


def measure(
    environment: BenchmarkEnvironment, port: int, attacker_token: str, observer: int
) -> list[Row]:
    rows = [measure_calm(environment, port, observer)]
    log_progress(f"without an attack: {rows[0].measured}")
    for attack in list_attacks():
        log_progress(f"one member: {attack.name}")
        attackers = Attackers(port, attacker_token, attack)
        responses = observe(
            port,
            [TRIVIAL_PATH, LIST_PATH],
            environment.get_token(observer),
            OBSERVER_RATE,
            functools.partial(attackers.run, SECONDS),
        )
        if attackers.failure:
            log_progress(f"  {attackers.failure}")
        rows.append(attack_row(attackers, responses))
        log_progress(f"  {rows[-1].measured}; {describe_memory(environment)}")
        # What still runs of one attack is not to slow the next.
        time.sleep(1)
    return rows


def describe_memory(environment: BenchmarkEnvironment) -> str:
    """Return the resident memory of each web process, with its children."""
    sizes = [tree_memory_mib(pid) for pid in environment.list_workers()]
    return f"{', '.join(f'{size:.0f}' for size in sizes)} MiB RSS"


def measure_calm(environment: BenchmarkEnvironment, port: int, observer: int) -> Row:
    """Observe without an attack: what other work on the machine costs."""
    responses = observe(
        port,
        [TRIVIAL_PATH, LIST_PATH],
        environment.get_token(observer),
        OBSERVER_RATE,
        functools.partial(asyncio.sleep, SECONDS),
    )
    return Row("attack", "without an attack", describe_observed(responses))


def attack_row(attackers: Attackers, responses: list[Any]) -> Row:
    by_path = [
        [response for response in responses if response.path == path]
        for path in (TRIVIAL_PATH, LIST_PATH)
    ]
    statuses = attackers.statuses
    counts = ", ".join(f"{statuses[code]} × {code}" for code in sorted(statuses))
    trivial, newest = map(describe_observed, by_path)
    is_met = (
        all(observed_seconds(each) <= MAX_OBSERVER_SECONDS for each in by_path)
        and not statuses[SERVER_ERROR]
        and not any(response.status == SERVER_ERROR for response in responses)
    )
    return Row(
        "attack",
        attackers.attack.name,
        f"T {trivial}; newest 50 {newest}; attack {counts}",
        None,
        f"p95 ≤ {MAX_OBSERVER_SECONDS * 1e3:.0f} ms, no 500",
        is_met,
    )


def list_attacks() -> list[Attack]:
    return [*list_reads(), *list_ledger_writes(), *list_uploads(), *list_others()]


def list_reads() -> list[Attack]:
    entries, statistics = "/api/account/entries", "/api/account/statistics"
    return [
        get("pages of 100 entries", lambda n: f"{entries}?size=100&page={1 + n % 9}"),
        get("deep pages", lambda n: f"{entries}?size=100&page={499 - n % 50}"),
        get("page number of a billion", lambda _: f"{entries}?size=100&page={10**9}"),
        get("search of a rare word", lambda n: f"{entries}?keyword=nothing{n}"),
        get("search with % and _", lambda n: f"{entries}?keyword={quote('%_%_%_%')}"),
        get("search of two letters", lambda _: f"{entries}?keyword=ch&size=100"),
        get("filter by amount", lambda n: f"{entries}?minAmount={n}&maxAmount=99000"),
        get("filter of 9,999 years", lambda _: f"{entries}?from=0001-01-01&size=100"),
        get(
            "statistics of 50 years",
            lambda _: f"{statistics}/range?from=1976-01-01&to=2026-01-01&groupBy=day",
        ),
        get(
            "statistics of ten years by day",
            lambda n: (
                f"{statistics}/range?from=2016-11-{1 + n % 28:02}"
                "&to=2026-10-31&groupBy=day"
            ),
        ),
        get("statistics of years", lambda n: f"{statistics}/year?year={2000 + n % 50}"),
        get(
            "trend of 520 weeks",
            lambda _: "/api/account/networth/trend?unit=WEEK&weeks=520",
        ),
        get("trend of 240 months", lambda _: "/api/account/networth/trend?months=240"),
        get("portfolio", lambda _: "/api/account/portfolio"),
        get(
            "board search with % and _",
            lambda n: f"/api/board/posts?size=100&keyword={quote('%_')}",
        ),
        get("board search of two letters", lambda _: "/api/board/posts?keyword=ab"),
        get("backup of 50,000 entries", lambda _: "/api/account/backup"),
        get("OpenAPI document", lambda _: "/api/schema"),
    ]


def list_ledger_writes() -> list[Attack]:
    garbage = os.urandom(5 * 2**20)
    restore = "/api/account/restore?dryRun=true"
    text = "신한카드(1309)승인 홍*동 12,000원(일시불)11/10 08:31 " + "9" * 4_000
    entry = {"date": "2026-11-10", "type": "expense", "amount": 1_000}

    def tagged(n: int) -> dict[str, Any]:
        return {**entry, "tags": [f"attack {n % 50} {tag}" for tag in range(1_000)]}

    numbers = {**entry, "amount": 0, "memo": "huge"}
    huge = json.dumps(numbers).replace('"amount": 0', '"amount": ' + "9" * 100_000)
    return [
        send_file("restore of garbage", restore, "file", garbage),
        send_raw("restore of garbage as JSON", restore, garbage),
        send_file("restore of a zip bomb", restore, "file", make_workbook_bomb()),
        send_raw("restore of deep JSON", restore, b'{"entries":' + b"[" * 4_000_000),
        send_json(
            "notifications of 4,000 characters",
            "/api/account/entries/notification",
            lambda n: {"text": f"{n} {text}"[:4_000]},
        ),
        send_json(
            "parsing of 4,000 spaces and digits",
            "/api/account/entries/parse",
            lambda n: {"text": "승인 " + "1,1 " * 999},
        ),
        send_json("1,000 tags", "/api/account/entries", tagged),
        send_json(
            "entries of new tags",
            "/api/account/entries",
            lambda n: {**entry, "tags": [f"attack {n} {tag}" for tag in range(10)]},
        ),
        send_raw("number of 100,000 digits", "/api/account/entries", huge.encode()),
        send_raw("deep JSON", "/api/account/entries", b"[" * 1_000_000),
        send_json(
            "100,000 fields",
            "/api/account/entries",
            lambda n: {f"field{number}": number for number in range(100_000)},
        ),
        get(
            "rates of unknown pairs",
            lambda n: f"/api/fx/rate?from={CODES[n % 20]}&to={CODES[n // 20 % 20]}",
        ),
    ]


CODES = (
    *("USD", "EUR", "JPY", "CNY", "GBP", "CHF", "AUD", "CAD", "NZD", "SEK"),
    *("NOK", "DKK", "HKD", "SGD", "THB", "TWD", "VND", "INR", "IDR", "KRW"),
)


def list_uploads() -> list[Attack]:
    bomb = make_image_bomb()
    data_url = "data:image/png;base64," + base64.b64encode(bomb).decode()
    return [
        send_file("images of 40 megapixels", "/api/board/images", "image", bomb),
        send_file(
            "receipts of 40 megapixels", "/api/account/ocr/receipt", "image", bomb
        ),
        send_json(
            "profile images of 40 megapixels",
            "/api/auth/profile-image",
            lambda _: {"profileImage": data_url},
            method="PUT",
        ),
        send_file(
            "images of 10 MB of garbage",
            "/api/board/images",
            "image",
            os.urandom(10 * 2**20 - 1_000),
        ),
    ]


def list_others() -> list[Attack]:
    posts = "/api/board/posts"
    post = {"category": "tips", "title": "t"}
    return [
        send_json(
            "posts of 100,000 characters",
            posts,
            lambda n: {**post, "content": f"{n} " + "<b>a</b> &lt;" * 7_600},
        ),
        send_json(
            "posts of nested markup",
            posts,
            lambda n: {**post, "content": f"{n} " + "<div>" * 19_000},
        ),
        send_json(
            "posts with 1,000 tags",
            posts,
            lambda n: {**post, "content": "a", "tags": [f"t{i}" for i in range(1_000)]},
        ),
        send_json(
            "wrong passwords",
            "/api/auth/login",
            lambda n: {"loginId": f"member{1 + n % 50}", "password": f"wrong-{n}"},
            is_anonymous=True,
        ),
        send_json(
            "verification of wrong passwords",
            "/api/auth/verify-password",
            lambda n: {"password": f"wrong-{n}"},
        ),
        send_json(
            "sign-ups",
            "/api/auth/signup",
            lambda n: {
                "loginId": f"attack{n}",
                "password": f"Qx9-horse-{n}",
                "displayName": f"attack {n}",
                "email": f"attack{n}@example.com",
            },
            is_anonymous=True,
        ),
        get(
            "1,000 query parameters",
            lambda n: (
                "/api/account/entries?" + "&".join(f"p{i}={i}" for i in range(800))
            ),
        ),
        get("URLs of 8 KB", lambda n: "/api/account/entries?keyword=" + "a" * 8_100),
        get("unknown paths", lambda n: f"/api/unknown/{n}/" + "a/" * 1_000),
        get("session", lambda _: TRIVIAL_PATH),
        get("points", lambda _: "/api/auth/points?size=100"),
    ]


def get(name: str, make_path: Callable[[int], str]) -> Attack:
    return Attack(name, lambda n: ("GET", make_path(n), "", b""))


def send_raw(name: str, path: str, body: bytes) -> Attack:
    return Attack(name, lambda _: ("POST", path, "application/json", body))


def send_json(
    name: str,
    path: str,
    make_body: Callable[[int], dict[str, Any]],
    *,
    method: str = "POST",
    is_anonymous: bool = False,
) -> Attack:
    def make_request(n: int) -> tuple[str, str, str, bytes]:
        return method, path, "application/json", json.dumps(make_body(n)).encode()

    return Attack(name, make_request, is_anonymous)


def send_file(name: str, path: str, field_name: str, content: bytes) -> Attack:
    body = make_form(field_name, content)
    return Attack(name, lambda _: ("POST", path, FORM, body))
