"""Attacks on the web server: slow clients, costly requests of one member, memory."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from benchmarks import costly_requests, slow_clients
from benchmarks.client import Target
from benchmarks.costly_requests import Attack, Attackers
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import TRIVIAL_PATH, BenchmarkEnvironment
from benchmarks.hostile_files import FORM, make_form, make_image_bomb
from benchmarks.memory import measure_tree_pss, tree_memory_mib
from benchmarks.outside_services import run_outside_services
from benchmarks.report import Row, log_progress

NAME, MEMORY_NAME = "attack", "memory"
DATASET = DatasetSpec(members=50, entries_per_member=1_000, sizes=(50_000,))
OBSERVER = 7
REQUESTS, IMAGES = 100_000, 1_000
REQUEST_CONNECTIONS, IMAGE_CONNECTIONS = 8, 2
# Of the mixed requests, one in so many: a backup, and an image. Their member uploads
# none of the large images.
BACKUP_INTERVAL, IMAGE_INTERVAL = 500, 1_250
MIXED_MEMBER = 50
# After each part the memory is measured; the first fills caches and pools.
PARTS = 10
MAX_GROWTH = 1.1
MAX_WORKER_MEBIBYTES = 180
# A member may upload 100 images an hour.
IMAGES_PER_MEMBER = 90
MAX_SECONDS = 3_600.0
SMALL_IMAGE = make_form("image", make_image_bomb(side=640))


def measure(environment: BenchmarkEnvironment, scale: float) -> list[Row]:
    """Run all attacks; `scale` is that of the requests and images of the first."""
    member = DATASET.large_member(0)
    with prepare_service(environment, member) as target:
        # The memory first, of a server that has answered little so far.
        rows = measure_memory(environment, target.port, scale)
        rows += slow_clients.measure(target, environment.get_token(OBSERVER))
        token = environment.get_token(member)
        rows += costly_requests.measure(environment, target.port, token, OBSERVER)
        level = costly_requests.describe_memory(environment)
        rows.append(Row(NAME, "memory after all attacks", level))
    return rows


def measure_only_memory(environment: BenchmarkEnvironment, scale: float) -> list[Row]:
    with prepare_service(environment, DATASET.large_member(0)) as target:
        return measure_memory(environment, target.port, scale)


@contextmanager
def prepare_service(environment: BenchmarkEnvironment, member: int) -> Iterator[Target]:
    """Start the service with loopback services outside; yield T as `member`."""
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
        # Those who sign up get other ids than the members that were loaded with theirs.
        connection.execute(
            "SELECT setval(pg_get_serial_sequence('member', 'id'), max(id)) FROM member"
        )
    with run_outside_services() as address:
        # Before the web server starts: no request leaves the machine.
        for name in ("FX_BASE_URL", "PRICE_BASE_URL", "OCR_BASE_URL"):
            environment.settings[name] = address
        environment.settings["OCR_API_KEY"] = "benchmark"
        yield environment.service_target(TRIVIAL_PATH, member)


def measure_memory(
    environment: BenchmarkEnvironment, port: int, scale: float
) -> list[Row]:
    rows = measure_growth(environment, port, int(REQUESTS * scale))
    images = min(max(1, int(IMAGES * scale)), IMAGES_PER_MEMBER * DATASET.members)
    return rows + measure_images(environment, port, images)


def measure_growth(
    environment: BenchmarkEnvironment, port: int, requests: int
) -> list[Row]:
    """Compare the web processes after a tenth of mixed requests and at the end."""
    log_progress(f"{requests} mixed requests")
    token = environment.get_token(MIXED_MEMBER)
    attackers = Attackers(port, token, Attack("mixed", make_mixed_request))
    statuses: Counter[int] = attackers.statuses
    samples: list[dict[int, float]] = []
    for part in range(1, PARTS + 1):
        asyncio.run(
            attackers.run(MAX_SECONDS, REQUEST_CONNECTIONS, requests * part // PARTS)
        )
        # Each connection has drawn a number beyond those of the part.
        attackers.numbers = itertools.count(requests * part // PARTS)
        samples.append({p: measure_tree_pss(p) for p in environment.list_workers()})
        sizes = ", ".join(f"{size:.0f}" for size in samples[-1].values())
        log_progress(f"  after {requests * part // PARTS}: {sizes} MiB PSS")
    before, after = samples[0], samples[-1]
    failed = {status: n for status, n in statuses.items() if not 200 <= status < 300}
    ratio = max(after[pid] / before[pid] for pid in before if pid in after)
    levels = "; ".join(
        " → ".join(f"{sample.get(pid, 0):.0f}" for sample in samples) for pid in before
    )
    return [
        Row(
            NAME,
            f"memory over {requests} mixed requests",
            f"{levels} MiB PSS" + (f", failed {failed}" if failed else ""),
            ratio,
            f"≤ {MAX_GROWTH:g}, all answered, no process replaced",
            ratio <= MAX_GROWTH and not failed and before.keys() == after.keys(),
        )
    ]


def make_mixed_request(number: int) -> tuple[str, str, str, bytes]:
    """Return the requests of a busy member: seven reads and three writes of ten.

    Now and then one is a backup or the upload of an image.
    """
    if number % BACKUP_INTERVAL == 0:
        return "GET", "/api/account/backup", "", b""
    # At most 80: a member may upload 100 images an hour.
    if number % IMAGE_INTERVAL == 1 and number < REQUESTS:
        return "POST", "/api/board/images", FORM, SMALL_IMAGE
    turn, entries = number % 10, "/api/account/entries"
    entry = {"date": "2026-11-10", "type": "expense", "amount": 1 + number}
    text = f"신한카드(1309)승인 홍*동 {number:,}원(일시불)11/10 08:31 lunch"
    writes = {
        7: (entries, {**entry, "memo": f"mixed {number}", "tags": ["tag 1"]}),
        8: (f"{entries}/notification", {"text": text}),
        9: (f"{entries}/parse", {"text": text}),
    }
    if turn in writes:
        path, body = writes[turn]
        return "POST", path, "application/json", json.dumps(body).encode()
    reads = (
        TRIVIAL_PATH,
        f"{entries}?size=50",
        f"{entries}?keyword=lunch&page=2",
        f"/api/account/statistics/month?year=2024&month={1 + number // 10 % 12}",
        "/api/account/networth",
        "/api/account/networth/trend",
        "/api/board/posts",
    )
    return "GET", reads[turn], "", b""


def measure_images(
    environment: BenchmarkEnvironment, port: int, images: int
) -> list[Row]:
    """Upload images of 40 megapixels, as many members as that takes."""
    log_progress(f"{images} images of 40 megapixels")
    body = make_form("image", make_image_bomb())
    attack = Attack("images", lambda _: ("POST", "/api/board/images", FORM, body))
    statuses: Counter[int] = Counter()
    for member, part in split_images(images):
        attackers = Attackers(port, environment.get_token(member), attack)
        asyncio.run(attackers.run(MAX_SECONDS, IMAGE_CONNECTIONS, part))
        statuses += attackers.statuses
    # Without the processes that decode: these have ended.
    sizes = [tree_memory_mib(pid) for pid in environment.list_workers()]
    counts = ", ".join(f"{statuses[code]} × {code}" for code in sorted(statuses))
    return [
        Row(
            NAME,
            f"memory after {images} images of 40 megapixels",
            f"{', '.join(f'{size:.0f}' for size in sizes)} MiB RSS; {counts}",
            None,
            f"≤ {MAX_WORKER_MEBIBYTES} MiB each, all stored",
            max(sizes) <= MAX_WORKER_MEBIBYTES and statuses[201] == images,
        )
    ]


def split_images(images: int) -> Iterator[tuple[int, int]]:
    """Yield members and the numbers of their images."""
    for member, first in enumerate(range(0, images, IMAGES_PER_MEMBER), start=1):
        yield member, min(IMAGES_PER_MEMBER, images - first)
