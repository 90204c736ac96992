"""A server on loopback in place of all outside services."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from devstack.stores.data_dir import LOOPBACK

PROVIDERS = ("FX_BASE_URL", "PRICE_BASE_URL", "OCR_BASE_URL", "STORE_BASE_URL")


class NotFoundHandler(http.server.BaseHTTPRequestHandler):
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
def run_outside_services() -> Iterator[dict[str, str]]:
    """Yield the settings with the server's address."""
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), NotFoundHandler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield dict.fromkeys(PROVIDERS, f"http://{LOOPBACK}:{server.server_port}")
        finally:
            server.shutdown()
