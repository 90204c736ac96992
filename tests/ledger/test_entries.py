"""Entries: every field, its limits, conversion, installments, PUT and PATCH."""

import json
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from random import Random

import pytest

from config.api.serializers import MAX_AMOUNT
from ledger import rates
from ledger.models import Category, Entry, Tag
from tests.clients import JSONClient
from tests.factories import make_category, make_entry, make_tag, make_wallet

ENTRIES = "/api/account/entries"
PLAIN = {"date": "2026-11-21", "type": "expense", "amount": 5_000}
FOREIGN = {
    "date": "2026-11-21",
    "type": "expense",
    "currency": "USD",
    "originalAmount": "12.34",
    "exchangeRate": "1380.5",
}
RATELESS = {name: value for name, value in FOREIGN.items() if name != "exchangeRate"}
FIELDS = {
    "id",
    "date",
    "type",
    "amount",
    "category",
    "walletId",
    "wallet",
    "memo",
    "tags",
    "currency",
    "originalAmount",
    "exchangeRate",
    "installmentMonths",
    "pending",
    "createdAt",
    "updatedAt",
}


@pytest.fixture
def client(free_member) -> JSONClient:
    return JSONClient(free_member)


def write(client, body):
    """The new entry's body; it must be accepted."""
    response = client.send("POST", ENTRIES, body)
    assert response.status_code == 201, response.content
    return response.data


def change(client, method, entry_id, body):
    response = client.send(method, f"{ENTRIES}/{entry_id}", body)
    assert response.status_code == 200, response.content
    return response.data


def assert_refused(response, *fields):
    """400 VALIDATION_ERROR that names exactly these fields."""
    assert response.status_code == 400, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.data["code"] == "VALIDATION_ERROR"
    assert [error["field"] for error in response.data["errors"]] == list(fields)


# --- fields -------------------------------------------------------------------


def test_entry_has_every_field_of_the_contract(client, free_member):
    wallet = make_wallet(free_member, kind="CARD", name="Card")
    body = FOREIGN | {
        "category": "Travel",
        "walletId": wallet.pk,
        "memo": "Hotel\nthree nights",
        "tags": ["trip", "work"],
        "installmentMonths": 3,
    }
    entry = write(client, body)
    assert set(entry) == FIELDS
    created_at = datetime.fromisoformat(entry.pop("createdAt"))
    updated_at = datetime.fromisoformat(entry.pop("updatedAt"))
    assert created_at == updated_at
    assert created_at.tzinfo is not None
    assert entry == {
        "id": entry["id"],
        "date": "2026-11-21",
        "type": "expense",
        "amount": 17_035,  # 12.34 × 1380.5 = 17035.37
        "category": "Travel",
        "walletId": wallet.pk,
        "wallet": {"id": wallet.pk, "name": "Card"},
        "memo": "Hotel\nthree nights",
        "tags": ["trip", "work"],
        "currency": "USD",
        "originalAmount": Decimal("12.34"),
        "exchangeRate": Decimal("1380.5"),
        "installmentMonths": 3,
        "pending": False,
    }


def test_entry_needs_only_date_type_and_amount(client):
    entry = write(client, PLAIN)
    own = {name: entry[name] for name in ("id", "createdAt", "updatedAt")}
    assert entry == own | {
        "date": "2026-11-21",
        "type": "expense",
        "amount": 5_000,
        "category": None,
        "walletId": None,
        "wallet": None,
        "memo": "",
        "tags": [],
        "currency": None,
        "originalAmount": None,
        "exchangeRate": None,
        "installmentMonths": None,
        "pending": False,
    }


def test_one_entry_reads_as_it_stands_in_the_list(client):
    entry = write(client, FOREIGN | {"tags": ["a"], "category": "Food"})
    assert client.read(f"{ENTRIES}/{entry['id']}") == entry
    assert client.read(ENTRIES)["results"] == [entry]


@pytest.mark.parametrize("name", ["date", "type", "amount"])
def test_missing_date_type_or_amount_is_refused(client, name):
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_refused(client.send("POST", ENTRIES, body), name)


@pytest.mark.parametrize("body", [[], "text", 5, [PLAIN], None])
def test_body_that_is_no_object_is_refused(client, body):
    response = client.generic(
        "POST", ENTRIES, data=json.dumps(body), content_type="application/json"
    )
    assert response.status_code == 400, response.content
    assert json.loads(response.content)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("date", "2026-02-30"),
        ("date", "21.11.2026"),
        ("date", "20261121"),
        ("date", "2026-W47-6"),
        ("date", "2026-11-21T10:00:00"),
        ("date", "0000-01-01"),
        ("date", "10000-01-01"),
        ("date", 20261121),
        ("date", True),
        ("date", None),
        ("date", []),
        ("date", ""),
        ("type", "transfer"),
        ("type", "EXPENSE"),
        ("type", ""),
        ("type", None),
        ("type", True),
        ("type", 1),
        ("type", ["expense"]),
        ("type", {}),
        ("amount", 0),
        ("amount", -1),
        ("amount", MAX_AMOUNT + 1),
        ("amount", 10**400),
        ("amount", 1.5),
        ("amount", "5000"),
        ("amount", True),
        ("amount", None),
        ("amount", [5]),
        ("amount", {}),
        ("category", ""),
        ("category", "  "),
        ("category", "x" * 101),
        ("category", 5),
        ("category", True),
        ("category", ["Food"]),
        ("category", "nul\x00"),
        ("category", "bell\x07"),
        ("category", "\ud800"),
        ("walletId", "1"),
        ("walletId", True),
        ("walletId", 1.5),
        ("walletId", -1),
        ("walletId", 0),
        ("walletId", 2**63),
        ("walletId", 10**30),
        ("walletId", []),
        ("walletId", {"id": 1}),
        ("memo", "x" * 501),
        ("memo", 5),
        ("memo", True),
        ("memo", ["a"]),
        ("memo", "nul\x00"),
        ("memo", "escape\x1b[0m"),
        ("memo", "delete\x7f"),
        ("memo", "\udfff"),
        ("currency", "XXX"),
        ("currency", "US"),
        ("currency", "USDT"),
        ("currency", ""),
        ("currency", 840),
        ("currency", ["USD"]),
        ("originalAmount", 0),
        ("originalAmount", -1),
        ("originalAmount", "0.00001"),
        ("originalAmount", "NaN"),
        ("originalAmount", "Infinity"),
        ("originalAmount", "-Infinity"),
        ("originalAmount", "sNaN"),
        ("originalAmount", "1e400"),
        ("originalAmount", "1e-400"),
        ("originalAmount", 1_000_000_000_000),
        ("originalAmount", "twelve"),
        ("originalAmount", ""),
        ("originalAmount", True),
        ("originalAmount", ["1"]),
        ("exchangeRate", 0),
        ("exchangeRate", -1380),
        ("exchangeRate", "0.000000001"),
        ("exchangeRate", "NaN"),
        ("exchangeRate", "Infinity"),
        ("exchangeRate", 1_000_000_000_000),
        ("exchangeRate", "1e999999999"),
        ("exchangeRate", True),
        ("exchangeRate", {}),
        ("installmentMonths", 1),
        ("installmentMonths", 0),
        ("installmentMonths", -3),
        ("installmentMonths", 25),
        ("installmentMonths", 2.5),
        ("installmentMonths", "3"),
        ("installmentMonths", True),
        ("tags", None),
        ("tags", "trip"),
        ("tags", {"0": "trip"}),
        ("tags", [f"tag{number}" for number in range(51)]),
    ],
)
def test_value_that_does_not_fit_is_refused(client, free_member, name, value):
    card = make_wallet(free_member, kind="CARD")
    body = FOREIGN | {"walletId": card.pk, "amount": 5} | {name: value}
    if name == "amount":
        body = PLAIN | {name: value}
    response = client.send("POST", ENTRIES, body)
    assert_refused(response, name)
    assert Entry.objects.count() == 0
    assert Category.objects.count() == 0


@pytest.mark.parametrize(
    "tag", ["", " ", "a,b", "x" * 101, 5, None, True, ["a"], {}, "nul\x00"]
)
def test_tag_that_does_not_fit_is_refused_by_its_index(client, tag):
    response = client.send("POST", ENTRIES, PLAIN | {"tags": ["fine", tag]})
    assert_refused(response, "tags.1")
    assert Tag.objects.count() == 0


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_json_constants_that_are_no_numbers_are_refused(client, constant):
    body = json.dumps(PLAIN).replace("5000", constant)
    response = client.generic(
        "POST", ENTRIES, data=body, content_type="application/json"
    )
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", 1),
        ("amount", MAX_AMOUNT),
        ("date", "0001-01-01"),
        ("date", "9999-12-31"),
        ("date", "2028-02-29"),
        ("memo", "x" * 500),
        ("memo", "tab\tand\nnewline"),
        ("memo", "점심 🍜 “quotes”"),
        ("memo", ""),
        ("category", "가" * 100),
        ("tags", ["x" * 100]),
        ("tags", [f"tag{number}" for number in range(50)]),
    ],
)
def test_value_at_its_limit_is_kept_as_it_is(client, name, value):
    entry = write(client, PLAIN | {name: value})
    assert entry[name] == value


def test_whole_number_written_as_a_decimal_is_a_whole_number(client):
    response = client.generic(
        "POST",
        ENTRIES,
        data='{"date": "2026-11-21", "type": "expense", "amount": 5000.0}',
        content_type="application/json",
    )
    assert response.status_code == 201, response.content
    assert json.loads(response.content)["amount"] == 5_000


def test_null_and_missing_memo_are_empty(client):
    assert write(client, PLAIN | {"memo": None})["memo"] == ""
    assert write(client, PLAIN)["memo"] == ""


def test_unknown_fields_are_ignored(client):
    entry = write(client, PLAIN | {"mood": "good", "notifKey": "x", "amounts": []})
    assert set(entry) == FIELDS


# --- what a body may never write ----------------------------------------------


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_pending_and_times_of_a_body_have_no_effect(
    client, free_member, other_member, method
):
    taken = make_entry(free_member)
    forged = PLAIN | {
        "id": taken.pk,
        "member": other_member.pk,
        "memberId": other_member.pk,
        "member_id": other_member.pk,
        "pending": True,
        "createdAt": "2001-01-01T00:00:00+09:00",
        "updatedAt": "2001-01-01T00:00:00+09:00",
        "created_at": "2001-01-01T00:00:00+09:00",
        "wallet": {"id": 1, "name": "forged"},
    }
    if method == "POST":
        body = write(client, forged)
        entry = Entry.objects.get(pk=body["id"])
        assert entry.pk != taken.pk
    else:
        own = make_entry(free_member)
        created_at = own.created_at
        body = change(client, method, own.pk, forged)
        entry = Entry.objects.get(pk=own.pk)
        assert body["id"] == own.pk
        assert entry.created_at == created_at
    assert entry.member == free_member
    assert entry.pending is False
    assert entry.created_at.year != 2001
    assert entry.updated_at.year != 2001
    assert body["wallet"] is None
    taken.refresh_from_db()
    assert taken.amount == 1_000


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_pending_entry_is_not_confirmed_by_writing_pending(client, free_member, method):
    entry = make_entry(free_member, pending=True)
    body = change(client, method, entry.pk, PLAIN | {"pending": False})
    assert body["pending"] is True
    assert client.read(f"{ENTRIES}/pending/count") == {"count": 1}


def test_a_change_moves_updated_at_and_keeps_created_at(client):
    entry = write(client, PLAIN)
    changed = change(client, "PATCH", entry["id"], {"memo": "later"})
    assert changed["createdAt"] == entry["createdAt"]
    assert changed["updatedAt"] > entry["updatedAt"]


# --- foreign currencies -------------------------------------------------------


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
def test_missing_amount_is_the_product_rounded_half_up(client, original, rate, amount):
    body = FOREIGN | {"originalAmount": original, "exchangeRate": rate}
    entry = write(client, body)
    assert entry["amount"] == amount
    assert entry["originalAmount"] == Decimal(original)
    assert entry["exchangeRate"] == Decimal(rate)


def test_conversion_agrees_with_exact_arithmetic_on_random_values(client):
    random = Random(20261121)
    for _ in range(40):
        original = Decimal(random.randrange(1, 10**9)).scaleb(-random.randrange(5))
        rate = Decimal(random.randrange(1, 10**11)).scaleb(-8)
        product = (original * rate).quantize(Decimal(1), ROUND_HALF_UP)
        body = FOREIGN | {"originalAmount": str(original), "exchangeRate": str(rate)}
        response = client.send("POST", ENTRIES, body)
        if product == 0:
            assert_refused(response, "amount")
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
def test_product_that_is_no_amount_is_refused(client, original, rate):
    body = FOREIGN | {"originalAmount": original, "exchangeRate": rate}
    assert_refused(client.send("POST", ENTRIES, body), "amount")


@pytest.mark.parametrize("as_number", [True, False], ids=["number", "string"])
def test_decimals_are_exact_as_number_and_as_string(client, as_number):
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


def test_amount_that_is_given_is_kept_beside_the_rate(client):
    entry = write(client, FOREIGN | {"amount": 17_000})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == Decimal("1380.5")


def test_missing_rate_is_looked_up_for_the_date(client, fx_source):
    fx_source.quote("USD", "KRW", "1390.12345678", "2026-10-02")
    entry = write(client, RATELESS | {"date": "2026-10-04"})
    assert entry["exchangeRate"] == Decimal("1390.12345678")
    assert entry["amount"] == 17_154  # 12.34 × 1390.12345678 = 17154.12…
    request, _ = fx_source.log[0]
    assert request.args["date"] == "2026-10-04"


def test_rate_that_was_looked_up_is_not_asked_for_again(client, fx_source):
    fx_source.quote("USD", "KRW", "1390", "2026-10-02")
    for _ in range(3):
        write(client, RATELESS | {"date": "2026-10-02"})
    assert len(fx_source.calls) == 1


def test_amount_that_is_given_is_kept_beside_a_rate_that_is_looked_up(
    client, fx_source
):
    fx_source.quote("USD", "KRW", "1390", "2026-11-20")
    entry = write(client, RATELESS | {"amount": 17_000})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == 1390


def test_rate_follows_from_the_amount_where_none_can_be_had(client):
    entry = write(client, RATELESS | {"amount": 17_000, "originalAmount": "12"})
    assert entry["amount"] == 17_000
    assert entry["exchangeRate"] == Decimal("1416.66666667")


def test_rate_that_would_be_beyond_all_rates_is_refused(client):
    body = RATELESS | {"amount": 999_999_999_999, "originalAmount": "0.0001"}
    response = client.send("POST", ENTRIES, body)
    assert response.status_code == 400
    assert [error["field"] for error in response.data["errors"]] == ["amount"]


def test_neither_rate_nor_amount_is_502(client):
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
def test_rate_that_is_not_needed_is_not_looked_up(client, fx_source, body):
    client.send("POST", ENTRIES, RATELESS | body)
    assert fx_source.calls == []


def test_amount_too_small_for_its_original_amount_is_refused(client):
    body = RATELESS | {"amount": 1, "originalAmount": "999999999999"}
    assert_refused(client.send("POST", ENTRIES, body), "amount")


def test_foreign_entry_without_original_amount_is_refused(client):
    body = {k: v for k, v in FOREIGN.items() if k != "originalAmount"}
    assert_refused(client.send("POST", ENTRIES, body), "originalAmount")


def test_foreign_entry_with_an_amount_of_zero_is_refused(client):
    response = client.send("POST", ENTRIES, FOREIGN | {"amount": 0})
    assert_refused(response, "amount")


@pytest.mark.parametrize("currency", ["KRW", "krw", None])
def test_home_currency_entry_has_no_foreign_fields(client, currency):
    body = PLAIN | {"currency": currency, "originalAmount": "5", "exchangeRate": "1"}
    entry = write(client, body)
    assert entry["amount"] == 5_000
    for name in ("currency", "originalAmount", "exchangeRate"):
        assert entry[name] is None


@pytest.mark.parametrize("currency", ["KRW", None])
def test_home_currency_entry_needs_an_amount(client, currency):
    body = FOREIGN | {"currency": currency}
    assert_refused(client.send("POST", ENTRIES, body), "amount")


@pytest.mark.parametrize("currency", ["usd", "Usd", " USD "])
def test_currency_is_written_in_any_letter_case(client, currency):
    assert write(client, FOREIGN | {"currency": currency})["currency"] == "USD"


def test_new_rate_converts_again(client):
    entry = write(client, FOREIGN)
    changed = change(client, "PATCH", entry["id"], {"exchangeRate": "1400"})
    assert changed["amount"] == 17_276
    assert changed["originalAmount"] == Decimal("12.34")


def test_new_original_amount_converts_again(client):
    entry = write(client, FOREIGN)
    changed = change(client, "PATCH", entry["id"], {"originalAmount": 10})
    assert changed["amount"] == 13_805
    assert changed["exchangeRate"] == Decimal("1380.5")


def test_new_amount_of_a_foreign_entry_keeps_original_amount_and_rate(client):
    entry = write(client, FOREIGN)
    changed = change(client, "PATCH", entry["id"], {"amount": 17_100})
    assert changed["amount"] == 17_100
    assert changed["originalAmount"] == Decimal("12.34")
    assert changed["exchangeRate"] == Decimal("1380.5")


def test_currency_null_makes_a_foreign_entry_a_home_one(client):
    entry = write(client, FOREIGN)
    changed = change(client, "PATCH", entry["id"], {"currency": None})
    assert changed["amount"] == 17_035
    for name in ("currency", "originalAmount", "exchangeRate"):
        assert changed[name] is None


def test_home_entry_becomes_a_foreign_one(client):
    entry = write(client, PLAIN)
    body = {"currency": "JPY", "originalAmount": 1_000, "exchangeRate": "9.2"}
    changed = change(client, "PATCH", entry["id"], body)
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
def test_rate_that_is_taken_away_is_looked_up_anew(client, fx_source, method, body):
    entry = write(client, FOREIGN)
    fx_source.quote("USD", "KRW", "1400", "2026-11-20")
    changed = change(client, method, entry["id"], body)
    assert changed["exchangeRate"] == 1400
    assert changed["amount"] == 17_276


def test_new_currency_has_a_rate_of_its_own(client, fx_source):
    entry = write(client, FOREIGN)
    fx_source.quote("EUR", "KRW", "1600", "2026-11-20")
    changed = change(client, "PATCH", entry["id"], {"currency": "EUR"})
    assert changed["exchangeRate"] == 1600
    assert changed["amount"] == 19_744
    assert change(client, "PATCH", entry["id"], {"currency": "EUR"}) == changed | {
        "updatedAt": client.read(f"{ENTRIES}/{entry['id']}")["updatedAt"]
    }


def test_home_entry_becomes_a_foreign_one_at_the_rate_of_its_date(client, fx_source):
    entry = write(client, PLAIN | {"date": "2026-10-02"})
    fx_source.quote("JPY", "KRW", "9.2", "2026-10-02")
    body = {"currency": "JPY", "originalAmount": 1_000}
    changed = change(client, "PATCH", entry["id"], body)
    assert changed["amount"] == 9_200
    assert fx_source.log[0][0].args["date"] == "2026-10-02"


def test_new_date_keeps_the_rate(client, fx_source):
    entry = write(client, FOREIGN)
    changed = change(client, "PATCH", entry["id"], {"date": "2026-10-02"})
    assert changed["exchangeRate"] == Decimal("1380.5")
    assert changed["amount"] == entry["amount"]
    assert fx_source.calls == []


def test_change_that_needs_a_rate_is_502_and_changes_nothing_without_one(client):
    entry = write(client, PLAIN)
    path = f"{ENTRIES}/{entry['id']}"
    body = {"currency": "JPY", "originalAmount": 1_000, "memo": "x"}
    response = client.send("PATCH", path, body)
    assert response.status_code == 502, response.content
    assert response.data["code"] == "PROVIDER_UNAVAILABLE"
    assert client.read(path) == entry


def test_entry_that_changes_while_its_rate_is_looked_up_gets_the_right_one(
    client, monkeypatch
):
    """What is needed is seen under the lock, so it is looked up once more."""
    entry = write(client, PLAIN)
    looked_up = []

    def look_up(base, quote, day):
        Entry.objects.filter(pk=entry["id"]).update(date=date(2026, 9, 1))
        looked_up.append((base, quote, day))
        return rates.Rate(Decimal(day.month), day)

    monkeypatch.setattr(rates, "look_up_rate", look_up)
    body = {"currency": "JPY", "originalAmount": 1_000}
    changed = change(client, "PATCH", entry["id"], body)
    assert looked_up == [
        ("JPY", "KRW", date(2026, 11, 21)),
        ("JPY", "KRW", date(2026, 9, 1)),
    ]
    assert (changed["date"], changed["amount"]) == ("2026-09-01", 9_000)


def test_home_entry_with_a_currency_but_no_original_amount_is_refused(client):
    entry = write(client, PLAIN)
    response = client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"currency": "JPY"})
    assert_refused(response, "originalAmount")


# --- installments -------------------------------------------------------------


@pytest.mark.parametrize("months", [2, 3, 24, None])
def test_expense_by_card_may_be_paid_in_installments(client, free_member, months):
    card = make_wallet(free_member, kind="CARD")
    body = PLAIN | {"walletId": card.pk, "installmentMonths": months}
    assert write(client, body)["installmentMonths"] == months


@pytest.mark.parametrize(
    "kind", ["CASH", "BANK", "CHECK_CARD", "INVESTMENT", "PENSION", "LOAN", "OTHER"]
)
def test_installments_on_another_kind_of_wallet_are_refused(client, free_member, kind):
    wallet = make_wallet(free_member, kind=kind)
    body = PLAIN | {"walletId": wallet.pk, "installmentMonths": 3}
    assert_refused(client.send("POST", ENTRIES, body), "installmentMonths")


def test_installments_without_a_wallet_are_refused(client):
    body = PLAIN | {"installmentMonths": 3}
    assert_refused(client.send("POST", ENTRIES, body), "installmentMonths")


def test_installments_on_income_are_refused(client, free_member):
    card = make_wallet(free_member, kind="CARD")
    body = {**PLAIN, "type": "income", "walletId": card.pk, "installmentMonths": 3}
    assert_refused(client.send("POST", ENTRIES, body), "installmentMonths")


@pytest.mark.parametrize("change_to", ["income", "cash", "no wallet"])
def test_patch_that_leaves_installments_without_a_card_expense_is_refused(
    client, free_member, change_to
):
    card = make_wallet(free_member, kind="CARD")
    cash = make_wallet(free_member, kind="CASH")
    entry = write(client, PLAIN | {"walletId": card.pk, "installmentMonths": 3})
    body = {
        "income": {"type": "income"},
        "cash": {"walletId": cash.pk},
        "no wallet": {"walletId": None},
    }[change_to]
    path = f"{ENTRIES}/{entry['id']}"
    assert_refused(client.send("PATCH", path, body), "installmentMonths")
    assert client.read(path) == entry
    changed = change(client, "PATCH", entry["id"], body | {"installmentMonths": None})
    assert changed["installmentMonths"] is None


def test_put_without_installments_clears_them(client, free_member):
    card = make_wallet(free_member, kind="CARD")
    entry = write(client, PLAIN | {"walletId": card.pk, "installmentMonths": 3})
    changed = change(client, "PUT", entry["id"], PLAIN | {"walletId": card.pk})
    assert changed["installmentMonths"] is None


# --- categories and tags by name ----------------------------------------------


def test_unknown_category_is_created_as_a_major_one_of_that_type_and_last(
    client, free_member
):
    make_category(free_member, name="Food", sort_order=7)
    make_category(free_member, name="Salary", type="income", sort_order=90)
    write(client, PLAIN | {"category": "Travel"})
    travel = Category.objects.get(name="Travel")
    assert travel.member == free_member
    assert travel.type == "expense"
    assert travel.parent is None
    assert travel.sort_order == 8


def test_known_category_is_used_a_minor_one_too(client, free_member):
    food = make_category(free_member, name="Food")
    cafe = make_category(free_member, name="Cafe", parent=food)
    entry = write(client, PLAIN | {"category": "Cafe"})
    assert entry["category"] == "Cafe"
    assert Entry.objects.get().category == cafe
    assert Category.objects.count() == 2


def test_category_of_the_other_type_is_another_category(client, free_member):
    make_category(free_member, name="Allowance", type="income")
    write(client, PLAIN | {"category": "Allowance"})
    types = Category.objects.filter(name="Allowance").values_list("type", flat=True)
    assert sorted(types) == ["expense", "income"]


def test_category_name_is_trimmed_before_it_is_looked_up(client, free_member):
    make_category(free_member, name="Food")
    assert write(client, PLAIN | {"category": " Food "})["category"] == "Food"
    assert Category.objects.count() == 1


def test_new_type_of_an_entry_takes_the_category_of_that_type_by_name(
    client, free_member
):
    entry = write(client, PLAIN | {"category": "Gift"})
    changed = change(client, "PATCH", entry["id"], {"type": "income"})
    assert changed["category"] == "Gift"
    stored = Entry.objects.get(pk=entry["id"])
    assert stored.category.type == "income"


def test_unknown_tags_are_created_last_in_the_order_of_the_body(client, free_member):
    make_tag(free_member, name="known", sort_order=4)
    write(client, PLAIN | {"tags": ["zebra", "known", "apple"]})
    tags = dict(Tag.objects.values_list("name", "sort_order"))
    assert tags == {"known": 4, "zebra": 5, "apple": 6}


def test_tags_are_kept_in_the_order_of_the_body_and_each_once(client):
    entry = write(client, PLAIN | {"tags": ["b", "a", "b", " a "]})
    assert entry["tags"] == ["b", "a"]


def test_refused_entry_creates_neither_category_nor_tag(client):
    body = PLAIN | {"category": "New", "tags": ["new"], "installmentMonths": 3}
    assert_refused(client.send("POST", ENTRIES, body), "installmentMonths")
    assert Category.objects.count() == 0
    assert Tag.objects.count() == 0


# --- PUT and PATCH ------------------------------------------------------------


def make_shapes(member):
    """One entry of every shape that the service can hold, by its name."""
    card = make_wallet(member, kind="CARD")
    major = make_category(member)
    minor = make_category(member, parent=major)
    income = make_category(member, type="income")
    usd = {
        "currency": "USD",
        "original_amount": Decimal("12.3400"),
        "exchange_rate": Decimal("1380.12345678"),
    }
    full = {"wallet": card, "category": minor, "memo": "a\n\tb", "tags": ("t2", "t1")}
    return {
        "plain": make_entry(member),
        "income": make_entry(member, type="income", category=income),
        "full": make_entry(member, **full, installment_months=24),
        "largest": make_entry(member, amount=MAX_AMOUNT),
        "earliest": make_entry(member, date=date(1, 1, 1)),
        "foreign": make_entry(member, amount=17_031, **usd),
        "foreign with an amount of its own": make_entry(member, amount=9, **usd),
        "foreign with a tiny product": make_entry(
            member,
            amount=1,
            currency="VND",
            original_amount=Decimal("0.0001"),
            exchange_rate=Decimal("0.00000001"),
        ),
        "pending": make_entry(member, pending=True, **full),
        "pending foreign": make_entry(member, pending=True, amount=5, **usd),
        "pending foreign without a rate": make_entry(
            member, pending=True, amount=0, **usd | {"exchange_rate": None}
        ),
    }


SHAPES = (
    "plain",
    "income",
    "full",
    "largest",
    "earliest",
    "foreign",
    "foreign with an amount of its own",
    "foreign with a tiny product",
    "pending",
    "pending foreign",
    "pending foreign without a rate",
)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_read_can_be_sent_back_as_it_is(client, free_member, shape, method):
    entry = make_shapes(free_member)[shape]
    path = f"{ENTRIES}/{entry.pk}"
    text = client.get(path).content.decode()
    response = client.generic(method, path, data=text, content_type="application/json")
    assert response.status_code == 200, response.content
    before, after = json.loads(text), json.loads(response.content)
    assert after | {"updatedAt": None} == before | {"updatedAt": None}
    assert Category.objects.count() == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_patch_of_nothing_changes_nothing(client, free_member, shape):
    entry = make_shapes(free_member)[shape]
    before = client.read(f"{ENTRIES}/{entry.pk}")
    after = change(client, "PATCH", entry.pk, {})
    assert after | {"updatedAt": None} == before | {"updatedAt": None}


@pytest.mark.parametrize("shape", SHAPES)
def test_patch_of_the_memo_leaves_all_else(client, free_member, shape):
    entry = make_shapes(free_member)[shape]
    before = client.read(f"{ENTRIES}/{entry.pk}")
    after = change(client, "PATCH", entry.pk, {"memo": "changed"})
    same = {"updatedAt": None, "memo": None}
    assert after | same == before | same
    assert after["memo"] == "changed"


def test_put_clears_what_it_leaves_out(client, free_member):
    entry = make_shapes(free_member)["full"]
    changed = change(client, "PUT", entry.pk, PLAIN)
    assert changed["category"] is None
    assert changed["walletId"] is None
    assert changed["memo"] == ""
    assert changed["tags"] == []
    assert changed["installmentMonths"] is None


@pytest.mark.parametrize("name", ["date", "type", "amount"])
def test_put_without_date_type_or_amount_is_refused(client, free_member, name):
    entry = make_entry(free_member)
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_refused(client.send("PUT", f"{ENTRIES}/{entry.pk}", body), name)


def test_put_of_a_home_amount_makes_a_foreign_entry_a_home_one(client):
    entry = write(client, FOREIGN)
    changed = change(client, "PUT", entry["id"], PLAIN)
    assert changed["amount"] == 5_000
    assert changed["currency"] is None


def test_patch_changes_each_field_alone(client, free_member):
    wallet = make_wallet(free_member)
    entry = write(client, PLAIN | {"tags": ["a"], "category": "Food"})
    for body in (
        {"date": "2025-01-02"},
        {"amount": 6},
        {"category": "Other"},
        {"category": None},
        {"walletId": wallet.pk},
        {"memo": "m"},
        {"tags": ["b", "c"]},
        {"tags": []},
        {"type": "income"},
    ):
        changed = change(client, "PATCH", entry["id"], body)
        expected = entry | body | {"updatedAt": changed["updatedAt"]}
        if "walletId" in body:
            expected["wallet"] = {"id": wallet.pk, "name": wallet.name}
        assert changed == expected
        entry = changed


def test_refused_change_changes_nothing(client, free_member):
    entry = make_shapes(free_member)["full"]
    before = client.read(f"{ENTRIES}/{entry.pk}")
    for method in ("PUT", "PATCH"):
        body = PLAIN | {"tags": ["x"], "category": "New", "amount": -1}
        response = client.send(method, f"{ENTRIES}/{entry.pk}", body)
        assert_refused(response, "amount")
    assert client.read(f"{ENTRIES}/{entry.pk}") == before
    assert not Tag.objects.filter(name="x").exists()


def test_rename_of_a_wallet_reaches_its_entries(client, free_member):
    wallet = make_wallet(free_member, name="Old")
    entry = write(client, PLAIN | {"walletId": wallet.pk})
    client.send("PATCH", f"/api/account/wallets/{wallet.pk}", {"name": "New"})
    body = client.read(f"{ENTRIES}/{entry['id']}")
    assert body["wallet"] == {"id": wallet.pk, "name": "New"}


# --- the end of an entry ------------------------------------------------------


def test_deleted_entry_is_gone(client, free_member):
    entry = make_entry(free_member, tags=("kept",))
    path = f"{ENTRIES}/{entry.pk}"
    assert client.send("DELETE", path).status_code == 204
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.send(method, path, PLAIN)
        assert response.status_code == 404
        assert response.data["code"] == "NOT_FOUND"
    assert Tag.objects.filter(name="kept").exists()


@pytest.mark.parametrize("row_id", [0, 2**63 - 1, 2**63, 10**30])
def test_id_that_no_row_can_have_is_404(client, row_id):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.send(method, f"{ENTRIES}/{row_id}", PLAIN)
        assert response.status_code == 404, method
        assert response.data["code"] == "NOT_FOUND"
