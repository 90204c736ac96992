"""The facts of the installation for applications (spec 7.8)."""

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from accounts.models import Member
from accounts.signup.setting import set_signup_enabled
from config import about
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.fake_store import fake_play_at
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/meta"
UNSET = ("name", "source", "clients", "support")


def test_meta_is_public_and_cached_for_a_minute(anonymous: JSONClient) -> None:
    response = anonymous.send("GET", PATH)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert response.headers["Content-Type"] == "application/json"
    assert response.data["version"] == about.VERSION
    assert response.data["languages"] == ["en", "ko"]
    assert response.data["homeCurrency"] == "KRW"
    assert response.data["timeZone"] == "Asia/Seoul"
    assert "Set-Cookie" not in response.headers
    # Whoever asks, and in whatever language: the answer may be shared.
    with_cookie = anonymous.get(
        PATH, HTTP_COOKIE="sessionid=x", HTTP_ACCEPT_LANGUAGE="ko"
    )
    assert with_cookie.content == response.content
    assert anonymous.head(PATH).headers["ETag"] == response.headers["ETag"]


def test_unchanged_meta_is_304_and_changed_meta_is_not(
    anonymous: JSONClient, settings: Any
) -> None:
    etag = anonymous.get(PATH).headers["ETag"]
    for method in ("GET", "HEAD"):
        unchanged = anonymous.generic(
            method, PATH, HTTP_IF_NONE_MATCH=f'"other", {etag}'
        )
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert unchanged.headers["ETag"] == etag
        assert unchanged.headers["Cache-Control"] == "public, max-age=60"
    settings.OCR_API_KEY = "key"
    assert anonymous.get(PATH, HTTP_IF_NONE_MATCH=etag).status_code == 200


def test_what_operators_have_not_set_is_null(
    anonymous: JSONClient, settings: Any
) -> None:
    body = anonymous.get_json(PATH)
    assert {name: body[name] for name in UNSET} == dict.fromkeys(UNSET)
    # The pages of this service.
    assert body["legal"] == {
        "terms": None,
        "privacy": None,
        "accountDeletion": f"{settings.PUBLIC_URL}/account/delete",
        "reports": f"{settings.PUBLIC_URL}/legal/report",
    }


def test_operators_describe_their_installation(
    anonymous: JSONClient, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = {
        "ios": {"minimum": "1.0", "newest": "1.4.2", "url": "https://app.example"}
    }
    monkeypatch.setenv("SERVICE_NAME", "우리집 가계부")
    monkeypatch.setenv("CLIENTS", json.dumps(clients | {"android": {"minimum": "2"}}))
    pages = {
        "privacy": "https://ledger.example/privacy",
        "accountDeletion": "https://ledger.example/leave",
        "reports": "https://ledger.example/abuse",
    }
    monkeypatch.setenv("PRIVACY_URL", pages["privacy"])
    monkeypatch.setenv("ACCOUNT_DELETION_URL", pages["accountDeletion"])
    monkeypatch.setenv("REPORT_URL", pages["reports"])
    monkeypatch.setenv("SUPPORT_EMAIL", "help@ledger.example")
    monkeypatch.setenv("SOURCE_URL", "https://git.example/tree/v{version}")
    settings.ABOUT = about.read_about()
    body = anonymous.get_json(PATH)
    assert body["name"] == "우리집 가계부"
    assert body["clients"] == clients | {
        "android": {"minimum": "2", "newest": None, "url": None}
    }
    assert body["legal"] == {"terms": None, **pages}
    source = f"https://git.example/tree/v{about.VERSION}"
    assert body["source"] == source
    assert f'href="{source}"' in anonymous.get("/").content.decode()
    assert 'href="https://ledger.example/leave"' in anonymous.get("/").content.decode()
    assert body["support"] == {"email": "help@ledger.example", "url": None}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("CLIENTS", "[]"),
            ("CLIENTS", '{"ios": "1.0"}'),
            ("CLIENTS", '{"i OS": {}}'),
        ),
        ("CLIENTS", '{"ios": {"minimum": "new"}}'),
        ("CLIENTS", '{"ios": {"minimal": "1"}}'),
        ("CLIENTS", '{"ios": {"url": "javascript:alert(1)"}}'),
        *(("TERMS_URL", "terms.html"), ("SUPPORT_EMAIL", "help")),
        ("SUPPORT_URL", "javascript:alert(1)"),
        ("SOURCE_URL", "javascript:alert(1)"),
        *(("ACCOUNT_DELETION_URL", "/leave"), ("REPORT_URL", "javascript:alert(1)")),
    ],
)
def test_malformed_description_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        about.read_about()


def test_features_are_those_that_are_set_up(
    anonymous: JSONClient, settings: Any
) -> None:
    features = anonymous.get_json(PATH)["features"]
    assert features.pop("signup") is features.pop("bankTexts") is True
    assert features.pop("sync") is True
    assert features.pop("imports") is True
    assert features.pop("cardBills") is True
    assert features.pop("posting") is features.pop("images") is True
    assert features.pop("secondFactor") is features.pop("tokens") is True
    assert not any(features.values())
    settings.OCR_API_KEY = "key"
    settings.IDP_CLIENT_ID = "client"
    settings.BILLING_TEST_MODE = True
    set_signup_enabled(enabled=False)
    features = anonymous.get_json(PATH)["features"]
    assert features["signup"] is False
    assert features["ocr"] is features["testBilling"] is True
    assert features["providers"] == ["google"]
    # Not built.
    assert features["mail"] is features["push"] is False


def test_store_that_is_set_up_is_named(anonymous: JSONClient, settings: Any) -> None:
    with fake_play_at(settings):
        assert anonymous.get_json(PATH)["features"]["stores"] == ["google_play"]


def test_limits_are_those_that_are_enforced(
    client_of: ClientOf, free_member: Member, settings: Any
) -> None:
    settings.BOARD_LIMITS_PER_HOUR = {"posts": 1, "comments": 7, "votes": 8}
    client = client_of(free_member)
    limits = client.get_json(PATH)["limits"]
    assert limits["board"]["postsPerHour"] == 1
    page = client.get_json("/api/account/entries", size=limits["pageSize"] + 1)
    assert f"size={limits['pageSize']}" in (page["next"] or "size=100")
    wallet = {"name": "x" * limits["ledger"]["nameLength"], "kind": "CASH"}
    assert client.send("POST", "/api/account/wallets", wallet).status_code == 201
    wallet["name"] += "x"
    assert_invalid(client.send("POST", "/api/account/wallets", wallet), "name")
    entry: dict[str, Any] = {"date": "2026-11-01", "type": "expense", "category": "a"}
    entry |= {"amount": limits["ledger"]["amount"]}
    assert client.send("POST", "/api/account/entries", entry).status_code == 201
    entry["amount"] += 1
    assert_invalid(client.send("POST", "/api/account/entries", entry), "amount")
    post = {"title": "x" * limits["board"]["titleLength"], "content": "a"}
    post["category"] = "tips"
    assert client.send("POST", "/api/board/posts", post).status_code == 201
    post = post | {"title": "y"}
    assert_problem(client.send("POST", "/api/board/posts", post), 429, "RATE_LIMITED")
