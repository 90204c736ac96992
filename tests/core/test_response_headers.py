"""Every response has a Content-Security-Policy."""

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory, override_settings

from accounts.models import Member
from core.response_headers import ResponseHeadersMiddleware
from tests.support.clients import JSONClient

pytestmark = pytest.mark.django_db

HEADER = "Content-Security-Policy"
PAGES = ["/", "/api/docs", "/admin/login/"]


@pytest.mark.parametrize(
    "path",
    ["/api/health/live", "/api/auth/session", "/nothing", "/api/schema", "/metrics"],
)
def test_answers_that_are_no_pages_load_nothing(path: str) -> None:
    policy = JSONClient().get(path).headers[HEADER]
    assert policy == "default-src 'none'; frame-ancestors 'none'"


@pytest.mark.parametrize("path", PAGES)
def test_pages_allow_no_inline_block_without_their_nonce(path: str) -> None:
    response = JSONClient().get(path)
    policy = response.headers[HEADER]
    assert policy.startswith("default-src 'none'; ")
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    blocks = re.findall(r"<(?:script|style)\b[^>]*>", response.content.decode())
    nonces = re.findall(r"'nonce-([\w-]{22})'", policy)
    inline = [block for block in blocks if "src=" not in block]
    assert all(f'nonce="{nonces[0]}"' in block for block in inline), inline


def test_nonce_is_never_the_same() -> None:
    policies = {JSONClient().get("/").headers[HEADER] for _ in range(3)}
    assert len(policies) == 3


def test_admin_pages_have_the_policy_of_pages(administrator: Member) -> None:
    client = JSONClient()
    client.force_login(administrator)
    policy = client.get("/admin/").headers[HEADER]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_policy_of_a_view_stays() -> None:
    def view(request: Any) -> HttpResponse:
        return HttpResponse("", headers={HEADER: "sandbox"})

    response = ResponseHeadersMiddleware(view)(RequestFactory().get("/"))
    assert response.headers[HEADER] == "sandbox"


@pytest.mark.parametrize(("debug", "has_policy"), [(True, False), (False, True)])
def test_error_pages_of_debug_mode_alone_have_none(
    debug: bool, has_policy: bool
) -> None:
    def view(request: Any) -> HttpResponse:
        return HttpResponse("<style></style>", status=500)

    with override_settings(DEBUG=debug):
        response = ResponseHeadersMiddleware(view)(RequestFactory().get("/"))
    assert (HEADER in response.headers) is has_policy
