"""The web server: bodies of every kind, slow clients, refusals, a full queue."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from core import rsgi
from core.rsgi import MAX_BODY_BYTES, MAX_IN_MEMORY_BYTES, build_environ
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK
from tests.support.stores import find_closed_port

# Those of `tests.support.echo`.
THREADS, MAX_WAITING_REQUESTS, BODY_TIMEOUT_SECONDS = 2, 2, 1.0
# The service's own limits of 10 seconds, made short.
TIMEOUT_MILLISECONDS = 2_000
START = f"""
import sys
from config import server
server.HEADER_TIMEOUT_MILLISECONDS = {TIMEOUT_MILLISECONDS}
server.WRITE_TIMEOUT_MILLISECONDS = {TIMEOUT_MILLISECONDS}
server.main(*sys.argv[1:])
"""


class Server:
    """Granian with an application that echoes, in a process of its own."""

    def __init__(self, log: Path) -> None:
        self.port = find_closed_port()
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", START),
                    "tests.support.echo:application",
                ],
                cwd=ROOT,
                env=os.environ
                | {"BIND": f"{LOOPBACK}:{self.port}", "WEB_CONCURRENCY": "1"},
                stdout=out,
                stderr=out,
            )
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with suppress(OSError):
                socket.create_connection((LOOPBACK, self.port)).close()
                return
            time.sleep(0.05)
        raise AssertionError(log.read_text())

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)

    def send(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        with closing(self.connect()) as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")

    def has_connection_to(self, port: int) -> bool:
        """Return True if the server's end of a client's connection is established."""
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        ends = [line.split()[1:4] for line in lines]
        own, remote = f":{self.port:04X}", f":{port:04X}"
        return any(
            local.endswith(own) and peer.endswith(remote) and state == "01"
            for local, peer, state in ends
        )

    def send_raw(self, *pieces: bytes, pause: float = 0.0) -> bytes:
        """Return all that the server sends until it closes the connection."""
        with socket.create_connection((LOOPBACK, self.port), timeout=20) as connection:
            # The server may have answered and closed before the last piece.
            with suppress(BrokenPipeError, ConnectionResetError):
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause)
            received = b""
            while piece := connection.recv(65_536):
                received += piece
            return received


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("rsgi") / "log")
    try:
        yield running
    finally:
        running.process.terminate()
        running.process.wait(15)


SIZES = [0, 1, MAX_IN_MEMORY_BYTES, MAX_IN_MEMORY_BYTES + 1, 3_000_000]


@pytest.mark.parametrize("size", SIZES)
def test_body_with_a_length_arrives_whole(server: Server, size: int) -> None:
    status, echo = server.send("POST", "/", b"x" * size)
    assert (status, echo["length"], echo["announced"]) == (200, size, str(size))


@pytest.mark.parametrize("size", SIZES)
def test_chunked_body_arrives_whole_with_its_length(server: Server, size: int) -> None:
    pieces = (b"x" * min(1_000, size - at) for at in range(0, size, 1_000))
    status, echo = server.send("POST", "/", pieces)
    assert (status, echo["length"], echo["announced"]) == (200, size, str(size))


def test_length_may_be_told_twice(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    length = b"Content-Length: 3\r\nContent-Length: 3\r\n\r\n"
    assert b'"length": 3' in server.send_raw(head + length + b"abc")


def test_lengths_that_differ_are_refused(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    length = b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n"
    assert b" 400 " in server.send_raw(head + length + b"abc")


def test_body_above_every_limit_is_refused(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    length = b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1)
    assert b'"PAYLOAD_TOO_LARGE"' in server.send_raw(head + length)


def test_chunked_body_above_every_limit_is_refused(server: Server) -> None:
    pieces = (b"x" * 100_000 for _ in range(MAX_BODY_BYTES // 100_000 + 1))
    status, problem = server.send("POST", "/", pieces)
    assert (status, problem["code"]) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("size", [100, MAX_IN_MEMORY_BYTES + 100])
def test_body_that_does_not_come_is_given_up(server: Server, size: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\nab" % size
    started_at = time.monotonic()
    received = server.send_raw(head)
    assert b" 408 " in received
    assert b'"REQUEST_TIMEOUT"' in received
    assert b"connection: close" in received.lower()
    assert time.monotonic() - started_at < 3 * BODY_TIMEOUT_SECONDS


def test_body_that_drips_is_given_up(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"
    received = server.send_raw(head, *[b"x"] * 12, pause=0.1)
    assert b" 408 " in received


BROKEN = {
    "chunk without a size": b"5\r\nabcde\r\nZZ\r\n",
    "first chunk without a size": b"ZZ\r\n",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=list(BROKEN))
def test_broken_chunked_body_is_refused(server: Server, body: bytes) -> None:
    # Its beginning must not be taken for the whole.
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    received = server.send_raw(head + body)
    assert b" 400 " in received
    assert b" 200 " not in received


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 10\r\n\r\nabc",
        b"Content-Length: 99999\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
def test_body_of_a_client_that_went_away_reaches_nobody(
    server: Server, head: bytes
) -> None:
    before = server.send("GET", "/count")[1]
    with socket.create_connection((LOOPBACK, server.port)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + head)
        time.sleep(0.2)
    time.sleep(0.3)
    assert server.send("GET", "/count")[1] == before + 1


def test_silent_clients_hold_no_thread(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with ExitStack() as silent:
        for _ in range(20 * THREADS):
            address = LOOPBACK, server.port
            connection = silent.enter_context(socket.create_connection(address))
            connection.sendall(head)
        started_at = time.monotonic()
        assert server.send("GET", "/")[0] == 200
        assert time.monotonic() - started_at < BODY_TIMEOUT_SECONDS / 2


@pytest.mark.skipif(sys.platform != "linux", reason="the option is Linux's")
def test_client_that_does_not_read_loses_its_connection(server: Server) -> None:
    # The kernel drops it without a word to the client.
    with socket.create_connection((LOOPBACK, server.port)) as connection:
        port = connection.getsockname()[1]
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(1)
        assert server.has_connection_to(port)
        end = time.monotonic() + 5 * TIMEOUT_MILLISECONDS / 1_000
        while server.has_connection_to(port):
            assert time.monotonic() < end
            time.sleep(0.2)


def test_headers_that_do_not_come_end_the_connection(server: Server) -> None:
    # `send_raw` waits for that, for 20 seconds.
    received = server.send_raw(b"GET / HTTP/1.1\r\nHost:")
    assert b" 200 " not in received


def test_health_is_answered_while_all_threads_wait_and_the_rest_is_refused(
    server: Server,
) -> None:
    with ExitStack() as stack:
        waiting = []
        for _ in range(THREADS + MAX_WAITING_REQUESTS):
            waiting.append(stack.enter_context(closing(server.connect())))
            each = {"Authorization": f"Bearer {len(waiting)}"}
            waiting[-1].request("GET", "/sleep", headers=each)
            time.sleep(0.05)
        assert server.send("GET", "/api/health/live")[0] == 200
        refused = stack.enter_context(closing(server.connect()))
        refused.request("GET", "/sleep")
        response = refused.getresponse()
        assert response.status == 503
        assert not response.will_close
        assert int(response.headers["Retry-After"]) >= 1
        assert json.loads(response.read())["code"] == "SERVICE_UNAVAILABLE"
        assert [each.getresponse().status for each in waiting] == [200] * len(waiting)


def test_rejected_request_is_not_worked_on(server: Server) -> None:
    # The thread comes to it when its client has its answer.
    with ExitStack() as stack:
        asleep = [stack.enter_context(closing(server.connect())) for _ in range(2)]
        for number, each in enumerate(asleep):
            each.request("GET", "/sleep-long", headers={"Cookie": f"id={number}"})
        time.sleep(0.2)
        before = server.send("GET", "/api/health/count")[1]
        status, problem = server.send("GET", "/")
        assert (status, problem["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert [each.getresponse().status for each in asleep] == [200, 200]
    assert server.send("GET", "/api/health/count")[1] == before + 1


def test_one_client_leaves_a_thread_to_others(server: Server) -> None:
    with ExitStack() as stack:
        greedy = [stack.enter_context(closing(server.connect())) for _ in range(3)]
        for each in greedy:
            each.request("GET", "/sleep", headers={"Authorization": "Bearer greedy"})
        time.sleep(0.2)
        started_at = time.monotonic()
        assert server.send("GET", "/", Authorization="Bearer other")[0] == 200
        assert time.monotonic() - started_at < 0.5
        assert [each.getresponse().status for each in greedy] == [200] * 3


def test_requests_of_one_client_are_limited(server: Server) -> None:
    with ExitStack() as stack:
        greedy = [stack.enter_context(closing(server.connect())) for _ in range(5)]
        for each in greedy:
            each.request("GET", "/sleep", headers={"X-Forwarded-For": "192.0.2.9"})
            time.sleep(0.05)
        statuses = [each.getresponse().status for each in reversed(greedy)]
    assert statuses == [503, 503, 200, 200, 200]
    assert server.send("GET", "/", None, **{"X-Forwarded-For": "192.0.2.9"})[0] == 200


def test_url_that_is_too_long_is_refused(server: Server) -> None:
    assert server.send("GET", f"/{'x' * 8_000}")[0] == 200
    status, problem = server.send("GET", f"/?{'x' * 9_000}")
    assert (status, problem["code"]) == (414, "URI_TOO_LONG")


def test_refusals_outside_of_django_are_in_the_language_of_the_client(
    server: Server,
) -> None:
    path = f"/?{'x' * 9_000}"
    assert server.send("GET", path)[1]["detail"] == "The URL is too long."
    korean = {"Accept-Language": "ko-KR,ko;q=0.9"}
    assert server.send("GET", path, **korean)[1]["detail"] == "주소가 너무 길어요."
    assert server.send("GET", "/fail", **korean)[1]["title"] == "서버 오류"


def test_failure_outside_of_django_is_a_500(server: Server) -> None:
    status, problem = server.send("GET", "/fail")
    assert (status, problem["code"]) == (500, "INTERNAL_ERROR")
    assert server.send("GET", "/")[0] == 200


def test_connection_serves_requests_whose_body_nobody_read(server: Server) -> None:
    with closing(server.connect()) as connection:
        for _ in range(3):
            connection.request("POST", "/unread", b"x" * 100_000)
            response = connection.getresponse()
            assert response.read() == b"null"
            assert not response.will_close


def test_environment_follows_the_standard(server: Server) -> None:
    path = "/a%20b/%ED%95%9C?q=%ED%95%9C+1"
    with closing(server.connect()) as connection:
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in (
            ("X-Forwarded-For", "1.1.1.1"),
            ("X-Forwarded-For", "2.2.2.2"),
            ("X_Forwarded_For", "6.6.6.6"),
            ("Cookie", "a=1"),
            ("Cookie", "b=2"),
            ("Content-Type", "text/plain"),
        ):
            connection.putheader(name, value)
        connection.endheaders()
        environ = json.loads(connection.getresponse().read())["environ"]
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/a b/한"
    assert environ["QUERY_STRING"] == "q=%ED%95%9C+1"
    assert environ["HTTP_X_FORWARDED_FOR"] == "1.1.1.1,2.2.2.2"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"
    assert environ["CONTENT_TYPE"] == "text/plain"
    assert environ["HTTP_HOST"] == f"{LOOPBACK}:{server.port}"
    assert (environ["REMOTE_ADDR"], environ["SERVER_PORT"]) == (
        LOOPBACK,
        str(server.port),
    )
    assert "HTTP_CONTENT_TYPE" not in environ


def test_address_of_a_client_without_one_is_empty() -> None:
    class Scope:
        scheme, method, http_version = "http", "GET", "1.1"
        server, client, path, query_string = "unix", "unix", "/", ""
        headers: dict[str, str] = {}

    assert build_environ(Scope())["REMOTE_ADDR"] == ""


def test_worker_whose_main_process_was_killed_ends(tmp_path: Path) -> None:
    # Else it would go on answering beside the next start, on the same port.
    server = Server(tmp_path / "log")
    worker = int(server.send("GET", "/pid")[1])
    server.process.kill()
    server.process.wait()
    end = time.monotonic() + 5 * rsgi.PARENT_CHECK_SECONDS + 5
    while time.monotonic() < end and Path(f"/proc/{worker}").exists():
        time.sleep(0.1)
    assert not Path(f"/proc/{worker}").exists()


def test_requests_in_progress_are_answered_before_the_end(tmp_path: Path) -> None:
    server = Server(tmp_path / "log")
    statuses: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: statuses.append(server.send("GET", "/sleep")[0])
        )
        for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    server.process.terminate()
    for thread in threads:
        thread.join()
    assert statuses == [200] * THREADS
    assert server.process.wait(10) == 0
