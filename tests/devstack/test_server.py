"""`script/server`, from its first line of output to its shutdown."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK, StoreDir, is_locked, is_port_free
from tests.support.factories import PASSWORD
from tests.support.stores import find_closed_port
from tests.support.waiting import wait_until

END_SECONDS = 30
ADMINISTRATOR = {
    "DJANGO_SUPERUSER_LOGIN_ID": "chief",
    "DJANGO_SUPERUSER_EMAIL": "chief@example.com",
    "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
}
# What this test run has set for itself.
OURS = ("DATABASE_", "REDIS_URL", "SECRET_KEY", "BIND", "PYTEST_")


def describe(data_dir: Path, port: int) -> dict[str, str]:
    """Return an environment in which only a folder and a port are set."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
    own = {"DATA_DIR": str(data_dir), "PORT": str(port), "WEB_CONCURRENCY": "1"}
    return left | own | {"DJANGO_SETTINGS_MODULE": "config.settings"}


@contextmanager
def run_server(data_dir: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    with (
        (data_dir / "log").open("a") as log,
        subprocess.Popen(
            [sys.executable, "-m", "devstack.supervisor"],
            cwd=ROOT,
            env=describe(data_dir, port),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def read_words(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            return said
    raise AssertionError("the server ended before it answered")


def ask(port: int, path: str, body: Any = None) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    url = f"http://{LOOPBACK}:{port}{path}"
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=15) as response:
        return response.status, response.read()


def manage(data_dir: Path, port: int, *arguments: str) -> None:
    """Run `script/manage` in the same surroundings."""
    command = [
        sys.executable,
        "-m",
        "devstack.environment",
        sys.executable,
        "manage.py",
    ]
    surroundings = describe(data_dir, port) | ADMINISTRATOR
    subprocess.run(
        [*command, *arguments], cwd=ROOT, env=surroundings, check=True, timeout=60
    )


def wait_for_a_job(data_dir: Path) -> None:
    """Wait for a job, which Beat sends at its first start and the worker does."""
    url = (data_dir / "postgres" / "url").read_text().strip()
    done = "SELECT FROM job_run WHERE job = 'expire_plans'"
    with psycopg.connect(url, autocommit=True) as connection:
        wait_until(lambda: connection.execute(done).fetchone() is not None)


def check_what_the_web_server_does_itself(port: int) -> None:
    """Check that a refusal leaves the connection open, and that excess is refused."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=15)
    for path in ("/api/nothing", "/api/account/entries", "/api/auth/login"):
        connection.request("PUT", path, b"x" * 16_000)
        refused = connection.getresponse()
        assert (refused.status, bool(refused.read())) in {
            (404, True),
            (405, True),
            (401, True),
        }
        assert not refused.will_close
    connection.request("GET", f"/api/health?{'x' * 9_000}")
    refused = connection.getresponse()
    assert refused.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(refused.read())
    assert (refused.status, problem["status"]) == (414, 414)
    assert problem["code"] == "URI_TOO_LONG"
    connection.close()
    check_that_silence_holds_nothing_up(port)


def check_that_silence_holds_nothing_up(port: int) -> None:
    """Check that more clients than threads, which send headers only, hold up nobody."""
    silent = []
    for _ in range(8):
        connection = socket.create_connection((LOOPBACK, port))
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
        silent.append(connection)
    # Within 15 seconds, the time limit of a question: a silent client has ten for each.
    assert ask(port, "/api/health/live")[0] == 200
    for connection in silent:
        connection.close()


def test_server_brings_everything_and_stops_all_of_it_twice() -> None:
    login = {"loginId": "chief", "password": PASSWORD}
    with tempfile.TemporaryDirectory(prefix="household-ledger-server-") as name:
        data_dir, port = Path(name), find_closed_port()
        data_dir.chmod(0o711)  # PostgreSQL may run under another account
        for number in (signal.SIGTERM, signal.SIGINT):
            with run_server(data_dir, port) as process:
                said = read_words(process)
                for path in ("/", "/api/docs", "/admin/", "/api/health"):
                    assert f"http://{LOOPBACK}:{port}{path}\n" in said
                    assert ask(port, path)[0] == 200
                health = json.loads(ask(port, "/api/health")[1])
                assert set(health.values()) == {"ok", "up"}
                if number == signal.SIGTERM:
                    check_what_the_web_server_does_itself(port)
                    manage(data_dir, port, "createsuperuser", "--noinput")
                    wait_for_a_job(data_dir)
                _, answer = ask(port, "/api/auth/login", login)
                assert json.loads(answer)["member"]["role"] == "ADMIN"
                process.send_signal(number)
                assert process.wait(END_SECONDS) == 0
            assert is_port_free(port)
            for store in ("postgres", "valkey"):
                assert not is_locked(StoreDir(data_dir / store).supervisor_lock)
        assert (data_dir / "secret_key").stat().st_mode & 0o077 == 0
        lines = (data_dir / "log").read_text().splitlines()
        # A Beat that is stopped while it reads its schedule says so with a traceback.
        faults = [
            each for each in lines if "Traceback" in each and "celery" not in each
        ]
        assert faults == []
