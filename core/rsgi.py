"""Runs Django's WSGI application in threads of the web server Granian.

This module reads bodies, so that slow clients hold no thread.

https://github.com/emmett-framework/granian/blob/master/docs/spec/RSGI.md
"""

import asyncio
import functools
import logging
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import IO, Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.utils import translation
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy

from core.api.body_limits import DEFAULT_BODY_BYTES
from core.api.exception_handler import (
    InternalError,
    InvalidRequestError,
    PayloadTooLargeError,
    error_response,
)
from core.errors import DomainError, RateLimitedError, ServiceUnavailableError
from core.heartbeats import start_beating
from core.languages import choose_language
from core.metrics import rejected_request_count
from core.metrics_files import claim_metrics_number
from core.process_metrics import update_process_metrics
from core.repeated_headers import note_repeated
from core.request_clients import MEMBER_ID_KEY, RequestClients, name_member
from core.request_queue import RETRY_AFTER_SECONDS, Job, RequestQueue

logger = logging.getLogger(__name__)

# Above the limits of all views.
MAX_BODY_BYTES = 11 * 2**20
MAX_URL_BYTES = 8_190  # a filter by Korean words is long
# Larger bodies go to temporary files.
MAX_IN_MEMORY_BYTES = 2**16
MAX_LARGE_BODIES = 64
# Slow uploads of one client must not keep others from theirs.
MAX_LARGE_BODIES_PER_CLIENT = 16
# After this time, the rate of a poor mobile network is required.
BODY_TIMEOUT_SECONDS = 8.0
MIN_BYTES_PER_SECOND = 2**14
QUEUE_CHECK_SECONDS = 0.05
# One thread may wait for a store while the other reports liveness.
HEALTH_THREADS = 2
HEALTH_PATHS = ("/api/health", "/metrics")
REFUSAL_MIDDLEWARE = (
    "core.response_headers.ResponseHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "corsheaders.middleware.CorsMiddleware",
)
PARENT_CHECK_SECONDS = 1.0
METRICS_INTERVAL_SECONDS = 5.0

Protocol = Any
Scope = Any
Environ = dict[str, Any]


class UriTooLongError(DomainError):
    status = 414
    code = "URI_TOO_LONG"
    detail = gettext_lazy("The URL is too long.")


class RequestTimeoutError(DomainError):
    status = 408
    code = "REQUEST_TIMEOUT"
    detail = gettext_lazy("The request body came too slowly.")


class BodyCutOffError(InvalidRequestError):
    """The client went away, or broke the format."""

    detail = gettext_lazy("The request body is incomplete.")


class ThreadedWSGIApplication:
    def __init__(
        self,
        wsgi_application: Any,
        thread_count: int,
        find_body_limit: Callable[[str, str], int],
    ) -> None:
        """`find_body_limit` gets the method and the path of a long body."""
        self.wsgi_application = wsgi_application
        self._find_body_limit = find_body_limit
        # One thread is left to other members, half of them to other addresses.
        self._requests = RequestQueue(
            thread_count, max(1, thread_count - 1), max(1, thread_count // 2)
        )
        self._health_requests = RequestQueue(
            HEALTH_THREADS, HEALTH_THREADS, HEALTH_THREADS
        )
        self._clients = RequestClients()
        # By client.
        self._large_bodies: Counter[str] = Counter()

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        claim_metrics_number()
        self._loop = loop
        for requests in (self._requests, self._health_requests):
            for _ in range(requests.thread_count):
                threading.Thread(
                    target=self._work, args=(requests,), daemon=True
                ).start()
        start_beating(loop)
        self._stop_if_orphaned(os.getppid())
        self._reject_overdue()
        if settings.METRICS_TOKEN:
            self._update_metrics()

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._requests.stop()
        self._health_requests.stop()

    async def __rsgi__(self, scope: Scope, protocol: Protocol) -> None:
        environ = build_environ(scope)
        try:
            if len(scope.path) + len(scope.query_string) > MAX_URL_BYTES:
                raise UriTooLongError
            client = self._clients.identify(environ)
            limit = self._get_body_limit(environ, scope.path)
            environ["wsgi.input"] = await self._read_body(
                environ, protocol, client, limit
            )
            is_health = scope.path.startswith(HEALTH_PATHS)
            requests = self._health_requests if is_health else self._requests
            job = Job(environ, protocol, client, self._loop.time())
            self._refuse(requests, requests.add(job))
        except DomainError as error:
            reject(protocol, error, environ)
        else:
            # Granian keeps the request open until this returns.
            await job.answered.wait()

    def _get_body_limit(self, environ: Environ, path: str) -> int:
        length = int(environ.get("CONTENT_LENGTH", 0))
        if length <= DEFAULT_BODY_BYTES and "HTTP_TRANSFER_ENCODING" not in environ:
            return DEFAULT_BODY_BYTES
        return min(
            MAX_BODY_BYTES, self._find_body_limit(environ["REQUEST_METHOD"], path)
        )

    async def _read_body(
        self, environ: Environ, protocol: Protocol, client: str, limit: int
    ) -> IO[bytes]:
        length = int(environ.get("CONTENT_LENGTH", 0))
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        if not is_chunked:
            if length == 0:
                return BytesIO()
            if length > limit:
                raise PayloadTooLargeError
            if length <= MAX_IN_MEMORY_BYTES:
                try:
                    async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
                        return BytesIO(await protocol())
                except TimeoutError:
                    raise RequestTimeoutError from None
                except Exception as error:
                    raise BodyCutOffError from error
        body, received = await self._read_large_body(protocol, client, limit)
        if received != length and not is_chunked:
            raise BodyCutOffError
        environ["CONTENT_LENGTH"] = str(received)
        return body

    async def _read_large_body(
        self, protocol: Protocol, client: str, limit: int
    ) -> tuple[IO[bytes], int]:
        if self._large_bodies[client] >= MAX_LARGE_BODIES_PER_CLIENT:
            raise RateLimitedError(RETRY_AFTER_SECONDS)
        if self._large_bodies.total() >= MAX_LARGE_BODIES:
            raise ServiceUnavailableError
        self._large_bodies[client] += 1
        try:
            return await read_large_body(protocol, limit)
        finally:
            self._large_bodies[client] -= 1
            if not self._large_bodies[client]:
                del self._large_bodies[client]

    def _work(self, requests: RequestQueue) -> None:
        job = requests.take()
        while job is not None:
            try:
                self._answer(job.environ, job.protocol)
            except BaseException:
                logger.exception("a request failed outside of Django")
                reject(job.protocol, InternalError(), job.environ)
            self._loop.call_soon_threadsafe(job.answered.set)
            user = self._find_user(job)
            job = requests.finish(job, user, self._loop.time()) or requests.take()

    def _find_user(self, job: Job) -> str:
        """Return the client as the answer has shown it."""
        member_id = job.environ.get(MEMBER_ID_KEY)
        if member_id is not None and job.client == name_member(member_id):
            return job.client
        self._clients.learn(job.environ)
        return self._clients.identify(job.environ)

    def _answer(self, environ: Environ, protocol: Protocol) -> None:
        start: list[Any] = []

        def start_response(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> None:
            start[:] = int(status[:3]), headers

        with environ["wsgi.input"]:
            response = self.wsgi_application(environ, start_response)
            try:
                # Respond before `close`, which does work that no client waits for.
                protocol.response_bytes(*start, b"".join(response))
            finally:
                response.close()

    def _reject_overdue(self) -> None:
        self._loop.call_later(QUEUE_CHECK_SECONDS, self._reject_overdue)
        for requests in (self._requests, self._health_requests):
            self._refuse(requests, requests.pop_overdue(self._loop.time()))

    def _refuse(self, requests: RequestQueue, jobs: Iterable[Job]) -> None:
        for job in jobs:
            job.environ["wsgi.input"].close()
            error = requests.make_error(job, self._loop.time())
            reject(job.protocol, error, job.environ)
            job.answered.set()

    def _update_metrics(self) -> None:
        update_process_metrics(self._requests)
        self._loop.call_later(METRICS_INTERVAL_SECONDS, self._update_metrics)

    def _stop_if_orphaned(self, parent_pid: int) -> None:
        """End the worker when its main process was killed."""
        if os.getppid() != parent_pid:
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self._loop.call_later(PARENT_CHECK_SECONDS, self._stop_if_orphaned, parent_pid)


def build_environ(scope: Scope) -> Environ:
    host, _, port = scope.server.rpartition(":")
    client, _, client_port = scope.client.rpartition(":")
    environ: Environ = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        # Bytes as Latin-1.
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": client.strip("[]"),
        "REMOTE_PORT": client_port,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        key = get_environ_key(name)
        if key in environ and key == "CONTENT_LENGTH":
            # The library refuses lengths that differ.
            continue
        if key in environ:
            note_repeated(environ, key)
            separator = "; " if key == "HTTP_COOKIE" else ","
            environ[key] = f"{environ[key]}{separator}{value}"
        elif key:
            environ[key] = value
    return environ


@functools.lru_cache(maxsize=256)
def get_environ_key(header: str) -> str:
    """Return "" for a name with an underscore: X_Forwarded_For is forged."""
    if "_" in header:
        return ""
    key = header.upper().replace("-", "_")
    return key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"


async def read_large_body(protocol: Protocol, limit: int) -> tuple[IO[bytes], int]:
    # The caller closes it.
    body: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115
        max_size=MAX_IN_MEMORY_BYTES
    )
    received, has_ended = 0, False
    started_at = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(started_at + BODY_TIMEOUT_SECONDS) as end:
            async for piece in protocol:
                # Granian ends with an empty piece, and sends one earlier if a body
                # breaks off.
                if has_ended:
                    raise BodyCutOffError
                has_ended = not piece
                received += len(piece)
                if received > limit:
                    raise PayloadTooLargeError
                body.write(piece)
                seconds = BODY_TIMEOUT_SECONDS + received / MIN_BYTES_PER_SECOND
                end.reschedule(started_at + seconds)
    except TimeoutError:
        body.close()
        raise RequestTimeoutError from None
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body, received


def reject(protocol: Protocol, error: DomainError, environ: Environ) -> None:
    """Answer without the application; close the connection of an unread body."""
    rejected_request_count.labels(error.code).inc()
    language = choose_language(environ.get("HTTP_ACCEPT_LANGUAGE", ""))
    is_unread = "wsgi.input" not in environ
    request: Any = WSGIRequest({"wsgi.input": BytesIO(), **environ})
    request.refusal = error
    with translation.override(language):
        response = get_refusal_handler()(request)
    headers = list(response.items())
    if is_unread:
        headers.append(("Connection", "close"))
    protocol.response_bytes(response.status_code, headers, response.content)


def answer_with_refusal(request: Any) -> Any:
    return error_response(request, request.refusal)


@functools.cache
def get_refusal_handler() -> Callable[[Any], Any]:
    """Return a handler that adds the headers that browsers need to a refusal."""
    handler: Callable[[Any], Any] = answer_with_refusal
    for name in reversed(settings.MIDDLEWARE):
        if name in REFUSAL_MIDDLEWARE:
            handler = import_string(name)(handler)
    return handler
