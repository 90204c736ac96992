"""Sign-ups at the same moment: the limit is exact, a login id is given once."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD
from tests.support.races import run_concurrently
from tests.support.stores import find_closed_port, redis_at, run_valkey

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/api/auth/signup"
ATTEMPTS = 64


@pytest.fixture(params=["fast store up", "fast store down"])
def fast_store(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "fast store up":
        with run_valkey():
            yield
    else:
        with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
            yield


def sign_up(login_id: str, **extra: str) -> Any:
    body = {
        "loginId": login_id,
        "password": PASSWORD,
        "displayName": login_id,
        "email": f"{login_id}@example.com",
    }
    return JSONClient().send("POST", PATH, body, **extra)


def random_address() -> str:
    return ".".join(str(random.randint(1, 254)) for _ in range(4))


def assert_exactly_five(responses: list[Any]) -> None:
    counts = Counter(response.status_code for response in responses)
    assert counts == {201: 5, 429: ATTEMPTS - 5}
    for response in responses:
        if response.status_code == 429:
            assert 0 < int(response.headers["Retry-After"]) <= 3600
    assert Member.objects.count() == 5


@pytest.mark.usefixtures("fast_store")
def test_exactly_five_sign_ups_of_one_address_pass() -> None:
    calls = [lambda n=n: sign_up(f"member{n}") for n in range(ATTEMPTS)]
    assert_exactly_five(run_concurrently(calls))


@pytest.mark.usefixtures("fast_store")
@pytest.mark.parametrize("proxies", [0, 1])
def test_forged_addresses_do_not_help(settings: Any, proxies: int) -> None:
    settings.TRUSTED_PROXY_COUNT = proxies

    def attempt(number: int) -> Any:
        header = random_address()
        if proxies:
            header += ", 198.51.100.7"
        return sign_up(f"member{number}", HTTP_X_FORWARDED_FOR=header)

    calls = [lambda n=n: attempt(n) for n in range(ATTEMPTS)]
    assert_exactly_five(run_concurrently(calls))


def test_login_id_is_given_to_one_of_many_who_ask_at_once() -> None:
    names = ["minji.kim", "MINJI.KIM", "Minji.Kim", "minji.KIM"] * 4
    calls = [
        lambda n=n, name=name: sign_up(name, REMOTE_ADDR=f"192.0.2.{n}")
        for n, name in enumerate(names, start=1)
    ]
    counts = Counter(response.status_code for response in run_concurrently(calls))
    assert counts == {201: 1, 409: len(names) - 1}
    assert Member.objects.count() == 1
