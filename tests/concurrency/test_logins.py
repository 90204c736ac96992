"""Logins at the same moment: guesses are counted exactly, first logins made once."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from accounts.login.identity_provider import identity_provider
from accounts.models import AuthSession, Member, RateLimit
from accounts.security.rate_limits import LOGIN_PER_ACCOUNT, purge_rate_limits
from core.bulkhead import Bulkhead
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import CLIENT_ID, EMAIL, good_claims, make_id_token
from tests.support.races import run_concurrently

AT_ONCE = 8

pytestmark = pytest.mark.django_db(transaction=True)


def log_in(login_id: str, password: str, address: str = "192.0.2.1") -> Any:
    body = {"loginId": login_id, "password": password}
    return JSONClient().send("POST", "/api/auth/login", body, REMOTE_ADDR=address)


def count_statuses(responses: list[Any]) -> Counter[int]:
    return Counter(response.status_code for response in responses)


def test_exactly_ten_guesses_at_once_are_looked_at() -> None:
    member = make_member()
    responses = run_concurrently(
        [lambda: log_in(member.login_id, "wrong-battery-8")] * 48
    )
    assert count_statuses(responses) == {401: 10, 429: 38}
    assert log_in(member.login_id, PASSWORD).status_code == 429
    assert log_in(member.login_id, PASSWORD, "192.0.2.2").status_code == 200


def test_exactly_fifty_guesses_of_one_address_are_looked_at() -> None:
    calls = [lambda n=n: log_in(f"guess{n}", "wrong-battery-8") for n in range(120)]
    counts: Counter[int] = Counter()
    for start in range(0, 120, 40):
        counts += count_statuses(run_concurrently(calls[start : start + 40]))
    assert counts == {401: 50, 429: 70}


def test_last_free_failure_of_a_login_is_looked_at_once() -> None:
    member = make_member()
    for number in range(5):
        for _ in range(49):
            LOGIN_PER_ACCOUNT.consume(member.login_id)
        calls = [
            lambda n=n: log_in(member.login_id, "wrong-battery-8", f"203.0.113.{n}")
            for n in range(16)
        ]
        # The first failure of each address is the last one of the login.
        counts = count_statuses(run_concurrently(calls))
        assert counts == {401: 1, 429: 15}, number
        RateLimit.objects.all().delete()


def test_statements_of_the_same_limits_never_deadlock() -> None:
    calls = [
        lambda n=n: log_in(f"guess{n % 3}", "wrong-battery-8", f"203.0.113.{n % 4}")
        for n in range(24)
    ]
    RateLimit.objects.create(
        key="old", attempts=[], expires_at=timezone.now() - timedelta(hours=1)
    )
    for _ in range(10):
        purge = partial(purge_rate_limits, timezone.now() + timedelta(days=1))
        *answers, purged = run_concurrently([*calls, purge])
        assert set(count_statuses(answers)) <= {401, 429}
        assert purged is not None


def test_right_logins_at_once_all_pass_and_count_for_nothing() -> None:
    member = make_member()
    for _ in range(3):
        responses = run_concurrently([lambda: log_in(member.login_id, PASSWORD)] * 8)
        assert count_statuses(responses) == {200: 8}
    assert len({response.data["token"] for response in responses}) == 8
    assert AuthSession.objects.count() == 24
    for _ in range(10):
        assert log_in(member.login_id, "wrong-battery-8").status_code == 401


def test_login_that_races_with_a_suspension_leaves_no_session_behind() -> None:
    root, member = JSONClient(make_member(role="ADMIN")), make_member()
    path = f"/api/admin/members/{member.pk}/status"
    for _ in range(20):
        login, suspension = run_concurrently(
            [
                lambda: log_in(member.login_id, PASSWORD),
                lambda: root.send("PUT", path, {"status": "SUSPENDED"}),
            ]
        )
        assert suspension.status_code == 200
        assert login.status_code in {200, 401, 403}
        assert not AuthSession.objects.filter(member=member).exists()
        assert root.send("PUT", path, {"status": "ACTIVE"}).status_code == 200


# --- By identity provider -------------------------------------------------------


@pytest.fixture
def provider(
    settings: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vouch for one token of each subject; no call waits for another."""
    monkeypatch.setattr(identity_provider, "bulkhead", Bulkhead(AT_ONCE))
    settings.IDP_CLIENT_ID = CLIENT_ID
    settings.IDP_TOKENINFO_URL = httpserver.url_for("/tokeninfo")
    for subject in ("subject-1", "subject-2"):
        token = make_id_token(sub=subject)
        httpserver.expect_request(
            "/tokeninfo", query_string={"id_token": token}
        ).respond_with_json(good_claims({"sub": subject}))


def log_in_by_token(subject: str) -> Any:
    body = {"idToken": make_id_token(sub=subject)}
    return JSONClient().send("POST", "/api/auth/idp", body)


@pytest.mark.usefixtures("provider")
def test_first_logins_of_one_subject_at_once_end_at_one_member() -> None:
    for _ in range(5):
        Member.objects.all().delete()
        responses = run_concurrently([lambda: log_in_by_token("subject-1")] * AT_ONCE)
        assert count_statuses(responses) == {200: AT_ONCE}
        assert len({response.data["member"]["id"] for response in responses}) == 1
        assert [response.data["created"] for response in responses].count(True) == 1
        assert Member.objects.count() == 1


@pytest.mark.usefixtures("provider")
def test_local_account_is_linked_once_by_logins_at_once() -> None:
    for _ in range(5):
        Member.objects.all().delete()
        local = make_member(email=EMAIL)
        responses = run_concurrently([lambda: log_in_by_token("subject-1")] * AT_ONCE)
        assert count_statuses(responses) == {200: AT_ONCE}
        assert {response.data["member"]["id"] for response in responses} == {local.pk}
        assert [response.data["linked"] for response in responses].count(True) == 1
        assert not any(response.data["created"] for response in responses)


@pytest.mark.usefixtures("provider")
def test_two_subjects_of_one_email_never_share_an_account() -> None:
    for _ in range(10):
        Member.objects.all().delete()
        local = make_member(email=EMAIL)
        responses = run_concurrently(
            [
                lambda: log_in_by_token("subject-1"),
                lambda: log_in_by_token("subject-2"),
            ]
        )
        assert count_statuses(responses) == {200: 2}
        first, second = [response.data["member"]["id"] for response in responses]
        assert first != second
        assert local.pk in {first, second}
        assert Member.objects.count() == 2
