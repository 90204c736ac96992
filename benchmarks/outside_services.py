"""A server on loopback in place of all outside services."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from devstack.stores.data_dir import LOOPBACK


class UnknownHandler(http.server.BaseHTTPRequestHandler):
    """Stands for all outside services: answers 404."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def run_outside_services() -> Iterator[str]:
    """Run a server on loopback that knows nothing; yield its address."""
    server = http.server.ThreadingHTTPServer((LOOPBACK, 0), UnknownHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
