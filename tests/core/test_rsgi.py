"""The web server: bodies of every kind, slow clients, refusals, a full queue."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from core.rsgi import (
    MAX_BODY_BYTES,
    MAX_IN_MEMORY_BYTES,
    MAX_LARGE_BODIES_PER_CLIENT,
    build_environ,
)
from devstack.stores.data_dir import LOOPBACK
from tests.support.waiting import wait_until
from tests.support.web_server import WEB_ORIGIN, WebServer

# As in `tests.support.echo`.
THREADS, MAX_WAITING_REQUESTS = 2, 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    running = WebServer(tmp_path_factory.mktemp("rsgi") / "log")
    try:
        yield running
    finally:
        running.stop()


SIZES = [0, 1, MAX_IN_MEMORY_BYTES, MAX_IN_MEMORY_BYTES + 1, 3_000_000]


@pytest.mark.parametrize("size", SIZES)
def test_body_with_a_length_arrives_whole(server: WebServer, size: int) -> None:
    status, echo = server.send("POST", "/", b"x" * size)
    assert (status, echo["length"], echo["announced"]) == (200, size, str(size))


@pytest.mark.parametrize("size", SIZES)
def test_chunked_body_arrives_whole_with_its_length(
    server: WebServer, size: int
) -> None:
    pieces = (b"x" * min(1_000, size - at) for at in range(0, size, 1_000))
    status, echo = server.send("POST", "/", pieces)
    assert (status, echo["length"], echo["announced"]) == (200, size, str(size))


def test_length_may_be_told_twice(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    length = b"Content-Length: 3\r\nContent-Length: 3\r\n\r\n"
    assert b'"length": 3' in server.send_raw(head + length + b"abc")


def test_lengths_that_differ_are_refused(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    length = b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n"
    assert b" 400 " in server.send_raw(head + length + b"abc")


def test_body_above_every_limit_is_refused(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    length = b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1)
    assert b'"PAYLOAD_TOO_LARGE"' in server.send_raw(head + length)


def test_chunked_body_above_every_limit_is_refused(server: WebServer) -> None:
    pieces = (b"x" * 100_000 for _ in range(MAX_BODY_BYTES // 100_000 + 1))
    status, problem = server.send("POST", "/", pieces)
    assert (status, problem["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_body_above_the_limit_of_its_operation_is_refused_unread(
    server: WebServer,
) -> None:
    assert server.send("POST", "/short", b"x" * 20_000)[0] == 200
    for length in (b"Content-Length: 20001", b"Transfer-Encoding: chunked"):
        head = b"POST /short HTTP/1.1\r\nHost: a\r\n" + length + b"\r\n\r\n"
        body = b"4e21\r\n" + b"x" * 20_001 + b"\r\n" if b"chunked" in length else b""
        received = server.send_raw(head, body)
        assert received.startswith(b"HTTP/1.1 413 ")
        assert b"PAYLOAD_TOO_LARGE" in received


@pytest.mark.parametrize("size", [100, MAX_IN_MEMORY_BYTES + 100])
def test_body_that_does_not_come_is_given_up(server: WebServer, size: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\nab" % size
    received = server.send_raw(head)
    assert b" 408 " in received
    assert b'"REQUEST_TIMEOUT"' in received
    assert b"connection: close" in received.lower()


def test_body_that_drips_is_given_up(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"
    received = server.send_raw(head, *[b"x"] * 12, pause=0.1)
    assert b" 408 " in received


BROKEN = {
    "chunk without a size": b"5\r\nabcde\r\nZZ\r\n",
    "first chunk without a size": b"ZZ\r\n",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=list(BROKEN))
def test_broken_chunked_body_is_refused(server: WebServer, body: bytes) -> None:
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
    server: WebServer, head: bytes
) -> None:
    before = server.send("GET", "/count")[1]
    with socket.create_connection((LOOPBACK, server.port)) as connection:
        port = connection.getsockname()[1]
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + head)
        wait_until(lambda: server.has_connection_to(port))
    wait_until(lambda: not server.has_connection_to(port))
    assert server.send("GET", "/count")[1] == before + 1


def test_silent_clients_hold_no_thread(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with ExitStack() as silent:
        for _ in range(20 * THREADS):
            address = LOOPBACK, server.port
            connection = silent.enter_context(socket.create_connection(address))
            connection.sendall(head)
        assert server.read_load() == [0, 0]
        assert server.send("GET", "/")[0] == 200


@pytest.mark.skipif(sys.platform != "linux", reason="the option is Linux's")
def test_client_that_does_not_read_loses_its_connection(server: WebServer) -> None:
    # The kernel drops it without a word to the client.
    with socket.create_connection((LOOPBACK, server.port)) as connection:
        port = connection.getsockname()[1]
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: server.has_connection_to(port))
        wait_until(lambda: not server.has_connection_to(port))
    assert server.send("GET", "/")[0] == 200


def test_headers_that_do_not_come_end_the_connection(server: WebServer) -> None:
    # `send_raw` waits for that, for 20 seconds.
    received = server.send_raw(b"GET / HTTP/1.1\r\nHost:")
    assert b" 200 " not in received


def test_health_is_answered_while_all_threads_wait_and_the_rest_is_refused(
    server: WebServer,
) -> None:
    tokens = server.log_in(*map(str, range(1, THREADS + MAX_WAITING_REQUESTS + 2)))
    with server.holding() as clients:
        waiting = [server.start_request(clients, **token) for token in tokens[:-1]]
        wait_until(lambda: server.read_load() == [THREADS, MAX_WAITING_REQUESTS])
        assert server.send("GET", "/api/health/live")[0] == 200
        response = server.start_request(clients, **tokens[-1]).getresponse()
        assert response.status == 503
        assert not response.will_close
        assert int(response.headers["Retry-After"]) >= 1
        assert json.loads(response.read())["code"] == "SERVICE_UNAVAILABLE"
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in waiting] == [200] * len(waiting)


def test_rejected_request_is_not_worked_on(server: WebServer) -> None:
    # The thread comes to it when its client has its answer.
    first, second, third = server.log_in("11", "12", "13")
    before = server.send("GET", "/api/health/count")[1]
    with server.holding() as clients:
        waiting = [server.start_request(clients, **each) for each in (first, second)]
        wait_until(lambda: server.read_load() == [2, 0])
        status, problem = server.send("GET", "/", None, **third)
        assert (status, problem["code"]) == (503, "SERVICE_UNAVAILABLE")
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in waiting] == [200, 200]
        assert server.send("GET", "/api/health/count")[1] == before + 2


def test_one_member_leaves_a_thread_to_others_over_all_tokens(
    server: WebServer,
) -> None:
    tokens = server.log_in("21-phone", "21-tablet", "21-watch")
    with server.holding() as clients:
        greedy = [server.start_request(clients, **token) for token in tokens]
        wait_until(lambda: server.read_load() == [1, 2])
        assert server.send("GET", "/", Authorization="Bearer 22")[0] == 200
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in greedy] == [200] * 3


def test_unknown_tokens_are_one_client(server: WebServer) -> None:
    (known,) = server.log_in("31")
    with server.holding() as clients:
        greedy = [
            server.start_request(clients, Authorization=f"Bearer {number}-new")
            for number in range(32, 35)
        ]
        wait_until(lambda: server.read_load() == [1, 2])
        assert server.send("GET", "/", **known)[0] == 200
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in greedy] == [200] * 3


def test_requests_of_one_client_are_limited(server: WebServer) -> None:
    (known,) = server.log_in("41")
    with server.holding() as clients:
        greedy = [server.start_request(clients) for _ in range(3)]
        wait_until(lambda: server.read_load() == [1, 2])
        # The fifth waits beside them, the full queue refuses its heaviest client.
        for _ in range(2):
            response = server.start_request(clients).getresponse()
            assert response.status == 429
            assert response.headers["Retry-After"] == "1"
            assert json.loads(response.read())["code"] == "RATE_LIMITED"
        assert server.send("GET", "/", **known)[0] == 200
        server.send("GET", "/api/health/release")
        assert [each.getresponse().status for each in greedy] == [200] * 3
    assert server.send("GET", "/")[0] == 200


def test_slow_uploads_of_one_client_leave_places_to_others(server: WebServer) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    (token,) = server.log_in("41")

    def upload(**headers: str) -> int:
        # Chunked, as its length is not known.
        return server.send("POST", "/", iter([b"x"]), **headers)[0]

    with ExitStack() as slow:

        def is_refused_beside_slow_ones() -> bool:
            # They last half a second.
            for _ in range(MAX_LARGE_BODIES_PER_CLIENT):
                address = LOOPBACK, server.port
                slow.enter_context(socket.create_connection(address)).sendall(head)
            return upload() == 429

        wait_until(is_refused_beside_slow_ones)
        assert upload(**token) == 200
    wait_until(lambda: upload() == 200)


def test_refusals_outside_of_django_have_the_headers_of_every_answer(
    server: WebServer,
) -> None:
    with closing(server.connect()) as client:
        client.request("GET", "/" + "x" * 9_000, headers={"Origin": WEB_ORIGIN})
        response = client.getresponse()
    assert response.status == 414
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["Access-Control-Allow-Origin"] == WEB_ORIGIN


def test_url_that_is_too_long_is_refused(server: WebServer) -> None:
    assert server.send("GET", f"/{'x' * 8_000}")[0] == 200
    status, problem = server.send("GET", f"/?{'x' * 9_000}")
    assert (status, problem["code"]) == (414, "URI_TOO_LONG")


def test_refusals_outside_of_django_are_in_the_language_of_the_client(
    server: WebServer,
) -> None:
    path = f"/?{'x' * 9_000}"
    assert server.send("GET", path)[1]["detail"] == "The URL is too long."
    korean = {"Accept-Language": "ko-KR,ko;q=0.9"}
    assert server.send("GET", path, **korean)[1]["detail"] == "주소가 너무 길어요."
    assert server.send("GET", "/fail", **korean)[1]["title"] == "서버 오류"


def test_failure_outside_of_django_is_a_500(server: WebServer) -> None:
    status, problem = server.send("GET", "/fail")
    assert (status, problem["code"]) == (500, "INTERNAL_ERROR")
    assert server.send("GET", "/")[0] == 200


def test_connection_serves_requests_whose_body_nobody_read(server: WebServer) -> None:
    with closing(server.connect()) as connection:
        for _ in range(3):
            connection.request("POST", "/unread", b"x" * 100_000)
            response = connection.getresponse()
            assert response.read() == b"null"
            assert not response.will_close


def test_environment_follows_the_standard(server: WebServer) -> None:
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
    server = WebServer(tmp_path / "log")
    worker = int(server.send("GET", "/pid")[1])
    server.process.kill()
    server.process.wait()
    wait_until(lambda: not Path(f"/proc/{worker}").exists())
    with pytest.raises(ConnectionRefusedError):
        server.send("GET", "/")


def test_requests_in_progress_are_answered_before_the_end(tmp_path: Path) -> None:
    server = WebServer(tmp_path / "log")
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
