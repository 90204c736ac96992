"""Phones whose answers are lost since the web server is killed (spec 3.23)."""

import contextlib
import http.client
import json
import math
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from devstack.stores.data_dir import LOOPBACK
from tests.support.fault_injection import RunningService, run_service
from tests.support.scale import scaled

ENTRIES = "/api/account/entries"
PHONES = 8
# A little more than the requests of all phones at once take.
LONGEST_DELAY_SECONDS = 0.05


def post(service: RunningService, key: str) -> tuple[int, Any, bool] | None:
    """Return status, body and whether it is replayed, None for a lost answer."""
    connection = http.client.HTTPConnection(LOOPBACK, service.port, timeout=15)
    body = {"date": "2026-11-02", "type": "expense", "amount": 5, "memo": key}
    headers = {
        "Authorization": f"Bearer {service.tokens[0]}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    try:
        connection.request("POST", ENTRIES, json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        is_replayed = response.headers["Idempotency-Replayed"] == "true"
        return response.status, json.loads(content), is_replayed
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def post_and_kill(service: RunningService, keys: list[str]) -> dict[str, Any]:
    """Send a request under each key, and kill the web server meanwhile."""
    answers: dict[str, Any] = {}
    processes = [service.process.pid, *service.list_workers()]

    def send(key: str) -> None:
        answers[key] = post(service, key)

    threads = [threading.Thread(target=send, args=[key]) for key in keys]
    for thread in threads:
        thread.start()
    time.sleep(random.uniform(0, LONGEST_DELAY_SECONDS))
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for thread in threads:
        thread.join()
    service.process.wait()
    service.serve()
    return answers


def test_request_that_is_sent_until_it_is_answered_has_one_effect() -> None:
    rounds = scaled(3, 25)
    outcomes: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="household-ledger-kills-") as folder,
        run_service(Path(folder)) as service,
    ):
        for number in range(rounds):
            keys = [f"round-{number}-phone-{phone}" for phone in range(PHONES)]
            first = post_and_kill(service, keys)
            for key in keys:
                while (answer := post(service, key)) is None or answer[0] == 503:
                    time.sleep(0.05)
                status, body, is_replayed = answer
                assert status == 201, body
                before = first[key]
                if before is not None and before[0] == 201:
                    assert is_replayed
                    assert body == before[1]
                outcomes["lost" if before is None else "answered"] += 1
                outcomes["replayed" if is_replayed else "booked"] += 1
        token = service.tokens[0]
        memos: Counter[str] = Counter()
        for page in range(1, math.ceil(rounds * PHONES / 100) + 1):
            path = f"{ENTRIES}?size=100&page={page}&keyword=phone"
            rows = json.loads(service.ask(path, token)[2])["results"]
            memos.update(row["memo"] for row in rows)
    assert set(memos.values()) == {1}
    assert len(memos) == rounds * PHONES
    # Otherwise nothing was shown.
    assert outcomes["lost"] > 0, outcomes
