"""How right the parser is on the newest exam, whose file the model does not learn from.

By field, by kind of text, and by how like a text is to the samples of before.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.report import Row, bounded
from benchmarks.second_opinion import describe, read_by_model
from card_alerts.opinion.opinion import load_opinion
from tests.support.alert_accuracy import (
    Reader,
    count_right,
    find_similarities,
    make_reader,
)
from tests.support.alert_samples import load, load_twins
from tests.support.alert_teaching import count_right_after_correction
from tests.support.alert_training.labeled import FILES

MIN_RECOGNIZED, MAX_BOOKED = 0.98, 0.01
MIN_FIELD, MIN_MERCHANT, MIN_SURE = 0.98, 0.95, 0.99
MIN_TAUGHT = 0.99
# Of the nearest earlier sample; the lower bounds.
SIMILARITIES = (0.6, 0.4, 0.0)


def measure_exam(measurement: str, name: str, path: Path) -> list[Row]:
    """Return shares of the payments, of the others, and of each field."""
    messages = load(path)
    twins = [twin for _, twin in load_twins(path)]
    opinion = load_opinion()
    if opinion is None:
        raise RuntimeError("the model's files are missing: script/train-alerts")
    read = make_reader(opinion)
    rows = _describe(measurement, name, messages, read)
    rows += _describe(measurement, f"{name}, twins", twins, read)
    right, count = count_right_after_correction(load_twins(path), read)
    text = f"{name}, twins: merchant right after one correction of each layout"
    level = f"{right} of {count}"
    value = right / max(1, count)
    rows.append(bounded(measurement, text, level, value, minimum=MIN_TAUGHT))
    for kind in sorted({each["tags"][0] for each in messages}):
        part = [each for each in messages if each["tags"][0] == kind]
        rows += _summarize(measurement, f"{name}, {kind}", part, read)
    for label, part in _by_similarity(messages):
        rows += _summarize(measurement, f"{name}, {label}", part, read)
    alone = make_reader(None)
    rows += _summarize(measurement, f"{name}, both", messages, read)
    rows += _summarize(measurement, f"{name}, grammar alone", messages, alone)
    shares = describe(messages, partial(read_by_model, opinion=opinion))
    rows.append(Row(measurement, f"{name}, model alone", shares))
    return rows


def _by_similarity(messages: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    known = [each["text"] for file in FILES for each in load(file)]
    near = find_similarities([each["text"] for each in messages], known)
    parts, upper = [], 1.01
    for lower in SIMILARITIES:
        part = [
            each
            for each, value in zip(messages, near, strict=True)
            if lower <= value < upper
        ]
        parts.append((f"{lower} and more like a sample of before", part))
        upper = lower
    return parts


def _summarize(
    measurement: str, name: str, messages: Sequence[Any], read: Reader
) -> list[Row]:
    counts = count_right(messages, read)
    rows = []
    if counts["payments"]:
        level = (
            f"{counts['payments']} payments, names right"
            f" {_share(counts, 'merchant', 'recognized'):.1%},"
            f" SURE {_share(counts, 'sure', 'recognized'):.1%}"
            f" with {_share(counts, 'sure and right', 'sure'):.1%} right"
        )
        value = _share(counts, "recognized", "payments")
        rows.append(Row(measurement, f"{name}: recognized", level, value))
    if counts["others"]:
        value = _share(counts, "booked", "others")
        level = f"{counts['booked']} of {counts['others']} others"
        rows.append(Row(measurement, f"{name}: booked", level, value))
    return rows


def _share(counts: Counter[str], part: str, whole: str) -> float:
    return counts[part] / max(1, counts[whole])


def _describe(
    measurement: str, name: str, messages: Sequence[Any], read: Reader
) -> list[Row]:
    counts = count_right(messages, read)

    def row(text: str, part: str, whole: str, **bounds: float) -> Row:
        level = f"{counts[part]} of {counts[whole]}"
        value = _share(counts, part, whole)
        return bounded(measurement, f"{name}: {text}", level, value, **bounds)

    rows = [
        row(
            "payments recognized",
            "recognized",
            "payments",
            minimum=MIN_RECOGNIZED,
        ),
        row("wrong amounts", "wrong", "recognized", maximum=0),
        row("company right", "company", "recognized", minimum=MIN_FIELD),
        row("card hint right", "card_hint", "recognized", minimum=MIN_FIELD),
        row("merchant right", "merchant", "recognized", minimum=MIN_MERCHANT),
        row("SURE names right", "sure and right", "sure", minimum=MIN_SURE),
        Row(
            measurement,
            f"{name}: names that are SURE",
            f"{counts['sure']} of {counts['recognized']}",
            _share(counts, "sure", "recognized"),
        ),
        Row(
            measurement,
            f"{name}: name chosen or a candidate",
            f"{counts['merchant or a candidate']} of {counts['recognized']}",
            _share(counts, "merchant or a candidate", "recognized"),
        ),
        Row(
            measurement,
            f"{name}: payments neither booked nor asked about",
            "",
            1 - (counts["recognized"] + counts["asked"]) / max(1, counts["payments"]),
        ),
    ]
    if counts["others"]:
        rows.append(row("others booked", "booked", "others", maximum=MAX_BOOKED))
        level = f"{counts['booked without a doubt']} of {counts['others']}"
        value = _share(counts, "booked without a doubt", "others")
        rows.append(Row(measurement, f"{name}: booked without a doubt", level, value))
    return rows
