"""Requests that harm: made-up and costly ones, while another member works.

`tests/core/test_rsgi.py` has slow clients.
"""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import psycopg
from openpyxl import Workbook
from PIL import Image

from benchmarks.client import Client, Target
from benchmarks.dataset import DatasetSpec
from benchmarks.entries import ENTRY
from benchmarks.environment import (
    SERVICE_COMMAND,
    TRIVIAL_PATH,
    BenchmarkEnvironment,
    bearer,
)
from benchmarks.load import CONNECTIONS, observe, send_in_turn
from benchmarks.outside_services import run_outside_services
from benchmarks.processes import measure_tree_pss, measure_tree_rss
from benchmarks.report import Row, bounded, log_progress
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK

NAME = "hostile"
ENTRIES, POSTS = "/api/account/entries", "/api/board/posts"
SERVER_ERROR = 500
OBSERVER_RATE, MAX_OBSERVER_SECONDS = 20, 0.3

EXAMPLES, SEED = 60, "20261122"
# These requests end the session.
EXCLUDED = ("/api/auth/me", "/api/auth/logout", "/api/auth/password")
KINDS = ("FREE", "PREMIUM", "ADMIN")
METRICS_TOKEN = "only-for-this-run"
SERVER_ERRORS_RE = re.compile(
    r'^ledger_requests_total\{method="(\w+)",route="([^"]*)",status="500"\}', re.M
)

COSTLY_CONNECTIONS, COSTLY_SECONDS = 16, 5.0
BOMB_SIDE = 6_320  # 40 megapixels

# The first part fills caches and pools.
MIXED_SECONDS, PARTS, MAX_GROWTH = 600, 10, 1.1
MAX_WORKER_MEBIBYTES = 180


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(50, 1_000, (1_000, int(50_000 * scale), 1_000), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    first = 5 * environment.spec.all_members[-1]
    members = dict(zip(KINDS, range(first, first + len(KINDS)), strict=True))
    environment.add_members(list(members.values()))
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        for kind, member in members.items():
            column = "role" if kind == "ADMIN" else "plan"
            statement = f"UPDATE member SET {column} = %s WHERE id = %s"
            connection.execute(statement, [kind, member])
    with run_outside_services() as providers:
        settings = {"BILLING_TEST_MODE": "true", "OCR_API_KEY": "benchmark"}
        port = environment.serve(
            NAME, SERVICE_COMMAND, METRICS_TOKEN=METRICS_TOKEN, **settings, **providers
        )
        token = environment.get_token(environment.spec.large_member())
        attacker = Target(port, TRIVIAL_PATH, bearer(token))
        rows = [
            *measure_memory(environment, attacker),
            *measure_costly_requests(environment, attacker),
        ]
        # The smallest size has one kind of member and a few operations.
        for kind in KINDS[: 3 if is_large(environment) else 1]:
            token = environment.get_token(members[kind])
            rows.append(measure_made_up_requests(environment, port, kind, token))
        environment.stop_server(NAME)
    return rows


def measure_made_up_requests(
    environment: BenchmarkEnvironment, port: int, kind: str, token: str
) -> Row:
    log_progress(f"made-up requests as {kind}")
    output = run_schemathesis(port, token, environment)
    (environment.directory / f"schemathesis-{kind}.log").write_text(output)
    metrics = Target(port, "/metrics", bearer(METRICS_TOKEN))
    found = SERVER_ERRORS_RE.findall(Client(metrics)().decode())
    errors = sorted({f"{method} {path}" for method, path in found})
    summary = " ".join(re.findall(r"\d+ generated|\d+ passed", output))
    text = f"made-up requests as {kind}: operations that answered 500"
    level = f"{errors or 'none'}; {summary}"
    return Row(NAME, text, level, len(errors), "0", not errors)


def is_large(environment: BenchmarkEnvironment) -> bool:
    return environment.spec.scale >= 0.1


def run_schemathesis(port: int, token: str, environment: BenchmarkEnvironment) -> str:
    url = f"http://{LOOPBACK}:{port}"
    examples = max(1, int(EXAMPLES * environment.spec.scale))
    phases, selected = "fuzzing", ["--include-path", "/api/account/wallets"]
    if is_large(environment):
        phases, selected = "examples,coverage,fuzzing,stateful", []
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run"),
        *(f"{url}/api/schema?format=json", "--url", url),
        *("--header", f"Authorization: Bearer {token}"),
        *("--checks", "not_a_server_error", "--max-examples", str(examples)),
        *("--phases", phases, "--seed", SEED, "--no-shrink", "--continue-on-failure"),
        *("--no-color", "--generation-database", ":memory:", *selected),
        *(part for path in EXCLUDED for part in ("--exclude-path", path)),
    ]
    run = subprocess.run(
        command,
        cwd=environment.directory,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # Failed checks give 1.
    if run.returncode not in {0, 1}:
        raise RuntimeError(run.stdout)
    return run.stdout


def list_costly_requests(attacker: Target, scale: float) -> dict[str, Target]:
    def to(path: str) -> Target:
        return replace(attacker, path=path)

    bomb = make_image_bomb(int(BOMB_SIDE * scale))
    garbage, workbook = os.urandom(5 * 2**20), make_workbook_bomb(int(500 * scale))
    restore, json_type = to("/api/account/restore?dryRun=true"), "application/json"
    text = "신한카드(1309)승인 " + "1,1 " * 900
    huge = json.dumps(ENTRY).replace("12000", "9" * 100_000)
    tags = [f"attack {number}" for number in range(1_000)]
    names = {f"field{number}": number for number in range(100_000)}
    markup = {"category": "tips", "title": "t", "content": "<div>" * 19_000}
    login = {"loginId": "member1", "password": "wrong"}
    ten_years = "from=2016-11-01&to=2026-10-31&groupBy=day"
    return {
        "deep pages": to(f"{ENTRIES}?size=100&page=499"),
        "search of a rare word": to(f"{ENTRIES}?keyword=nothing"),
        "search with % and _": to(f"{ENTRIES}?keyword={quote('%_%_%')}"),
        "filter of 9,999 years": to(f"{ENTRIES}?from=0001-01-01&size=100"),
        "ten years by day": to(f"/api/account/statistics/range?{ten_years}"),
        "520 weeks": to("/api/account/networth/trend?unit=WEEK&weeks=520"),
        "board search": to(f"{POSTS}?size=100&keyword={quote('%_')}"),
        "backup": to("/api/account/backup"),
        "OpenAPI document": to("/api/schema"),
        "unknown paths": to("/api/unknown/" + "a/" * 1_000),
        "restore of garbage": restore.uploading("file", garbage),
        "restore of a zip bomb": restore.uploading("file", workbook),
        "restore of deep JSON": restore.sending_raw(
            '{"entries":' + "[" * 4_000_000, json_type
        ),
        "long notification": to(f"{ENTRIES}/parse").sending({"text": text}),
        "1,000 tags": to(ENTRIES).sending({**ENTRY, "tags": tags}),
        "number of 100,000 digits": to(ENTRIES).sending_raw(huge, json_type),
        "100,000 fields": to(ENTRIES).sending(names),
        "images of 40 megapixels": to("/api/board/images").uploading("image", bomb),
        "receipts of 40 megapixels": to("/api/account/ocr/receipt").uploading(
            "image", bomb
        ),
        "nested markup": to(POSTS).sending(markup),
        "wrong passwords": Target(attacker.port, "/api/auth/login", {}).sending(login),
    }


def measure_costly_requests(
    environment: BenchmarkEnvironment, attacker: Target
) -> list[Row]:
    is_full = is_large(environment)
    seconds, connections = COSTLY_SECONDS, COSTLY_CONNECTIONS
    if not is_full:
        seconds, connections = 0.01, 1
    observer = bearer(environment.get_token(environment.spec.typical_member))
    observed_targets = [
        Target(attacker.port, path, observer)
        for path in (TRIVIAL_PATH, f"{ENTRIES}?size=50")
    ]
    rows = []
    for name, target in list_costly_requests(attacker, 1 if is_full else 0.1).items():
        log_progress(f"one member: {name}")
        with observe(observed_targets, OBSERVER_RATE) as observed:
            _, statuses = send_in_turn([target], seconds, connections)
        errors = statuses[SERVER_ERROR] + observed.failed.count(SERVER_ERROR)
        is_met = observed.p95 <= MAX_OBSERVER_SECONDS and not errors
        level = f"{observed}; statuses of the attack {dict(statuses)}"
        bound = f"p95 ≤ {MAX_OBSERVER_SECONDS:g} s, no 500"
        rows.append(Row(NAME, name, level, observed.p95, bound, is_met))
    return rows


def make_image_bomb(side: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (side, side)).save(file, "PNG")
    return file.getvalue()


def make_workbook_bomb(megabytes: int) -> bytes:
    plain, bomb = io.BytesIO(), io.BytesIO()
    Workbook().save(plain)
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            before, tag, after = source.read(name).partition(b"<sheetData")
            with target.open(name, "w") as part:
                part.write(before + tag)
                if tag:
                    part.write(b">")
                    for _ in range(megabytes):
                        part.write(b"<row><c><v>1</v></c></row>" * 40_000)
                    after = b"</sheetData>" + after.partition(b">")[2]
                part.write(after)
    return bomb.getvalue()


def measure_memory(environment: BenchmarkEnvironment, attacker: Target) -> list[Row]:
    paths = (
        *(TRIVIAL_PATH, "/api/account/networth", POSTS),
        *(f"{ENTRIES}?size=50", f"{ENTRIES}?keyword=lunch"),
        "/api/account/statistics/month?year=2024&month=3",
    )
    targets = [replace(attacker, path=path) for path in paths]
    targets.append(replace(attacker, path=ENTRIES).sending(ENTRY))
    seconds = MIXED_SECONDS * environment.spec.scale / PARTS
    log_progress("memory over mixed requests")
    sizes: list[float] = []
    for _ in range(PARTS):
        send_in_turn(targets, seconds, CONNECTIONS)
        sizes.append(max(map(measure_tree_pss, environment.list_workers(NAME))))
    bomb = make_image_bomb(BOMB_SIDE if is_large(environment) else 100)
    image = replace(attacker, path="/api/board/images").uploading("image", bomb)
    send_in_turn([image], seconds, 2)
    largest = max(map(measure_tree_rss, environment.list_workers(NAME)))
    level = f"{sizes[0]:.0f} → {sizes[-1]:.0f} MiB PSS"
    text, growth = "memory over mixed requests, growth", sizes[-1] / sizes[0]
    after = "memory of a web process after images of 40 megapixels, MiB RSS"
    return [
        bounded(NAME, text, level, growth, MAX_GROWTH),
        bounded(NAME, after, "", largest, MAX_WORKER_MEBIBYTES),
    ]
