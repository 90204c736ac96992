"""The time of a request for a new password, with and without an account.

Addresses of unknown, suspended and identity provider's accounts, of two accounts and of
one, in turn: 300 requests each in five rounds. Their medians must lie within 10 %, or
the time says whether there is an account. Each request comes from another client, so
that no limit is reached.
"""

import http.client
import itertools
import json
from functools import partial

import psycopg

from benchmarks.client import Target, Timing, time_interleaved
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment, ExtraDatabase
from benchmarks.report import Row, format_milliseconds, log_progress, max_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "resets"
PATH = "/api/auth/password-reset"
ROUNDS, REPEATS = 5, 60
MAX_RATIO = 1.1
UNKNOWN = "unknown"
# The accounts of each kind of address, by what makes them so.
ACCOUNTS = {
    "one account": ["status = 'ACTIVE'"],
    "two accounts": ["status = 'ACTIVE'", "status = 'ACTIVE'"],
    "verified account": ["verified_email = %(email)s"],
    "suspended account": ["status = 'SUSPENDED'"],
    "account of the identity provider": ["provider = 'IDP', idp_id = 'subject'"],
}


def make_dataset(scale: float) -> DatasetSpec:
    """Return a few members; their entries do not matter."""
    return DatasetSpec(20, 10, (0,), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    addresses = prepare_accounts(environment)
    settings = environment.settings | {
        "MAIL_URL": f"file:{environment.directory / 'mail'}",
        "PUBLIC_URL": "http://127.0.0.1:8000",
        # The address of the client is that of the header.
        "TRUSTED_PROXY_COUNT": "1",
    }
    target = environment.anonymous_target_on(PATH, ExtraDatabase(NAME, settings))
    log_progress(f"{ROUNDS * REPEATS} requests for each of {len(addresses)} addresses")
    client = ResetClient(target)
    timings = time_interleaved(
        {kind: partial(client.ask, email) for kind, email in addresses.items()},
        ROUNDS,
        REPEATS,
    )
    unknown = timings.pop(UNKNOWN)
    return [
        Row(NAME, UNKNOWN, format_milliseconds(unknown.median)),
        *(compare(kind, timing, unknown) for kind, timing in timings.items()),
    ]


def prepare_accounts(environment: BenchmarkEnvironment) -> dict[str, str]:
    """Make the accounts out of members of the data; return the address of each kind."""
    addresses = {UNKNOWN: "nobody@example.com"}
    members = iter(environment.spec.all_members)
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        for number, (kind, changes) in enumerate(ACCOUNTS.items()):
            email = addresses[kind] = f"person{number}@example.com"
            for change in changes:
                connection.execute(
                    f"UPDATE member SET email = %(email)s, {change}"
                    " WHERE id = %(member)s",
                    {"email": email, "member": next(members)},
                )
        # As if they had been signed up with these addresses.
        connection.execute("ALTER TABLE member DISABLE TRIGGER member_email_changed_at")
        connection.execute("UPDATE member SET email_changed_at = NULL")
        connection.execute("ALTER TABLE member ENABLE TRIGGER member_email_changed_at")
    return addresses


class ResetClient:
    """One connection that asks as a proxy does, for another client each time."""

    def __init__(self, target: Target) -> None:
        self._path = target.path
        self._connection = http.client.HTTPConnection(LOOPBACK, target.port, timeout=60)
        self._numbers = itertools.count()

    def ask(self, email: str) -> None:
        number = next(self._numbers)
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
        body = json.dumps({"email": email})
        self._connection.request("POST", self._path, body, headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status != http.client.ACCEPTED:
            raise AssertionError(f"{self._path}: {response.status} {text!r}")


def compare(kind: str, timing: Timing, unknown: Timing) -> Row:
    ratio = timing.ratio_to(unknown)
    # Faster tells as much as slower.
    distance = max(ratio, 1 / ratio)
    measured = f"{format_milliseconds(timing.median)}, {ratio:.3f} : 1"
    return max_ratio_row(NAME, f"{kind} : {UNKNOWN}", measured, distance, MAX_RATIO)
