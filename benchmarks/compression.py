r"""Measure what compression costs the web process (decision 0109).

SECRET_KEY=$(openssl rand -hex 32) \
    python -m devstack.environment --ephemeral python -m benchmarks.compression

Requests go through the WSGI application in this process, without a network. A pair is
four requests without compression and four with it, in alternating order, so that what
else the machine does meets both.
"""

import io
import os
import statistics
import sys
import time
from typing import Any

import django

PAIRS = 300
REQUESTS = 4
WARM_UP_PAIRS = 13
TARGETS = (
    ("/api/account/entries", "size=100"),
    ("/api/account/entries", "size=20"),
    ("/api/auth/session", ""),
)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command

    from accounts.models import Member
    from accounts.sessions import create_session
    from config.wsgi import application

    call_command("migrate", verbosity=0)
    call_command("load_demo_data", verbosity=0)
    key, _ = create_session(Member.objects.latest("id"))

    def request(path: str, query: str, encoding: str) -> bytes:
        environ: dict[str, Any] = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_AUTHORIZATION": f"Bearer {key}",
            "HTTP_ACCEPT_ENCODING": encoding,
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
            "wsgi.url_scheme": "http",
        }
        response: Any = application(environ, lambda *_: sys.stdout.buffer.write)
        content = b"".join(response)
        response.close()
        if response.status_code != 200:
            raise AssertionError(f"{path}: {response.status_code} {content[:300]!r}")
        return content

    def measure(path: str, query: str, encoding: str) -> float:
        """Return the processor time of one request in microseconds."""
        started_at = time.process_time()
        for _ in range(REQUESTS):
            request(path, query, encoding)
        return (time.process_time() - started_at) / REQUESTS * 1e6

    for path, query in TARGETS:
        plain, compressed = [], []
        for number in range(-WARM_UP_PAIRS, PAIRS):
            pair = {}
            for encoding in ("", "gzip") if number % 2 else ("gzip", ""):
                pair[encoding] = measure(path, query, encoding)
            if number >= 0:
                plain.append(pair[""])
                compressed.append(pair["gzip"])
        ratios = (b / a for a, b in zip(plain, compressed, strict=True))
        print(
            f"{path}?{query}: {len(request(path, query, ''))} bytes, "
            f"{len(request(path, query, 'gzip'))} compressed; median "
            f"{statistics.median(plain):.0f} µs plain, "
            f"{statistics.median(compressed):.0f} µs compressed, "
            f"of the pairs {statistics.median(ratios) - 1:+.1%}"
        )


if __name__ == "__main__":
    main()
