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
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from core.rsgi import MAX_BODY_BYTES, MAX_IN_MEMORY_BYTES, build_environ
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK
from tests.support.stores import find_closed_port
from tests.support.waiting import wait_until

# As in `tests.support.echo`.
THREADS, MAX_WAITING_REQUESTS = 2, 2
# The service's own limits of 10 seconds, made short.
TIMEOUT_MILLISECONDS = 1_000
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
                [*(sys.executable, "-c", START), "tests.support.echo:application"],
                cwd=ROOT,
                env=os.environ
                | {"BIND": f"{LOOPBACK}:{self.port}", "WEB_CONCURRENCY": "1"},
                stdout=out,
                stderr=out,
            )

        def listens() -> bool:
            with suppress(OSError):
                socket.create_connection((LOOPBACK, self.port)).close()
                return True
            assert self.process.poll() is None, log.read_text()
            return False

        wait_until(listens)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)

    def send(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        with closing(self.connect()) as connection:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")

    @contextmanager
    def holding(self) -> Iterator[ExitStack]:
        """Let requests for `/wait` wait during the block; yield a stack of clients."""
        self.send("GET", "/api/health/hold")
        with ExitStack() as clients:
            try:
                yield clients
            finally:
                self.send("GET", "/api/health/release")

    def start_request(
        self, clients: ExitStack, **headers: str
    ) -> http.client.HTTPConnection:
        connection = clients.enter_context(closing(self.connect()))
        connection.request("GET", "/wait", headers=headers)
        return connection

    def read_load(self) -> list[int]:
        """Return the numbers of busy threads and of waiting requests."""
        load: list[int] = self.send("GET", "/api/health/load")[1]
        return load

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
    received = server.send_raw(head)
    assert b" 408 " in received
    assert b'"REQUEST_TIMEOUT"' in received
    assert b"connection: close" in received.lower()


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
        port = connection.getsockname()[1]
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + head)
        wait_until(lambda: server.has_connection_to(port))
    wait_until(lambda: not server.has_connection_to(port))
    assert server.send("GET", "/count")[1] == before + 1


def test_silent_clients_hold_no_thread(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with ExitStack() as silent:
        for _ in range(20 * THREADS):
            address = LOOPBACK, server.port
            connection = silent.enter_context(socket.create_connection(address))
            connection.sendall(head)
        assert server.read_load() == [0, 0]
        assert server.send("GET", "/")[0] == 200


@pytest.mark.skipif(sys.platform != "linux", reason="the option is Linux's")
def test_client_that_does_not_read_loses_its_connection(server: Server) -> None:
    # The kernel drops it without a word to the client.
    with socket.create_connection((LOOPBACK, server.port)) as connection:
        port = connection.getsockname()[1]
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: server.has_connection_to(port))
        wait_until(lambda: not server.has_connection_to(port))
    assert server.send("GET", "/")[0] == 200


def test_headers_that_do_not_come_end_the_connection(server: Server) -> None:
    # `send_raw` waits for that, for 20 seconds.
    received = server.send_raw(b"GET / HTTP/1.1\r\nHost:")
    assert b" 200 " not in received


def test_health_is_answered_while_all_threads_wait_and_the_rest_is_refused(
    server: Server,
) -> None:
    with server.holding() as clients:
        waiting = [
            server.start_request(clients, Authorization=f"Bearer {number}")
            for number in range(THREADS + MAX_WAITING_REQUESTS)
        ]
        wait_until(lambda: server.read_load() == [THREADS, MAX_WAITING_REQUESTS])
        assert server.send("GET", "/api/health/live")[0] == 200
        response = server.start_request(clients).getresponse()
        assert response.status == 503
        assert not response.will_close
        assert int(response.headers["Retry-After"]) >= 1
        assert json.loads(response.read())["code"] == "SERVICE_UNAVAILABLE"
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in waiting] == [200] * len(waiting)


def test_rejected_request_is_not_worked_on(server: Server) -> None:
    # The thread comes to it when its client has its answer.
    before = server.send("GET", "/api/health/count")[1]
    with server.holding() as clients:
        waiting = [server.start_request(clients, Cookie=f"id={n}") for n in range(2)]
        wait_until(lambda: server.read_load() == [2, 0])
        status, problem = server.send("GET", "/")
        assert (status, problem["code"]) == (503, "SERVICE_UNAVAILABLE")
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in waiting] == [200, 200]
        assert server.send("GET", "/api/health/count")[1] == before + 2


def test_one_client_leaves_a_thread_to_others(server: Server) -> None:
    with server.holding() as clients:
        greedy = [
            server.start_request(clients, Authorization="Bearer greedy")
            for _ in range(3)
        ]
        wait_until(lambda: server.read_load() == [1, 2])
        assert server.send("GET", "/", Authorization="Bearer other")[0] == 200
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in greedy] == [200] * 3


def test_requests_of_one_client_are_limited(server: Server) -> None:
    sender = {"X-Forwarded-For": "192.0.2.9"}
    with server.holding() as clients:
        greedy = [server.start_request(clients, **sender) for _ in range(3)]
        wait_until(lambda: server.read_load() == [1, 2])
        for _ in range(2):
            assert server.start_request(clients, **sender).getresponse().status == 503
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in greedy] == [200] * 3
    assert server.send("GET", "/", None, **sender)[0] == 200


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
            *(("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "2.2.2.2")),
            *(("X_Forwarded_For", "6.6.6.6"), ("Cookie", "a=1")),
            *(("Cookie", "b=2"), ("Content-Type", "text/plain")),
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
    wait_until(lambda: not Path(f"/proc/{worker}").exists())
    with pytest.raises(ConnectionRefusedError):
        server.send("GET", "/")


def test_requests_in_progress_are_answered_before_the_end(tmp_path: Path) -> None:
    server = Server(tmp_path / "log")
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(server.send("GET", "/wait")[0]))
        for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: server.read_load() == [1, 1])
    server.send("GET", "/api/health/release-soon")
    server.process.terminate()
    for thread in threads:
        thread.join()
    assert statuses == [200] * THREADS
    assert server.process.wait(10) == 0
