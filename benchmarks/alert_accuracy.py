"""How right the parser is on labeled messages, field by field and by kind of text."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks.report import Row, bounded
from card_alerts import Confidence, ParseResult, parse
from tests.support.alert_samples import RECEIVED_AT, load, load_twins, squeeze

MIN_RECOGNIZED, MAX_BOOKED = 0.98, 0.01
MIN_FIELD, MIN_MERCHANT, MIN_SURE = 0.98, 0.95, 0.99


def measure_exam(measurement: str, name: str, path: Any) -> list[Row]:
    """Return shares of the payments, of the others, and of each field."""
    messages = load(path)
    twins = [twin for _, twin in load_twins(path)]
    rows = _describe(measurement, name, _count(messages))
    rows += _describe(measurement, f"{name}, twins", _count(twins))
    for kind in sorted({tag for each in messages for tag in each["tags"]}):
        counts = _count(each for each in messages if kind in each["tags"])
        if counts["payments"]:
            level = f"{counts['payments']} payments"
            share = counts["recognized"] / counts["payments"]
            rows.append(Row(measurement, f"{name}, {kind}: recognized", level, share))
            right = counts["merchant"] / counts["recognized"]
            rows.append(
                Row(measurement, f"{name}, {kind}: merchant right", level, right)
            )
    return rows


def _describe(measurement: str, name: str, counts: Counter[str]) -> list[Row]:
    payments, recognized = counts["payments"], counts["recognized"]
    others, sure = counts["others"], counts["sure"]
    rows = [
        bounded(
            measurement,
            f"{name}: payments recognized",
            f"{recognized} of {payments}",
            recognized / payments,
            minimum=MIN_RECOGNIZED,
        ),
        bounded(
            measurement,
            f"{name}: wrong amounts",
            f"of {recognized}",
            counts["wrong"],
            0,
        ),
    ]
    if others:
        level = f"{counts['booked']} of {others}"
        share = counts["booked"] / others
        rows.append(
            bounded(measurement, f"{name}: others booked", level, share, MAX_BOOKED)
        )
    for field, minimum in (
        ("company", MIN_FIELD),
        ("card_hint", MIN_FIELD),
        ("merchant", MIN_MERCHANT),
    ):
        level = f"{counts[field]} of {recognized}"
        share = counts[field] / recognized
        rows.append(
            bounded(
                measurement, f"{name}: {field} right", level, share, minimum=minimum
            )
        )
    if sure:
        level = f"SURE: {sure / recognized:.1%} of the payments"
        right = counts["sure and right"] / sure
        rows.append(
            bounded(
                measurement, f"{name}: SURE names right", level, right, minimum=MIN_SURE
            )
        )
    return rows


def _count(messages: Iterable[Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for message in messages:
        title, expected = message.get("title", ""), message["expect"]
        parsed = parse(
            message["text"], RECEIVED_AT, message.get("sender", ""), title=title
        )
        if expected["ignored"]:
            counts["others"] += 1
            counts["booked"] += parsed.recognized
            continue
        counts["payments"] += 1
        if not parsed.recognized or parsed.kind != expected["kind"]:
            continue
        counts["recognized"] += 1
        counts["wrong"] += not _is_amount(parsed, expected)
        companies = {expected["company"], *message.get("company_alt", [])}
        companies.add(message.get("company_with_sender", expected["company"]))
        counts["company"] += parsed.card_company in companies
        counts["card_hint"] += parsed.card_hint == expected["card_hint"]
        names = [expected["merchant"], *message.get("merchant_alt", [])]
        is_right = squeeze(parsed.merchant) in map(squeeze, names)
        counts["merchant"] += is_right
        if parsed.merchant_confidence is Confidence.SURE:
            counts["sure"] += 1
            counts["sure and right"] += is_right
    return counts


def _is_amount(parsed: ParseResult, expected: Any) -> bool:
    amount = parsed.original_amount if parsed.currency else parsed.amount
    is_currency = (parsed.currency or "KRW") == expected["currency"]
    return is_currency and amount is not None and float(amount) == expected["amount"]
