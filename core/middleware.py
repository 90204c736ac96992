"""Middleware: metrics, log, language, host check, cache headers, retries, sessions."""

import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import connection
from django.http import (
    HttpRequest,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
)
from django.middleware.common import CommonMiddleware
from django.utils import translation

from core import logging as core_logging
from core import metrics
from core.client_ip import get_client_ip
from core.languages import choose_language_of, names_language

logger = logging.getLogger("access")

GetResponse = Callable[[HttpRequest], HttpResponseBase]
REQUEST_ID_BYTES = 12
# A request that failed later than this is not retried: the client has waited enough.
RETRY_TIMEOUT_SECONDS = 1.0
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# The label of unknown methods and of paths that match no URL pattern.
OTHER_LABEL = "other"
# Django admin is in English.
ADMIN_PREFIX = "/admin"
# Asked for by address or service name, which no list of hosts can hold. Their responses
# contain neither the Host header nor a URL.
PROBE_PATHS = frozenset({"/api/health", "/api/health/live", "/metrics"})


class NonApiMiddlewareMixin:
    """Skips a middleware for the API, which authenticates by itself.

    Only pages such as the admin need a session, a user and messages on the request.
    """

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class NonApiSessionMiddleware(NonApiMiddlewareMixin, SessionMiddleware):
    """Django's `request.session`, outside the API."""


class NonApiAuthenticationMiddleware(NonApiMiddlewareMixin, AuthenticationMiddleware):
    """Django's `request.user`, outside the API."""


class NonApiMessageMiddleware(NonApiMiddlewareMixin, MessageMiddleware):
    """Django's one-time messages, outside the API."""


class PrometheusMiddleware:
    """Counts requests and their durations; the outermost, so that it misses none."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started_at = time.perf_counter()
        metrics.requests_in_flight.inc()
        try:
            response = self.get_response(request)
        finally:
            metrics.requests_in_flight.dec()
        # Methods and paths are the client's: counted as they come, they would make
        # any number of series.
        method = request.method if request.method in KNOWN_METHODS else OTHER_LABEL
        match = request.resolver_match
        route = f"/{match.route}" if match else OTHER_LABEL
        metrics.request_count.labels(method, route, response.status_code).inc()
        metrics.request_duration.labels(method, route).observe(
            time.perf_counter() - started_at
        )
        return response


class AccessLogMiddleware:
    """Assigns an id to each request, sends it as X-Request-ID and logs one line."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = secrets.token_hex(REQUEST_ID_BYTES)
        address = get_client_ip(request)
        id_token = core_logging.request_id.set(request_id)
        address_token = core_logging.client_address.set(address)
        request_token = core_logging.client_request.set(request)
        member_token = core_logging.member_id.set(None)
        started_at = time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id
            duration = time.perf_counter() - started_at
            fields: dict[str, object] = {
                "method": request.method,
                # Without the query, which may hold what a member searched for.
                "path": request.path,
                "status": response.status_code,
                "milliseconds": round(duration * 1000, 1),
                "address": address,
            }
            if (member_id := core_logging.member_id.get()) is not None:
                fields["memberId"] = member_id
            logger.info("request", extra={"fields": fields})
            return response
        finally:
            core_logging.member_id.reset(member_token)
            core_logging.client_request.reset(request_token)
            core_logging.client_address.reset(address_token)
            core_logging.request_id.reset(id_token)


class LanguageMiddleware:
    """Activates the language that the client prefers, English without one.

    Texts of validators are made where they fail, so the language is known before. To
    activate English is not needed, since it is the language of the source. Pages of
    staff may activate another one; it ends here.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = choose_language_of(request)
        is_admin = request.path_info.startswith(ADMIN_PREFIX)
        has_default = language == settings.LANGUAGE_CODE and names_language(request)
        if has_default and not is_admin:
            return self.get_response(request)
        # Without the header, the authentication may choose the member's language.
        with translation.override(language):
            return self.get_response(request)


class HostCheckMiddleware(CommonMiddleware):
    """Django's check of the Host header, for all paths but those of probes."""

    def process_request(
        self, request: HttpRequest
    ) -> HttpResponsePermanentRedirect | None:
        if request.path_info in PROBE_PATHS:
            return None
        return super().process_request(request)


class NoStoreMiddleware:
    """Keeps responses out of caches unless the view has set Cache-Control."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response.headers["Cache-Control"] = "no-store"
        return response


class RetrySafeRequestsMiddleware:
    """Retries GET and HEAD once after the database connection broke.

    A restart of PostgreSQL ends the statements that are running; the retry gets a new
    connection.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started_at = time.monotonic()
        response = self.get_response(request)
        # Set by the exception handler.
        if not getattr(response, "database_down", False):
            return response
        connection.close()
        if request.method not in {"GET", "HEAD"}:
            return response
        if time.monotonic() - started_at > RETRY_TIMEOUT_SECONDS:
            return response
        return self.get_response(request)
