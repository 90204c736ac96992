"""Middleware of the service."""

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
from core.client import Client
from core.client_ip import get_client_ip
from core.db.postgresql.base import circuit_breaker
from core.languages import choose_language_of

logger = logging.getLogger("access")

GetResponse = Callable[[HttpRequest], HttpResponseBase]
REQUEST_ID_BYTES = 12
# The client has waited enough.
RETRY_TIMEOUT_SECONDS = 1.0
RETRY_PAUSES_SECONDS = (0.0, 0.1, 0.3)
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Unknown methods, and paths that match no URL pattern.
OTHER_LABEL = "other"
ADMIN_PREFIX = "/admin"
# Probes use addresses that no list of allowed hosts can hold.
PROBE_PATHS = frozenset({"/api/health", "/api/health/live", "/metrics"})


class Middleware:
    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response


class NonApiMiddlewareMixin:
    """Skips the API, which needs no session, user or messages."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class NonApiSessionMiddleware(NonApiMiddlewareMixin, SessionMiddleware):
    pass


class NonApiAuthenticationMiddleware(NonApiMiddlewareMixin, AuthenticationMiddleware):
    pass


class NonApiMessageMiddleware(NonApiMiddlewareMixin, MessageMiddleware):
    pass


class PrometheusMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started_at = time.perf_counter()
        metrics.requests_in_flight.inc()
        try:
            response = self.get_response(request)
        finally:
            metrics.requests_in_flight.dec()
        # Clients' own methods and paths would make any number of series.
        method = request.method if request.method in KNOWN_METHODS else OTHER_LABEL
        match = request.resolver_match
        route = f"/{match.route}" if match else OTHER_LABEL
        metrics.request_count.labels(method, route, response.status_code).inc()
        metrics.request_duration.labels(method, route).observe(
            time.perf_counter() - started_at
        )
        return response


class AccessLogMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = secrets.token_hex(REQUEST_ID_BYTES)
        address = get_client_ip(request)
        id_token = core_logging.request_id.set(request_id)
        client = Client(address, request.META.get("HTTP_USER_AGENT", ""))
        client_token = core_logging.current_client.set(client)
        member_token = core_logging.member_id.set(None)
        started_at = time.perf_counter()
        try:
            response = self.get_response(request)
            response.headers["X-Request-ID"] = request_id
            duration = time.perf_counter() - started_at
            fields: dict[str, object] = {
                "method": request.method,
                # The query may hold a member's search words.
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
            core_logging.current_client.reset(client_token)
            core_logging.request_id.reset(id_token)


class LanguageMiddleware(Middleware):
    """Activates the client's language, before validators make their texts."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = choose_language_of(request)
        is_admin = request.path_info.startswith(ADMIN_PREFIX)
        if language != settings.LANGUAGE_CODE or is_admin:
            with translation.override(language):
                return self.get_response(request)
        # The default needs no activation. Without the header, authentication may
        # activate the member's language.
        try:
            return self.get_response(request)
        finally:
            if getattr(request, "has_language_of_member", False):
                translation.deactivate()


class HostCheckMiddleware(CommonMiddleware):
    """Probes may send any Host header."""

    def process_request(
        self, request: HttpRequest
    ) -> HttpResponsePermanentRedirect | None:
        if request.path_info in PROBE_PATHS:
            return None
        return super().process_request(request)


class RetrySafeRequestsMiddleware(Middleware):
    """Retries GET and HEAD: a restart of PostgreSQL ends running statements.

    It ends one connection after the other, so the next one may end during the retry.
    An open circuit breaker ends the retries, so that threads stay free.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        end = time.monotonic() + RETRY_TIMEOUT_SECONDS
        response = self.get_response(request)
        for pause in RETRY_PAUSES_SECONDS:
            if not getattr(response, "database_down", False):
                break
            connection.close()
            if not is_safe(request) or time.monotonic() > end:
                break
            if not circuit_breaker.is_closed():
                break
            time.sleep(pause)
            response = self.get_response(request)
        return response


def is_safe(request: HttpRequest) -> bool:
    return request.method in {"GET", "HEAD"}
