"""How right labeled messages are read: payments, others, and each field."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from card_alerts import Confidence, Doubt, ParseResult
from card_alerts.normalization import normalize
from card_alerts.opinion.opinion import Opinion
from card_alerts.parser import parse_by
from tests.support.alert_samples import RECEIVED_AT, squeeze

# Reads a text by its sender and its title.
Reader = Callable[[str, str, str], ParseResult]
GRAM = 3


def make_reader(opinion: Opinion | None) -> Reader:
    """Return what reads a text by this opinion, or by the grammar alone."""

    def read(text: str, sender: str, title: str) -> ParseResult:
        results = parse_by(opinion, text, RECEIVED_AT, sender, title=title)
        return next((each for each in results if each.recognized), results[0])

    return read


def count_right(messages: Iterable[Any], read: Reader) -> Counter[str]:
    """Count payments and others, how they are read, and the fields that are right.

    Fields count among the recognized payments.
    """
    counts: Counter[str] = Counter()
    for message in messages:
        title, expected = message.get("title", ""), message["expect"]
        parsed = read(message["text"], message.get("sender", ""), title)
        if expected["ignored"]:
            counts["others"] += 1
            counts["booked"] += parsed.recognized
            is_doubted = Doubt.KIND in parsed.doubts
            counts["booked without a doubt"] += parsed.recognized and not is_doubted
            continue
        counts["payments"] += 1
        if not parsed.recognized or parsed.kind != expected["kind"]:
            counts["asked"] += parsed.would_be is not None
            continue
        counts["recognized"] += 1
        counts.update(_count_fields(message, parsed))
    return counts


def _count_fields(message: Any, parsed: ParseResult) -> Counter[str]:
    expected = message["expect"]
    companies = {expected["company"], *message.get("company_alt", [])}
    companies.add(message.get("company_with_sender", expected["company"]))
    accepted = [expected["card_hint"], *message.get("card_hint_alt", [])]
    hints = set(map(squeeze, accepted))
    accepted = [expected["merchant"], *message.get("merchant_alt", [])]
    names = set(map(squeeze, accepted))
    is_right = squeeze(parsed.merchant) in names
    is_sure = parsed.merchant_confidence is Confidence.SURE
    is_candidate = any(squeeze(each.text) in names for each in parsed.candidates)
    return Counter(
        {
            "wrong": int(not _is_amount(parsed, expected)),
            "company": int(parsed.card_company in companies),
            "card_hint": int(squeeze(parsed.card_hint) in hints),
            "merchant": int(is_right),
            "merchant or a candidate": int(is_right or is_candidate),
            "sure": int(is_sure),
            "sure and right": int(is_sure and is_right),
        }
    )


def _is_amount(parsed: ParseResult, expected: Any) -> bool:
    amount = parsed.original_amount if parsed.currency else parsed.amount
    is_currency = (parsed.currency or "KRW") == expected["currency"]
    return is_currency and amount is not None and float(amount) == expected["amount"]


def find_similarities(texts: Sequence[str], known: Iterable[str]) -> list[float]:
    """Return how like each text is to the nearest known one, from 0 to 1.

    It is the share of the groups of three letters that both have, of those that one of
    them has; digits are alike.
    """
    sizes: list[int] = []
    places: dict[str, list[int]] = defaultdict(list)
    for number, grams in enumerate(map(_grams, known)):
        sizes.append(len(grams))
        for gram in grams:
            places[gram].append(number)
    found = []
    for grams in map(_grams, texts):
        shared = Counter(number for gram in grams for number in places.get(gram, ()))
        found.append(
            max(
                (
                    count / (len(grams) + sizes[number] - count)
                    for number, count in shared.items()
                ),
                default=0.0,
            )
        )
    return found


def _grams(text: str) -> set[str]:
    folded = "".join("0" if c.isdigit() else c for c in normalize(text).text)
    return {folded[start : start + GRAM] for start in range(len(folded) - GRAM + 1)}
