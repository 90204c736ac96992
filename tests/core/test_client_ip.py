"""The address of a client, with proxies in front and without."""

from typing import Any

import pytest
from django.test import RequestFactory

from core.client_ip import get_client_ip, rate_limit_key

PEER = "192.0.2.1"


def read(header: str | None) -> str:
    headers = {} if header is None else {"x-forwarded-for": header}
    request = RequestFactory(headers=headers).get("/", REMOTE_ADDR=PEER)
    return get_client_ip(request)


@pytest.mark.parametrize("header", [None, "203.0.113.9", "203.0.113.9, 198.51.100.1"])
def test_header_is_not_believed_without_a_proxy(
    settings: Any, header: str | None
) -> None:
    settings.TRUSTED_PROXY_COUNT = 0
    assert read(header) == PEER


@pytest.mark.parametrize(
    ("count", "header", "address"),
    [
        (1, "198.51.100.1", "198.51.100.1"),
        (1, "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        (1, "203.0.113.9,198.51.100.1 ", "198.51.100.1"),
        (2, "203.0.113.9, 198.51.100.1, 10.0.0.1", "198.51.100.1"),
        (2, "198.51.100.1, 10.0.0.1", "198.51.100.1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, None, PEER),
        (1, "", PEER),
        (2, "198.51.100.1", PEER),
        (1, "nonsense", PEER),
        (1, "198.51.100.1, ", PEER),
        (1, "198.51.100.1:8080", PEER),
        (1, "unknown", PEER),
        (3, "198.51.100.1, 10.0.0.1", PEER),
    ],
)
def test_address_is_what_the_outermost_trusted_proxy_saw(
    settings: Any, count: int, header: str | None, address: str
) -> None:
    settings.TRUSTED_PROXY_COUNT = count
    assert read(header) == address


@pytest.mark.parametrize(
    ("address", "key"),
    [
        *(("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1")),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::1", "2001:db8:1:2::/64"),
        *(("2001:db8:1:3::1", "2001:db8:1:3::/64"), ("fe80::1%eth0", "fe80::/64")),
        *(("", "unknown"), ("nonsense", "unknown"), ("192.0.2.001", "unknown")),
    ],
)
def test_limits_count_networks_of_one_household_as_one(address: str, key: str) -> None:
    assert rate_limit_key(address) == key
