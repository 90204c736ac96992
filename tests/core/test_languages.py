"""The language of refusals: Korean or English, by Accept-Language (spec 1.6)."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.utils import translation

from accounts.models import Member
from core.languages import choose_language
from tests.conftest import ClientOf
from tests.support.clients import JSONClient

HANGUL = re.compile("[가-힣]")
KOREAN: dict[str, Any] = {"HTTP_ACCEPT_LANGUAGE": "ko-KR,ko;q=0.9,en;q=0.8"}
# One of each kind of field, wrong in the kinds of ways there are.
BAD_ENTRY = {
    "date": "2026-13-01",
    "type": "gift",
    "amount": 0,
    "category": 5,
    "tags": "food",
    "memo": "x" * 501,
    "walletId": 987_654_321,
    "currency": "XXX",
    "originalAmount": "1.123456789",
}


def texts_of(response: Any) -> list[str]:
    """Return the texts of an error that are for people."""
    body = response.data
    return [body["title"], body["detail"]] + [
        error["detail"] for error in body.get("errors", ())
    ]


def without_texts(response: Any) -> dict[str, Any]:
    """Return the rest of the body, which programs read."""
    body = response.data
    errors = [
        {name: value for name, value in error.items() if name != "detail"}
        for error in body.get("errors", ())
    ]
    return {k: v for k, v in body.items() if k not in {"title", "detail"}} | {
        "errors": errors
    }


@pytest.mark.parametrize(
    ("header", "language"),
    [
        *(("", "en"), ("ko", "ko"), ("KO-kr", "ko"), ("ko-Hang-KR", "ko")),
        *(("en-US,en;q=0.9,ko;q=0.8", "en"), ("ko;q=0.8,en;q=0.9", "en")),
        *(("fr,ko;q=0.5", "ko"), ("fr,de", "en"), ("ko;q=0", "en"), ("*", "en")),
        *(("kok", "en"), ("ko;q=high", "en"), ("한국어", "en"), (",,;;==", "en")),
        *(("a" * 5_000, "en"), ("ko," + "x-y," * 5_000, "ko")),
    ],
)
def test_language_is_the_first_that_the_client_prefers(
    header: str, language: str
) -> None:
    assert choose_language(header) == language


def test_refusal_is_in_the_language_of_the_client(anonymous: JSONClient) -> None:
    english = anonymous.send("GET", "/api/auth/session")
    korean = anonymous.send("GET", "/api/auth/session", **KOREAN)
    assert english.data["detail"] == "Authentication is required."
    assert english.data["title"] == "Unauthorized"
    assert english.headers["Content-Language"] == "en"
    assert korean.data["detail"] == "로그인이 필요해요."
    assert korean.headers["Content-Language"] == "ko"
    assert without_texts(korean) == without_texts(english)
    for response in english, korean:
        assert "Accept-Language" in response.headers["Vary"]
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["WWW-Authenticate"] == "Bearer"


def test_errors_of_fields_are_in_the_language_of_the_client_each_time(
    client: JSONClient,
) -> None:
    # Validators of DRF would keep the text of their first error.
    for _ in range(3):
        korean = client.send("POST", "/api/account/entries", BAD_ENTRY, **KOREAN)
        english = client.send("POST", "/api/account/entries", BAD_ENTRY)
        assert korean.status_code == english.status_code == 400
        assert len(korean.data["errors"]) > 6
        assert all(HANGUL.search(text) for text in texts_of(korean)), korean.data
        assert not any(HANGUL.search(text) for text in texts_of(english))
        assert without_texts(korean) == without_texts(english)


def test_threads_refuse_in_their_own_language() -> None:
    def refuse(number: int) -> bool:
        headers = KOREAN if number % 2 else {}
        # An address that does not exist needs no database.
        response = JSONClient().send("GET", "/api/nothing", **headers)
        has_hangul = bool(HANGUL.search(response.data["detail"]))
        return has_hangul == bool(number % 2) and translation.get_language() == "en"

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(refuse, range(400)))


def test_passwords_are_refused_in_korean(anonymous: JSONClient) -> None:
    body = {
        "loginId": "minji",
        "password": "minji",
        "displayName": "Minji",
        "email": "minji@example.com",
    }
    response = anonymous.send("POST", "/api/auth/signup", body, **KOREAN)
    assert response.status_code == 400
    assert all(HANGUL.search(text) for text in texts_of(response)), response.data
    body |= {"loginId": "민지", "email": "minji", "password": "correct-horse-9"}
    response = anonymous.send("POST", "/api/auth/signup", body, **KOREAN)
    assert [error["field"] for error in response.data["errors"]] == ["loginId", "email"]
    assert all(HANGUL.search(text) for text in texts_of(response)), response.data


def test_rows_of_a_backup_are_refused_in_korean_with_their_place(
    client_of: ClientOf, premium_member: Member
) -> None:
    backup = {
        "wallets": [{"name": "", "kind": "PURSE", "openingBalance": "many"}],
        "tags": [{"name": "a,b"}],
        "entries": [
            {"date": "yesterday", "type": "expense", "amount": 1, "category": "외식"},
            {"date": "2026-11-01", "type": "expense", "amount": 1, "category": "외식"},
        ],
    }
    client = client_of(premium_member)
    korean = client.send("POST", "/api/account/restore", backup, **KOREAN)
    english = client.send("POST", "/api/account/restore", backup)
    assert korean.data["code"] == "INVALID_BACKUP"
    assert {e["sheet"] for e in korean.data["errors"]} == {"wallets", "tags", "entries"}
    assert all(HANGUL.search(text) for text in texts_of(korean)), korean.data
    assert without_texts(korean) == without_texts(english)


@pytest.mark.parametrize(
    ("method", "path", "extra"),
    [
        ("GET", "/api/nothing", {}),
        ("DELETE", "/api/auth/login", {}),
        ("POST", "/api/auth/login", {"data": "{", "content_type": "application/json"}),
        ("POST", "/api/auth/login", {"data": "a", "content_type": "text/plain"}),
        ("POST", "/api/auth/login", {"data": "1", "content_type": "application/json"}),
        ("GET", "/api/meta", {"HTTP_HOST": "elsewhere.example"}),
    ],
)
def test_requests_that_reach_no_view_are_refused_in_korean(
    anonymous: JSONClient, method: str, path: str, extra: dict[str, Any]
) -> None:
    response = anonymous.send(method, path, **extra, **KOREAN)
    assert 400 <= response.status_code < 500
    assert all(HANGUL.search(text) for text in texts_of(response)), response.data


def test_answers_do_not_depend_on_the_language(client: JSONClient) -> None:
    for path in "/api/auth/session", "/api/account/wallets", "/api/schema":
        english, korean = client.get(path), client.get(path, **KOREAN)
        assert korean.content == english.content
        assert "Content-Language" not in korean.headers
        assert "Accept-Language" not in korean.headers.get("Vary", "")


def test_page_that_tries_out_is_in_the_language_of_the_browser(
    anonymous: JSONClient,
) -> None:
    korean = anonymous.get("/api/docs/try", **KOREAN)
    assert '<html lang="ko">' in korean.content.decode()
    assert "<title>API 사용해 보기</title>" in korean.content.decode()
    # Swagger UI and the document are in English.
    assert '<div id="swagger-ui" lang="en">' in korean.content.decode()
    assert korean.headers["Content-Language"] == "ko"
    english = anonymous.get("/api/docs/try")
    assert '<html lang="en">' in english.content.decode()
    assert "Accept-Language" in english.headers["Vary"]


def test_admin_is_in_the_language_of_the_browser(anonymous: JSONClient) -> None:
    korean = anonymous.get("/admin/login/", **KOREAN).content.decode()
    assert '<html lang="ko"' in korean
    assert "로그인" in korean
    english = anonymous.get("/admin/login/").content.decode()
    assert '<html lang="en"' in english
    assert "Log in" in english
    assert translation.get_language() == "en", "it ends with the request"
