"""Doubts about a pending entry (spec 4.13). Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from card_alerts import Doubt, ParseResult
from ledger.models.base import MAX_MEMO_LENGTH

MAX_CANDIDATES = 5
CHOSEN = "isNameChosen"


def describe_candidates(parsed: ParseResult) -> dict[str, list[dict[str, Any]]]:
    return {
        "merchant": [
            {"text": each.text, "start": each.span[0], "end": each.span[1]}
            for each in parsed.candidates[:MAX_CANDIDATES]
        ]
    }


def without_doubt(parsed: ParseResult, doubt: Doubt) -> ParseResult:
    return replace(
        parsed, doubts=tuple(each for each in parsed.doubts if each is not doubt)
    )


def describe_doubts(parsed: ParseResult) -> dict[str, Any] | None:
    """Return the fields of the entry of a text; None if there is no doubt."""
    if not parsed.doubts:
        return None
    return _make(list(map(str, parsed.doubts)), describe_candidates(parsed))


def choose_name(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the doubts of an entry whose name a person has chosen.

    No other text replaces such a name, nor doubts it.
    """
    left = [each for each in stored["doubts"] if each != Doubt.MERCHANT]
    candidates: dict[str, list[Any]] = {"merchant": []}
    chosen = _make(left, candidates) or {"doubts": [], "candidates": candidates}
    return chosen | {CHOSEN: True}


def has_chosen_name(stored: Mapping[str, Any] | None) -> bool:
    return stored is not None and CHOSEN in stored


def settle(stored: Mapping[str, Any] | None, doubt: Doubt) -> Mapping[str, Any] | None:
    """Return the doubts of an entry without one of them; None if none is left."""
    if stored is None or doubt not in stored["doubts"]:
        return stored
    left = [each for each in stored["doubts"] if each != doubt]
    candidates = stored["candidates"]
    if doubt is Doubt.MERCHANT:
        candidates = {"merchant": []}
    if CHOSEN in stored:
        return choose_name({**stored, "doubts": left})
    return _make(left, candidates)


def combine_doubts(
    stored: Mapping[str, Any] | None,
    report: ParseResult,
    name: str,
    *,
    is_new_name: bool,
) -> Mapping[str, Any] | None:
    """Return the doubts of a payment with one report more.

    `name` is the better one of all reports, `is_new_name` if the entry takes it from
    this one. What one of them tells for sure is not doubted.
    """
    combined = stored
    if Doubt.KIND not in report.doubts:
        combined = settle(combined, Doubt.KIND)
    if has_chosen_name(stored):
        return combined
    if not name or (report.merchant or "")[:MAX_MEMO_LENGTH] != name:
        return combined
    if Doubt.MERCHANT not in report.doubts:
        return settle(combined, Doubt.MERCHANT)
    if not is_new_name:
        return combined
    others = settle(combined, Doubt.MERCHANT)
    left = others["doubts"] if others else []
    return _make([*left, Doubt.MERCHANT.value], describe_candidates(report))


def _make(doubts: list[str], candidates: Any) -> dict[str, Any] | None:
    if not doubts:
        return None
    return {"unsure": True, "doubts": doubts, "candidates": candidates}
