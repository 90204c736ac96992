"""Train both models: each is written by python-crfsuite, in the same bytes each time."""

import json
import math
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pycrfsuite

from card_alerts.opinion.grams import list_grams
from card_alerts.opinion.kinds import KINDS, MAX_WEIGHT, NOTICE
from card_alerts.opinion.tokens import cut, describe
from tests.support.alert_training.labeled import Labeled

# L-BFGS with a penalty on the sum of the weights drops most of the parts.
KIND_OPTIONS = {"c1": 0.003, "c2": 0.001, "max_iterations": 60}
NAME_OPTIONS = {"c1": 0.8, "c2": 0.03, "max_iterations": 120}
# Texts that are made of each sample.
COPIES = 2
MIN_COUNT = 4
# The length to which the parts of a text are scaled, so that weights stay small.
LENGTH = 8.0


def tag(labeled: Labeled) -> tuple[list[list[bytes]], list[str]]:
    """Return the features and the tag of each token."""
    tokens = cut(labeled.text)
    tags = ["O"] * len(tokens)
    for (start, end), mark in labeled.parts:
        inside = [
            index
            for index, token in enumerate(tokens)
            if token.start < end and start < token.end
        ]
        for index in inside:
            tags[index] = "B" if mark == "M" and index == inside[0] else mark
    return describe(labeled.text, tokens), tags


def train_names(samples: Iterable[Labeled], path: Path) -> None:
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sample in samples:
        if sample.kind != NOTICE:
            trainer.append(*tag(sample))
    trainer.set_params(NAME_OPTIONS | {"feature.minfreq": MIN_COUNT})
    trainer.train(str(path))


def train_kinds(samples: Iterable[Labeled]) -> bytes:
    """Return the weights of the judge of kinds, as `KindJudge.from_bytes` reads them."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sample in samples:
        grams = sorted(list_grams(sample.text))
        value = LENGTH / math.sqrt(len(grams))
        trainer.append([dict.fromkeys(grams, value)], [sample.kind])
    trainer.set_params(KIND_OPTIONS | {"feature.minfreq": MIN_COUNT})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "kinds.crfsuite")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        learned: dict[tuple[str, str], float] = tagger.info().state_features
        tagger.close()
    return pack_weights(learned)


def pack_weights(learned: dict[tuple[str, str], float]) -> bytes:
    largest = max(map(abs, learned.values()))
    step = largest / MAX_WEIGHT
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(KINDS))
    for (gram, kind), weight in learned.items():
        rows[gram][KINDS.index(kind)] = round(weight / step)
    weights: list[list[Any]] = [
        [gram, *row] for gram, row in sorted(rows.items()) if any(row)
    ]
    stored = {"scale": step * LENGTH, "weights": weights}
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode(), 9)
