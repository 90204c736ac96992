"""Entries in a foreign currency: conversion and rates."""

import json
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

import pytest

from ledger.currencies import rates
from ledger.models import Category, Entry
from tests.support.clients import JSONClient
from tests.support.entry_writing import (
    ENTRIES,
    FOREIGN,
    PLAIN,
    RATELESS,
    create_entry,
    update_entry,
)
from tests.support.fakes import FakeRates
from tests.support.problems import assert_invalid


@pytest.mark.parametrize(
    ("original", "rate", "amount"),
    [
        ("1", "1380.5", 1_381),
        ("1", "1380.49999999", 1_380),
        ("1", "1381.5", 1_382),
        ("3", "0.5", 2),
        ("0.0001", "5000", 1),
        ("0.5", "1", 1),
        ("99.99", "1392.35", 139_221),  # 139221.0765
        ("0.1", "15", 2),  # exactly 1.5; a binary float would round it down
        ("1.005", "1000", 1_005),
        ("1000000", "999999.999999", 999_999_999_999),
        ("999999999999", "1", 999_999_999_999),
        ("12345.6789", "0.00009", 1),
    ],
)
def test_missing_amount_is_the_product_rounded_half_up(
    client: JSONClient, original: str, rate: str, amount: int
) -> None:
    body = FOREIGN | {"originalAmount": original, "exchangeRate": rate}
    entry = create_entry(client, body)
    assert entry["amount"] == amount
    assert entry["originalAmount"] == Decimal(original)
    assert entry["exchangeRate"] == Decimal(rate)


def test_conversion_agrees_with_exact_arithmetic_on_random_values(
    client: JSONClient,
) -> None:
    random = Random(20261121)
    for _ in range(40):
        original = Decimal(random.randrange(1, 10**9)).scaleb(-random.randrange(5))
        rate = Decimal(random.randrange(1, 10**11)).scaleb(-8)
        product = (original * rate).quantize(Decimal(1), ROUND_HALF_UP)
        body = FOREIGN | {"originalAmount": str(original), "exchangeRate": str(rate)}
        response = client.send("POST", ENTRIES, body)
        if product == 0:
            assert_invalid(response, "amount")
        else:
            assert response.data["amount"] == product, body
            assert response.data["originalAmount"] == original
            assert response.data["exchangeRate"] == rate


@pytest.mark.parametrize(
    ("original", "rate"),
    [
        ("999999999999.9999", "1"),  # rounds up to one more than the largest
        ("999999999999.9999", "999999999999.99999999"),
        ("1000000", "1000000"),
        ("0.0001", "0.00000001"),
        ("1", "0.49999999"),
    ],
)
def test_product_that_is_no_amount_is_refused(
    client: JSONClient, original: str, rate: str
) -> None:
    body = FOREIGN | {"originalAmount": original, "exchangeRate": rate}
    assert_invalid(client.send("POST", ENTRIES, body), "amount")


@pytest.mark.parametrize("as_number", [True, False], ids=["number", "string"])
def test_decimals_are_exact_as_number_and_as_string(
    client: JSONClient, as_number: bool
) -> None:
    quote = "" if as_number else '"'
    text = json.dumps(FOREIGN | {"originalAmount": "o", "exchangeRate": "r"})
    text = text.replace('"o"', f"{quote}12345678901.1234{quote}")
    text = text.replace('"r"', f"{quote}0.12345678{quote}")
    response = client.generic(
        "POST", ENTRIES, data=text, content_type="application/json"
    )
    assert response.status_code == 201, response.content
    assert b'"originalAmount":12345678901.1234,' in response.content
    assert b'"exchangeRate":0.12345678,' in response.content


def test_amount_that_is_given_is_kept_beside_the_rate(client: JSONClient) -> None:
    entry = create_entry(client, FOREIGN | {"amount": 17_000})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == Decimal("1380.5")


def test_missing_rate_is_looked_up_for_the_date(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390.12345678", "2026-10-02")
    entry = create_entry(client, RATELESS | {"date": "2026-10-04"})
    assert entry["exchangeRate"] == Decimal("1390.12345678")
    assert entry["amount"] == 17_154  # 12.34 × 1390.12345678 = 17154.12…
    request, _ = fx_source.log[0]
    assert request.args["date"] == "2026-10-04"


def test_rate_that_was_looked_up_is_not_asked_for_again(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390", "2026-10-02")
    for _ in range(3):
        create_entry(client, RATELESS | {"date": "2026-10-02"})
    assert len(fx_source.calls) == 1


def test_amount_that_is_given_is_kept_beside_a_rate_that_is_looked_up(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390", "2026-11-20")
    entry = create_entry(client, RATELESS | {"amount": 17_000})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == 1390


def test_rate_follows_from_the_amount_where_none_can_be_had(client: JSONClient) -> None:
    entry = create_entry(client, RATELESS | {"amount": 17_000, "originalAmount": "12"})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == Decimal("1416.66666667")


def test_rate_that_would_be_beyond_all_rates_is_refused(client: JSONClient) -> None:
    body = RATELESS | {"amount": 999_999_999_999, "originalAmount": "0.0001"}
    response = client.send("POST", ENTRIES, body)
    assert response.status_code == 400
    assert [error["field"] for error in response.data["errors"]] == ["amount"]


def test_neither_rate_nor_amount_is_502(client: JSONClient) -> None:
    response = client.send("POST", ENTRIES, RATELESS | {"category": "New"})
    assert response.status_code == 502, response.content
    assert response.data["code"] == "PROVIDER_UNAVAILABLE"
    assert Entry.objects.count() == Category.objects.count() == 0


@pytest.mark.parametrize(
    "body",
    [
        {"currency": "KRW", "amount": 5},
        {"currency": None, "amount": 5},
        {"exchangeRate": 1400},
        {"originalAmount": None, "amount": 5},
        {"amount": 0},
        {"memo": 5},
    ],
)
def test_rate_that_is_not_needed_is_not_looked_up(
    client: JSONClient, fx_source: FakeRates, body: dict[str, Any]
) -> None:
    client.send("POST", ENTRIES, RATELESS | body)
    assert fx_source.calls == []


def test_amount_too_small_for_its_original_amount_is_refused(
    client: JSONClient,
) -> None:
    body = RATELESS | {"amount": 1, "originalAmount": "999999999999"}
    assert_invalid(client.send("POST", ENTRIES, body), "amount")


def test_foreign_entry_without_original_amount_is_refused(client: JSONClient) -> None:
    body = {k: v for k, v in FOREIGN.items() if k != "originalAmount"}
    assert_invalid(client.send("POST", ENTRIES, body), "originalAmount")


def test_foreign_entry_with_an_amount_of_zero_is_refused(client: JSONClient) -> None:
    response = client.send("POST", ENTRIES, FOREIGN | {"amount": 0})
    assert_invalid(response, "amount")


@pytest.mark.parametrize("currency", ["KRW", "krw", None])
def test_home_currency_entry_has_no_foreign_fields(
    client: JSONClient, currency: str | None
) -> None:
    body = PLAIN | {"currency": currency, "originalAmount": "5", "exchangeRate": "1"}
    entry = create_entry(client, body)
    assert entry["amount"] == 5_000
    for name in ("currency", "originalAmount", "exchangeRate"):
        assert entry[name] is None


@pytest.mark.parametrize("currency", ["KRW", None])
def test_home_currency_entry_needs_an_amount(
    client: JSONClient, currency: str | None
) -> None:
    body = FOREIGN | {"currency": currency}
    assert_invalid(client.send("POST", ENTRIES, body), "amount")


@pytest.mark.parametrize("currency", ["usd", "Usd", " USD "])
def test_currency_is_written_in_any_letter_case(
    client: JSONClient, currency: str
) -> None:
    assert create_entry(client, FOREIGN | {"currency": currency})["currency"] == "USD"


def test_new_rate_converts_again(client: JSONClient) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PATCH", entry["id"], {"exchangeRate": "1400"})
    assert changed["amount"] == 17_276
    assert changed["originalAmount"] == Decimal("12.34")


def test_new_original_amount_converts_again(client: JSONClient) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PATCH", entry["id"], {"originalAmount": 10})
    assert changed["amount"] == 13_805
    assert changed["exchangeRate"] == Decimal("1380.5")


def test_new_amount_of_a_foreign_entry_keeps_original_amount_and_rate(
    client: JSONClient,
) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PATCH", entry["id"], {"amount": 17_100})
    assert changed["amount"] == 17_100
    assert changed["originalAmount"] == Decimal("12.34")
    assert changed["exchangeRate"] == Decimal("1380.5")


def test_currency_null_makes_a_foreign_entry_a_home_one(client: JSONClient) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PATCH", entry["id"], {"currency": None})
    assert changed["amount"] == 17_035
    for name in ("currency", "originalAmount", "exchangeRate"):
        assert changed[name] is None


def test_home_entry_becomes_a_foreign_one(client: JSONClient) -> None:
    entry = create_entry(client, PLAIN)
    body = {"currency": "JPY", "originalAmount": 1_000, "exchangeRate": "9.2"}
    changed = update_entry(client, "PATCH", entry["id"], body)
    assert changed["amount"] == 9_200
    assert changed["currency"] == "JPY"


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("PUT", RATELESS),
        ("PUT", RATELESS | {"exchangeRate": None}),
        ("PATCH", {"exchangeRate": None}),
        ("PATCH", {"exchangeRate": None, "amount": None}),
    ],
)
def test_rate_that_is_taken_away_is_looked_up_anew(
    client: JSONClient, fx_source: FakeRates, method: str, body: Any
) -> None:
    entry = create_entry(client, FOREIGN)
    fx_source.quote("USD", "KRW", "1400", "2026-11-20")
    changed = update_entry(client, method, entry["id"], body)
    assert changed["exchangeRate"] == 1400
    assert changed["amount"] == 17_276


def test_new_currency_has_a_rate_of_its_own(
    client: JSONClient, fx_source: FakeRates
) -> None:
    entry = create_entry(client, FOREIGN)
    fx_source.quote("EUR", "KRW", "1600", "2026-11-20")
    changed = update_entry(client, "PATCH", entry["id"], {"currency": "EUR"})
    assert changed["exchangeRate"] == 1600
    assert changed["amount"] == 19_744
    assert update_entry(
        client, "PATCH", entry["id"], {"currency": "EUR"}
    ) == changed | {
        "updatedAt": client.get_json(f"{ENTRIES}/{entry['id']}")["updatedAt"]
    }


def test_home_entry_becomes_a_foreign_one_at_the_rate_of_its_date(
    client: JSONClient, fx_source: FakeRates
) -> None:
    entry = create_entry(client, PLAIN | {"date": "2026-10-02"})
    fx_source.quote("JPY", "KRW", "9.2", "2026-10-02")
    body = {"currency": "JPY", "originalAmount": 1_000}
    changed = update_entry(client, "PATCH", entry["id"], body)
    assert changed["amount"] == 9_200
    assert fx_source.log[0][0].args["date"] == "2026-10-02"


def test_new_date_keeps_the_rate(client: JSONClient, fx_source: FakeRates) -> None:
    entry = create_entry(client, FOREIGN)
    changed = update_entry(client, "PATCH", entry["id"], {"date": "2026-10-02"})
    assert changed["exchangeRate"] == Decimal("1380.5")
    assert changed["amount"] == entry["amount"]
    assert fx_source.calls == []


def test_change_that_needs_a_rate_is_502_and_changes_nothing_without_one(
    client: JSONClient,
) -> None:
    entry = create_entry(client, PLAIN)
    path = f"{ENTRIES}/{entry['id']}"
    body = {"currency": "JPY", "originalAmount": 1_000, "memo": "x"}
    response = client.send("PATCH", path, body)
    assert response.status_code == 502, response.content
    assert response.data["code"] == "PROVIDER_UNAVAILABLE"
    assert client.get_json(path) == entry


def test_entry_that_changes_while_its_rate_is_looked_up_gets_the_right_one(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is needed is seen under the lock, so it is looked up once more.
    entry = create_entry(client, PLAIN)
    looked_up = []

    def look_up(base: Any, quote: Any, day: Any) -> Any:
        Entry.objects.filter(pk=entry["id"]).update(date=date(2026, 9, 1))
        looked_up.append((base, quote, day))
        return rates.Rate(Decimal(day.month), day)

    monkeypatch.setattr(rates, "get_rate", look_up)
    body = {"currency": "JPY", "originalAmount": 1_000}
    changed = update_entry(client, "PATCH", entry["id"], body)
    assert looked_up == [
        ("JPY", "KRW", date(2026, 11, 21)),
        ("JPY", "KRW", date(2026, 9, 1)),
    ]
    assert (changed["date"], changed["amount"]) == ("2026-09-01", 9_000)


def test_home_entry_with_a_currency_but_no_original_amount_is_refused(
    client: JSONClient,
) -> None:
    entry = create_entry(client, PLAIN)
    response = client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"currency": "JPY"})
    assert_invalid(response, "originalAmount")
