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
from benchmarks.dataset import IDS_PER_MEMBER, DatasetSpec
from benchmarks.entries import ENTRY
from benchmarks.environment import (
    SERVICE_COMMAND,
    TRIVIAL_PATH,
    BenchmarkEnvironment,
    bearer,
)
from benchmarks.load import CONNECTIONS, observe, run_load, send_in_turn
from benchmarks.outside_services import run_outside_services
from benchmarks.processes import measure_tree_pss, measure_tree_rss
from benchmarks.report import Row, bounded, log_progress
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK

NAME = "hostile"
ENTRIES, POSTS = "/api/account/entries", "/api/board/posts"
WALLETS = "/api/account/wallets"
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

COSTLY_CONNECTIONS, COSTLY_SECONDS, SESSIONS = 40, 5.0, 40
JSON_TYPE = "application/json"
BOMB_SIDE = 6_320  # 40 megapixels

# The first part fills caches and pools.
MIXED_SECONDS, PARTS, MAX_GROWTH = 600, 10, 1.1
MAX_WORKER_MEBIBYTES = 180


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(50, 1_000, (1_000, int(60_000 * scale), 1_000), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    first = 60 * environment.spec.all_members[-1]
    members = dict(zip(KINDS, range(first, first + len(KINDS)), strict=True))
    environment.add_members(list(members.values()))
    add_split_entries(environment, first + len(KINDS))
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
            *measure_attacks(environment, attacker),
        ]
        # The smallest size has one kind of member and a few operations.
        for kind in KINDS[: 3 if is_large(environment) else 1]:
            token = environment.get_token(members[kind])
            rows.append(measure_made_up_requests(environment, port, kind, token))
        environment.stop_server(NAME)
    return rows


def add_split_entries(environment: BenchmarkEnvironment, member: int) -> None:
    """Fill the table of lines: an empty one is planned to be read whole."""
    count = int(10_000 * environment.spec.scale)
    environment.add_members([member], count, has_lines=True)


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


def list_attacks(attacker: Target, member: int, scale: float) -> dict[str, Target]:
    first = member * IDS_PER_MEMBER
    return {
        **list_costly_reads(attacker, first),
        **list_costly_writes(attacker, first, scale),
        **list_costly_uploads(attacker, scale),
        **list_anonymous_attacks(attacker.port),
    }


def list_costly_reads(attacker: Target, first: int) -> dict[str, Target]:
    statistics, net_worth = "/api/account/statistics", "/api/account/networth"
    ten_years = "from=2016-11-01&to=2026-10-31&groupBy=day"
    paths = {
        "deep pages": f"{ENTRIES}?size=100&page=200",
        "pages by key": f"{ENTRIES}?size=100&after=2022-01-01.1",
        "search of a rare word": f"{ENTRIES}?keyword=nothing",
        "search with % and _": f"{ENTRIES}?keyword={quote('%_%_%')}",
        "amounts that no entry has": f"{ENTRIES}?minAmount=999999999999",
        "filter by tag": f"{ENTRIES}?size=100&tag=tag%201",
        "filter by type of category": f"{ENTRIES}?size=100&categoryType=income",
        "filter of 9,999 years": f"{ENTRIES}?from=0001-01-01&size=100",
        "candidates of transfers": f"{ENTRIES}/transfer-candidates?from=2021-11-01",
        "ten years by day": f"{statistics}/range?{ten_years}",
        "a year": f"{statistics}/year?year=2024",
        "520 weeks": f"{net_worth}/trend?unit=WEEK&weeks=520",
        "history of a wallet": f"/api/account/wallets/{first}/history?size=100",
        "status of budgets": "/api/account/budgets/status?year=2024&month=3",
        "portfolio": "/api/account/portfolio",
        "board search": f"{POSTS}?size=100&keyword={quote('%_')}",
        "deep pages of the board": f"{POSTS}?size=100&page=10",
        "backup": "/api/account/backup",
        "security events": "/api/auth/security-events?size=100",
        "OpenAPI document": "/api/schema",
        "unknown paths": "/api/unknown/" + "a/" * 1_000,
        "unknown parameters": f"{ENTRIES}?" + "&".join(f"p{n}=1" for n in range(900)),
        "a trivial request": TRIVIAL_PATH,
    }
    return {name: replace(attacker, path=path) for name, path in paths.items()}


def list_costly_writes(attacker: Target, first: int, scale: float) -> dict[str, Target]:
    def to(path: str) -> Target:
        return replace(attacker, path=path)

    lines = [{"amount": 1, "category": "Minor 12", "memo": "x"}]
    split: dict[str, object] = {**ENTRY, "amount": 50, "lines": lines * 50}
    del split["category"]
    many_lines = {**split, "lines": lines * 10_000}
    tags = [f"attack {number}" for number in range(100_000)]
    names = {f"field{number}": number for number in range(180_000)}
    huge = json.dumps(ENTRY).replace("12000", "9" * 100_000)
    text = "신한카드(1309)승인 " + "1,1 " * 900
    payments = "\n".join(
        f"[Web발신] 신한카드(1309)승인 홍*동 {n},000원(일시불)11/21 12:{n} 가게{n}"
        for n in range(10, 30)
    )
    nested = '{"amount":' * 3_000 + "1" + "}" * 3_000
    markup = {"category": "tips", "title": "t", "content": "<div>" * 19_000}
    target = to(f"{ENTRIES}/{first}")
    return {
        "entries with 50 lines": to(ENTRIES).sending(split),
        "entries with 50 tags": to(ENTRIES).sending({**ENTRY, "tags": tags[:50]}),
        "10,000 lines": to(ENTRIES).sending(many_lines),
        "100,000 tags": to(ENTRIES).sending({**ENTRY, "tags": tags}),
        "number of 100,000 digits": to(ENTRIES).sending_raw(huge, JSON_TYPE),
        "180,000 unknown fields": to(ENTRIES).sending(names),
        "nested JSON": to(ENTRIES).sending_raw(nested, JSON_TYPE),
        "garbage as JSON": to(ENTRIES).sending_raw("[" * 16_000, JSON_TYPE),
        "changes of a missing entry": target.sending(ENTRY, "PUT"),
        "long notification": to(f"{ENTRIES}/parse").sending({"text": text}),
        "20 payments in a text": to(f"{ENTRIES}/notification").sending(
            {"text": payments}
        ),
        "orders of 1,000 rows": to("/api/account/tags/reorder").sending(
            {"ids": list(range(1_000))}, "PUT"
        ),
        "rules of recurring entries": to("/api/account/recurring").sending(
            {**split, "name": "r", "frequency": "DAILY", "startDate": "2026-11-01"}
        ),
        "votes": to(f"{POSTS}/1/vote").sending({"vote": "UP"}),
        "nested markup": to(POSTS).sending(markup),
        "wrong own passwords": to("/api/auth/verify-password").sending(
            {"password": "wrong-battery-8"}
        ),
        "restore of deep JSON": to("/api/account/restore/json").sending_raw(
            '{"entries":' + "[" * int(4_000_000 * scale), JSON_TYPE
        ),
    }


def list_costly_uploads(attacker: Target, scale: float) -> dict[str, Target]:
    def to(path: str) -> Target:
        return replace(attacker, path=path)

    bomb = make_image_bomb(int(BOMB_SIDE * scale))
    garbage, workbook = os.urandom(5 * 2**20), make_workbook_bomb(int(500 * scale))
    restore = to("/api/account/restore?dryRun=true")
    picture = "data:image/png;base64," + "A" * 1_300_000
    return {
        "restore of garbage": restore.uploading("file", garbage),
        "restore of a zip bomb": restore.uploading("file", workbook),
        "images of 40 megapixels": to("/api/board/images").uploading("image", bomb),
        "garbage as images": to("/api/board/images").uploading("image", garbage),
        "receipts of 40 megapixels": to("/api/account/ocr/receipt").uploading(
            "image", bomb
        ),
        "profile images of 1 MB": to("/api/auth/profile-image").sending(
            {"profileImage": picture}, "PUT"
        ),
    }


def list_anonymous_attacks(port: int) -> dict[str, Target]:
    def to(path: str) -> Target:
        return Target(port, path, {})

    login = {"loginId": "member1", "password": "wrong-battery-8"}
    sign_up = {
        "loginId": "somebody",
        "password": "correct-horse-9",
        "displayName": "Somebody",
        "email": "somebody@example.com",
    }
    reset = {"requestId": "0" * 8 + "-0000-0000-0000-" + "0" * 12, "code": "1" * 8}
    return {
        "wrong passwords": to("/api/auth/login").sending(login),
        "sign-ups": to("/api/auth/signup").sending(sign_up),
        "forged sessions": Target(port, ENTRIES, bearer("x" * 43)),
        "wrong codes": to("/api/auth/password-reset/confirm").sending(
            {**reset, "newPassword": "correct-horse-9"}
        ),
        "the login page of staff": to("/admin/login/"),
    }


def measure_attacks(environment: BenchmarkEnvironment, attacker: Target) -> list[Row]:
    """Attack with all sessions of one member; observe another one."""
    is_full = is_large(environment)
    seconds, connections = COSTLY_SECONDS, COSTLY_CONNECTIONS
    if not is_full:
        seconds, connections = 0.01, 1
    member = environment.spec.large_member()
    tokens = environment.create_sessions(member, SESSIONS if is_full else 1)
    observer = bearer(environment.get_token(environment.spec.typical_member))
    observed_targets = [
        Target(attacker.port, path, observer)
        for path in (TRIVIAL_PATH, WALLETS, f"{ENTRIES}?size=50")
    ]
    # Each process knows the member of a session from its first answer.
    for _ in range(OBSERVER_RATE):
        Client(observed_targets[0])()
    rows = []
    attacks = list_attacks(attacker, member, 1 if is_full else 0.1)
    for name, target in attacks.items():
        log_progress(f"one member: {name}")
        targets = [target]
        if target.headers.get("Authorization") == attacker.headers["Authorization"]:
            targets = [
                replace(target, headers={**target.headers, **bearer(token)})
                for token in tokens
            ]
        with observe(observed_targets, OBSERVER_RATE) as observed:
            # From a process of its own, which leaves the observer its interpreter.
            statuses = run_load(targets, seconds, connections).statuses
        is_met = (
            observed.p95 <= MAX_OBSERVER_SECONDS
            and not observed.failed
            and not statuses[SERVER_ERROR]
        )
        level = f"{observed}; statuses of the attack {dict(statuses)}"
        bound = f"p95 ≤ {MAX_OBSERVER_SECONDS:g} s, none refused, no 500"
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
