"""Requests made up from the OpenAPI document, as members of three kinds.

Schemathesis sends requests of every operation, valid and invalid, to the whole service.
None may be answered with 500, whatever it contains. Answers that the document does not
describe are shown, not judged.
"""

import os
import re
import subprocess
import sys
import urllib.request
from collections import Counter
from pathlib import Path

import psycopg

from benchmarks.outside_services import run_outside_services
from benchmarks.report import Row, log_progress
from benchmarks.servers import ROOT
from benchmarks.storm.run import PROVIDERS, SETTINGS
from benchmarks.storm.service_tree import ServiceTree, run_service_tree
from devstack.stores.data_dir import LOOPBACK

NAME = "fuzz"
# Of each operation and kind of member, besides the cases at the limits of its fields.
EXAMPLES = 60
MAX_SECONDS_EACH = 3_600
SEED = "20261122"
# The administrator last, who may suspend and delete the others.
MEMBERS = {2: "FREE", 3: "PREMIUM", 1: "ADMIN"}
# They end the session that the other requests need.
EXCLUDED = ("/api/auth/me", "/api/auth/logout", "/api/auth/password")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)
ANSWER_RE = re.compile(
    r'^ledger_requests_total\{method="(\w+)",route="([^"]*)",status="(\d+)"\} (.*)$',
    re.MULTILINE,
)
METRICS_TOKEN = "only-for-this-run"
SERVER_ERROR = 500


def measure(scale: float, *, keep_logs: bool = False) -> list[Row]:
    examples = max(1, int(EXAMPLES * scale))
    with run_outside_services() as address:
        settings = SETTINGS | dict.fromkeys(PROVIDERS, address)
        settings |= {
            "METRICS_TOKEN": METRICS_TOKEN,
            "BILLING_TEST_MODE": "true",
            "OCR_API_KEY": "benchmark",
            "IDP_CLIENT_ID": "benchmark",
            "IDP_TOKENINFO_URL": f"{address}/tokeninfo",
        }
        with run_service_tree(settings, keep_logs=keep_logs) as tree:
            tokens = tree.create_members(range(1, len(MEMBERS) + 1))
            with psycopg.connect(tree.database_url, autocommit=True) as connection:
                connection.execute("UPDATE member SET plan = 'FREE' WHERE id = 2")
                # Members that requests create get other ids.
                connection.execute(
                    "SELECT setval(pg_get_serial_sequence('member', 'id'), 1000)"
                )
            rows = []
            before: Counter[tuple[str, str, int]] = Counter()
            for member, kind in MEMBERS.items():
                log_progress(f"made-up requests as {kind}")
                summary = run_schemathesis(tree, kind, tokens[member], examples)
                after = read_answers(tree)
                rows.append(make_row(kind, after - before, summary))
                before = after
    return rows


def run_schemathesis(tree: ServiceTree, kind: str, token: str, examples: int) -> str:
    """Send the requests of one member; return the report, which is kept as a file."""
    url = f"http://{LOOPBACK}:{tree.port}"
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run"),
        *(f"{url}/api/schema?format=json", "--url", url),
        *("--header", f"Authorization: Bearer {token}"),
        *("--checks", CHECKS, "--max-examples", str(examples)),
        *("--phases", "examples,coverage,fuzzing,stateful", "--seed", SEED),
        *("--no-shrink", "--continue-on-failure", "--no-color"),
        *("--generation-database", ":memory:"),
        *(part for path in EXCLUDED for part in ("--exclude-path", path)),
    ]
    run = subprocess.run(
        command,
        cwd=tree.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MAX_SECONDS_EACH,
    )
    (tree.folder / f"schemathesis-{kind}.log").write_text(run.stdout)
    return run.stdout


def read_answers(tree: ServiceTree) -> Counter[tuple[str, str, int]]:
    """Return the numbers of answers so far by method, route and status."""
    request = urllib.request.Request(
        f"http://{LOOPBACK}:{tree.port}/metrics",
        headers={"Authorization": f"Bearer {METRICS_TOKEN}"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read().decode()
    return Counter(
        {
            (method, route, int(status)): int(float(count))
            for method, route, status, count in ANSWER_RE.findall(text)
        }
    )


def make_row(kind: str, answers: Counter[tuple[str, str, int]], summary: str) -> Row:
    by_status: Counter[int] = Counter()
    for (_, _, status), count in answers.items():
        by_status[status] += count
    for (method, route, status), count in sorted(answers.items()):
        if status >= SERVER_ERROR:
            log_progress(f"  {status} × {count}: {method} {route}")
    findings = summary.rpartition("SUMMARY")[2].strip().splitlines()
    for line in findings:
        log_progress(f"  {line}")
    counts = ", ".join(f"{by_status[code]} × {code}" for code in sorted(by_status))
    return Row(
        NAME,
        f"made-up requests as {kind}",
        f"{by_status.total()}: {counts}",
        None,
        "0 × 500",
        by_status[SERVER_ERROR] == 0 and by_status.total() > 0,
    )
