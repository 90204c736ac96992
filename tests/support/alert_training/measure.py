"""How well the model reads issuers and layouts that it has not learned from.

Whole issuers, and then whole layouts, are left out of the training in turn. The grammar
knows every sample, so the figures are the model's, and what it would change in a result
that is right.
"""

import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from card_alerts import Confidence, Doubt
from card_alerts.confidence import MIN_SURE_NAME
from card_alerts.opinion.kinds import NOTICE
from card_alerts.opinion.opinion import KINDS_FILE, NAMES_FILE, Opinion, read_opinion
from card_alerts.opinion.tokens import cut, kind_of
from card_alerts.parser import parse_by
from tests.support.alert_samples import RECEIVED_AT, squeeze
from tests.support.alert_training.generator import MADE, generate
from tests.support.alert_training.labeled import KINDS, Labeled
from tests.support.alert_training.train import COPIES, train_kinds, train_names

FOLDS = 5
Figures = dict[str, float]


def issuer_of(labeled: Labeled) -> str:
    """Return the issuer; a text without one is a group of its layout."""
    return labeled.company or layout_of(labeled)


def layout_of(labeled: Labeled) -> str:
    """Return the text without its names and numbers: words of alerts and marks."""
    marks: list[str] = []
    for token in cut(labeled.text):
        part = next(
            (
                mark
                for (start, end), mark in labeled.parts
                if start < token.end and token.start < end
            ),
            "",
        )
        if part and marks and marks[-1] == part:
            continue
        kind = kind_of(token.text)
        is_word = kind in "HULJ" and len(token.text) > 1
        marks.append(part or (token.text if not is_word else kind))
    return " ".join(mark for mark in marks if mark != "\n")


def fold_of(group: str) -> int:
    return zlib.crc32(group.encode(errors="replace")) % FOLDS


def measure(
    samples: list[Labeled], group_of: Callable[[Labeled], str]
) -> tuple[Figures, Counter[str]]:
    """Return the shares of all folds; layouts that are left out stay out everywhere."""
    counts: Counter[str] = Counter()
    for fold in range(FOLDS):
        held = [
            each
            for each in samples
            if each.file not in MADE and fold_of(group_of(each)) == fold
        ]
        layouts = {layout_of(each) for each in held}
        groups = {group_of(each) for each in held}
        known = [
            each
            for each in samples
            if group_of(each) not in groups and layout_of(each) not in layouts
        ]
        with tempfile.TemporaryDirectory() as folder:
            opinion = train(known, Path(folder))
            counts.update(count(held, opinion))
    return shares(counts), counts


def train(samples: Iterable[Labeled], folder: Path) -> Opinion:
    texts = list(generate(list(samples), COPIES))
    (folder / KINDS_FILE).write_bytes(train_kinds(texts))
    train_names(texts, folder / NAMES_FILE)
    opinion = read_opinion(folder)
    if opinion is None:
        raise RuntimeError("python-crfsuite cannot read what it has written")
    return opinion


def count(samples: list[Labeled], opinion: Opinion) -> Counter[str]:
    counts: Counter[str] = Counter()
    for sample in samples:
        scores = opinion.kinds.judge(sample.text)
        judged = max(scores._fields, key=lambda name: getattr(scores, name))
        counts["texts"] += 1
        counts["kind"] += judged == sample.kind
        if sample.kind == NOTICE:
            counts["notices"] += 1
            counts["notices taken"] += scores.payment + scores.cancellation > 0.5
        elif sample.kind != KINDS["declined"]:
            counts["payments"] += 1
            counts["payments lost"] += scores.notice > 0.5
            counts.update(count_changes(sample, opinion))
        if sample.has_name:
            counts.update(count_names(sample, opinion))
    return counts


def count_names(sample: Labeled, opinion: Opinion) -> Counter[str]:
    name = next(span for span, mark in sample.parts if mark == "M")
    expected = squeeze(sample.text[slice(*name)])
    found = [
        (squeeze(sample.text[slice(*each.span)]), each.chance)
        for each in opinion.names.find(sample.text).merchants
    ]
    is_likely = bool(found) and found[0][1] >= MIN_SURE_NAME
    is_right = bool(found) and found[0][0] == expected
    return Counter(
        {
            "names": 1,
            "name": int(is_right),
            "candidates": int(any(text == expected for text, _ in found)),
            "likely": int(is_likely),
            "likely and right": int(is_likely and is_right),
        }
    )


def count_changes(sample: Labeled, opinion: Opinion) -> Counter[str]:
    """Count what the opinion makes of a payment that the grammar reads rightly."""
    alone, *_ = parse_by(None, sample.text, RECEIVED_AT)
    both, *_ = parse_by(opinion, sample.text, RECEIVED_AT)
    if not alone.recognized:
        return Counter()
    return Counter(
        {
            "read": 1,
            "vetoed": int(not both.recognized),
            "doubted": int(Doubt.KIND in both.doubts),
            "sure": int(both.merchant_confidence is Confidence.SURE),
            "renamed": int(both.recognized and both.merchant != alone.merchant),
        }
    )


def shares(counts: Counter[str]) -> Figures:
    """Return percentages, rounded to a tenth."""
    rows = {
        "kind right": ("kind", "texts"),
        "notices taken for payments": ("notices taken", "notices"),
        "payments taken for notices": ("payments lost", "payments"),
        "name right": ("name", "names"),
        "name among the candidates": ("candidates", "names"),
        "likely names": ("likely", "names"),
        "likely names right": ("likely and right", "likely"),
        "payments asked about instead of booked": ("vetoed", "read"),
        "payments booked with a doubt of their kind": ("doubted", "read"),
        "names that are SURE": ("sure", "read"),
        "names exchanged": ("renamed", "read"),
    }
    return {
        name: round(100 * counts[part] / max(1, counts[whole]), 1)
        for name, (part, whole) in rows.items()
    }
