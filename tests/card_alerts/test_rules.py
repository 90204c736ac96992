"""Rules of the grammar: the texts of tests/samples/notification_rules.jsonl.

A row has texts and the fields that each of them is parsed to. `{shop}` is one of the
generated parts (see `tests.support.alert_texts`), `<word>` one of the values in
`with`: lists to combine, or a list of combinations.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from card_alerts import ParseResult, parse
from tests.support.alert_rules import AROUND, combinations, fill, list_refused
from tests.support.alert_samples import RECEIVED_AT, REFUSED, RULES, load
from tests.support.alert_texts import variants

# Texts of strangers abroad with a card and a time around them look like purchases.
MAX_BOOKED_SHARE = 0.01


def list_cases() -> Iterator[Any]:
    for row in load(RULES):
        for values in combinations(row.get("with", {})):
            words = " ".join(map(str, values.values()))
            yield pytest.param(row, values, id=f"{row['rule']} {words}".strip())


def expect(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return parts.get(value[1:-1]) or value.format_map(parts)
    return Decimal(str(value)) if isinstance(value, float) else value


def print_time(at: datetime | None, pattern: str) -> str | None:
    return at.strftime(pattern) if at else None


def fields_of(parsed: ParseResult) -> dict[str, Any]:
    booking, day = parsed.bank_booking, parsed.occurred_on
    fields: dict[str, Any] = {
        "recognized": parsed.recognized,
        "kind": parsed.kind,
        "reason": parsed.reason,
        "company": parsed.card_company,
        "hint": parsed.card_hint,
        "check": parsed.is_check_card,
        "amount": parsed.amount,
        "currency": parsed.currency,
        "original": parsed.original_amount,
        "merchant": parsed.merchant,
        "months": parsed.installment_months,
        "minute": print_time(parsed.occurred_at, "%m/%d %H:%M"),
        "occurred": print_time(parsed.occurred_at, "%Y-%m-%d %H:%M"),
        "day": day and f"{day:%m/%d}",
        "date": day and day.isoformat(),
        "original_date": parsed.original_date and parsed.original_date.isoformat(),
        "total": parsed.running_total,
        "balance": parsed.balance,
        "balance_currency": parsed.balance_currency,
        "partial": parsed.is_partial,
        "preliminary": parsed.is_preliminary,
        "confidence": parsed.merchant_confidence,
        "gateway": parsed.is_gateway,
        "cut": parsed.is_merchant_cut,
        "channel": parsed.channel,
        "booked": None,
    }
    if booking:
        fields |= {
            "booked": booking.amount,
            "purpose": booking.purpose,
            "direction": booking.direction,
            "bank": booking.bank,
            "account": booking.account_hint,
            "counterparty": booking.counterparty,
            "billed": booking.card_company,
            "left": booking.balance,
            "booked_at": print_time(booking.occurred_at, "%m/%d %H:%M"),
        }
    return fields


@pytest.mark.parametrize(("row", "values"), list(list_cases()))
def test_texts_are_parsed_by_the_rule(row: Any, values: dict[str, Any]) -> None:
    at = datetime.fromisoformat(row["received"]) if "received" in row else RECEIVED_AT
    sender, title = row.get("sender", ""), row.get("title", "")
    for text, parts in variants(*(fill(each, values) for each in row["texts"])):
        found = fields_of(parse(text, at, sender, title=title))
        for name, value in row["expect"].items():
            expected = expect(fill(value, values), parts)
            assert found[name] == expected, (name, text)


@pytest.mark.parametrize("row", load(REFUSED), ids=lambda row: row["text"])
def test_message_that_tells_no_purchase_is_not_booked(row: Any) -> None:
    for text in list(list_refused(row["text"]))[:: len(AROUND)]:
        assert not parse(text, RECEIVED_AT).recognized, text


def test_text_around_a_message_makes_no_purchase_of_it() -> None:
    texts = [text for row in load(REFUSED) for text in list_refused(row["text"])]
    booked = [text for text in texts if parse(text, RECEIVED_AT).recognized]

    assert len(booked) <= MAX_BOOKED_SHARE * len(texts), booked[:5]
