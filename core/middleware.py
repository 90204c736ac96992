"""What surrounds every request: its count, id, line in the log, and one more try."""

import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import connection
from django.http import HttpRequest, HttpResponseBase

from core import logging as core_logging
from core import metrics

logger = logging.getLogger("access")

GetResponse = Callable[[HttpRequest], HttpResponseBase]
REQUEST_ID_BYTES = 12
RETRY_TIMEOUT_SECONDS = 1.0
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
OTHER_LABEL = "other"
"""Another method, and an address that no pattern matches."""


class NonApiMiddlewareMixin:
    """Leaves the JSON interface out: what only pages such as the admin need.

    The API authenticates and guards itself (`accounts.authentication`), so there a
    lazy session, user and message store would be made for nothing.
    """

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class NonApiSessionMiddleware(NonApiMiddlewareMixin, SessionMiddleware):
    """Django's sessions, in our store."""


class NonApiAuthenticationMiddleware(NonApiMiddlewareMixin, AuthenticationMiddleware):
    """Django's `request.user`."""


class NonApiMessageMiddleware(NonApiMiddlewareMixin, MessageMiddleware):
    """Django's one-time messages."""


class PrometheusMiddleware:
    """Counts for Prometheus, outermost: nothing is answered uncounted.

    An address is counted by its pattern: paths carry ids, and anybody makes them up.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        metrics.requests_in_flight.inc()
        try:
            response = self.get_response(request)
        finally:
            metrics.requests_in_flight.dec()
        method = request.method if request.method in KNOWN_METHODS else OTHER_LABEL
        match = request.resolver_match
        route = f"/{match.route}" if match else OTHER_LABEL
        metrics.request_count.labels(method, route, response.status_code).inc()
        metrics.request_duration.labels(method, route).observe(
            time.perf_counter() - began
        )
        return response


class AccessLogMiddleware:
    """Gives the request an id, answers it in X-Request-ID, logs one line.

    The line holds the path without its query: queries can carry what a member
    typed.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = secrets.token_hex(REQUEST_ID_BYTES)
        token = core_logging.request_id.set(request_id)
        started = time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id
            fields = {
                "method": request.method,
                "path": request.path,
                "status": response.status_code,
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
            }
            logger.info("request", extra={"fields": fields})
            return response
        finally:
            core_logging.request_id.reset(token)


class NoStoreMiddleware:
    """Keeps answers of the API out of caches, unless a view says otherwise."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response.headers["Cache-Control"] = "no-store"
        return response


class RetrySafeRequestsMiddleware:
    """Reads once more when a connection broke under the request.

    A restart of PostgreSQL ends the statements under way; reading again is safe
    and finds a fresh connection. Failures that took long are left alone.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.monotonic()
        response = self.get_response(request)
        if not getattr(response, "database_down", False):
            return response
        connection.close()
        if request.method not in {"GET", "HEAD"}:
            return response
        if time.monotonic() - started > RETRY_TIMEOUT_SECONDS:
            return response
        return self.get_response(request)
