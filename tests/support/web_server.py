"""The web server with an application that echoes (`tests.support.echo`)."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK
from tests.support.stores import find_closed_port
from tests.support.waiting import wait_until

# The service's own limits of 10 seconds, made short.
TIMEOUT_MILLISECONDS = 1_000
START = f"""
import sys
from config import server
{{patch}}
server.HEADER_TIMEOUT_MILLISECONDS = {TIMEOUT_MILLISECONDS}
server.WRITE_TIMEOUT_MILLISECONDS = {TIMEOUT_MILLISECONDS}
server.main(*sys.argv[1:])
"""
# Of a web client that the service knows.
WEB_ORIGIN = "https://app.example"


class WebServer:
    """Granian with an application that echoes, in a process of its own."""

    def __init__(self, log: Path, patch: str = "") -> None:
        """`patch` is code that runs before the start."""
        self.port = find_closed_port()
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", START.format(patch=patch)),
                    "tests.support.echo:application",
                ],
                cwd=ROOT,
                env=os.environ
                | {"BIND": f"{LOOPBACK}:{self.port}", "WEB_CONCURRENCY": "1"}
                | {"CORS_ALLOWED_ORIGINS": WEB_ORIGIN},
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

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(15)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)

    def send(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        with closing(self.connect()) as connection:
            # The server may answer, and close, before it has read the whole body.
            with suppress(BrokenPipeError):
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

    def log_in(self, *tokens: str) -> list[dict[str, str]]:
        """Return the headers of tokens that the server knows from an answer."""
        headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
        for each in headers:
            assert self.send("GET", "/", **each)[0] == 200
        return headers

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
