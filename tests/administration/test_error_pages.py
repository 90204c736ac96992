"""Errors in a browser are pages; for all others they are problems (spec 7.7)."""

import re
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from config.urls import handler400, handler403, handler404, handler500
from core.errors import RateLimitedError
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem
from tests.support.stores import disconnect_database

SECRET = "the-password-is-swordfish"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8"
HTML = "text/html; charset=utf-8"


def break_page(request: HttpRequest) -> HttpResponse:
    raise RuntimeError(SECRET)


def refuse_page(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def limit_page(request: HttpRequest) -> HttpResponse:
    raise RateLimitedError(7)


urlpatterns = [
    path("admin/broken/", break_page),
    path("admin/refused/", refuse_page),
    path("admin/limited/", limit_page),
    path("broken", break_page),
    path("", include("config.urls")),
]
__all__ = ["handler400", "handler403", "handler404", "handler500"]


def ask(path: str, *, method: str = "GET", **headers: Any) -> Any:
    browser = JSONClient(enforce_csrf_checks=True)
    return browser.generic(method, path, **{"HTTP_ACCEPT": BROWSER, **headers})


def read_page(response: Any, status: int) -> str:
    """Return the page, which runs nothing of its own and hides what failed."""
    page: str = response.content.decode()
    assert (response.status_code, response.headers["Content-Type"]) == (status, HTML)
    assert SECRET not in page
    assert "Traceback" not in page
    assert {"Accept", "Accept-Language"} <= set(response.headers["Vary"].split(", "))
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    nonces = set(re.findall(r'<style nonce="([^"]+)"', page))
    assert all(f"'nonce-{nonce}'" in policy for nonce in nonces)
    assert page.count("<style") == len(nonces)
    return page


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("path", "status", "title", "text"),
    [
        ("/admin/?next=%00", 400, "Bad Request", "The request is invalid."),
        (
            "/admin/refused/",
            403,
            "Forbidden",
            "You do not have permission to do this.",
        ),
        (
            "/admin/limited/",
            429,
            "Too Many Requests",
            "Too many attempts. Try again later.",
        ),
        (
            "/admin/broken/",
            500,
            "Internal Server Error",
            "An internal error occurred.",
        ),
    ],
)
def test_error_below_admin_is_a_page_of_it(
    path: str, status: int, title: str, text: str
) -> None:
    response = ask(path)
    page = read_page(response, status)
    assert f"<h1>{title}</h1>" in page
    assert f"<p>{text}</p>" in page
    assert "Household Ledger administration" in page
    assert '<p><a href="/admin/">To the start page</a></p>' in page
    assert ("Retry-After" in response.headers) == (status == 429)
    korean = read_page(ask(path, HTTP_ACCEPT_LANGUAGE="ko"), status)
    assert '<html lang="ko"' in korean
    assert re.search("<p>[^<]*[가-힣]", korean)
    assert text not in korean


@pytest.mark.django_db
def test_unknown_page_of_the_admin_is_a_page(administrator: Any) -> None:
    cookie = f"sessionid={JSONClient(administrator).token}"
    page = read_page(ask("/admin/nothing/", HTTP_COOKIE=cookie), 404)
    assert "<h1>Not Found</h1>" in page
    # The staff member's language counts where the browser names none.
    administrator.locale = "ko"
    administrator.save_fields("locale")
    assert '<html lang="ko"' in read_page(
        ask("/admin/nothing/", HTTP_COOKIE=cookie), 404
    )


def test_form_without_its_token_says_what_to_do() -> None:
    page = read_page(ask("/admin/login/", method="POST"), 403)
    assert "The form is no longer valid. Go back, load the page again" in page
    assert "CSRF" not in page


def test_body_that_is_too_large_is_a_page() -> None:
    response = ask(
        "/admin/login/",
        method="POST",
        data=b"x=" + b"y" * 3_000_000,
        content_type="application/x-www-form-urlencoded",
        HTTP_COOKIE=f"csrftoken={'a' * 32}",
    )
    assert "The request body is too large." in read_page(response, 413)


def test_wrong_host_is_a_page_without_the_host() -> None:
    response = ask("/admin/login/", HTTP_HOST="evil.example")
    assert "evil.example" not in read_page(response, 400)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/admin/", "/admin/board/post/"])
def test_page_is_shown_while_the_database_is_away(path: str) -> None:
    with disconnect_database():
        response = ask(path, HTTP_COOKIE="sessionid=some-key")
    assert "temporarily unavailable" in read_page(response, 503)
    assert int(response.headers["Retry-After"]) > 0


@pytest.mark.parametrize("path", ["/nothing", "/account/nothing", "/%00", "/legal/x/y"])
def test_unknown_address_is_a_small_page(path: str) -> None:
    page = read_page(ask(path), 404)
    assert "<h1>Not Found</h1>" in page
    assert '<p><a href="/">To the start page</a></p>' in page
    korean = read_page(ask(path, HTTP_ACCEPT_LANGUAGE="ko-KR"), 404)
    assert '<html lang="ko"' in korean


@pytest.mark.urls(__name__)
def test_failed_page_outside_of_the_admin_is_a_page_too() -> None:
    assert "An internal error occurred." in read_page(ask("/broken"), 500)


@pytest.mark.parametrize(
    "path", ["/api", "/api/nothing", "/api/auth/login/", "/api/admin"]
)
def test_api_never_answers_a_page(path: str) -> None:
    assert_problem(ask(path), 404, "NOT_FOUND")


@pytest.mark.django_db
def test_address_of_the_api_without_its_prefix_answers_no_page() -> None:
    assert_problem(ask("/auth/profile"), 401, "AUTHENTICATION_REQUIRED")
    with disconnect_database():
        response = ask("/auth/profile", HTTP_AUTHORIZATION="Bearer some-key")
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")


@pytest.mark.parametrize(
    "accept",
    [
        *("*/*", "", "application/json", "application/*, text/html;q=0.5"),
        *("application/json, text/html", "nonsense", "text/html;q=0, */*", "text/csv"),
    ],
)
@pytest.mark.parametrize("path", ["/nothing", "/admin/?next=%00"])
def test_who_asks_for_no_page_gets_the_problem(path: str, accept: str) -> None:
    status, code = (
        (404, "NOT_FOUND") if path == "/nothing" else (400, "VALIDATION_ERROR")
    )
    response = ask(path, HTTP_ACCEPT=accept)
    assert_problem(response, status, code)
    assert response.headers["Content-Language"] == "en"
