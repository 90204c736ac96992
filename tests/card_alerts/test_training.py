"""`script/train-alerts`: the model is made of the samples of the repository."""

import json
from pathlib import Path

import pytest

from card_alerts.opinion.opinion import (
    FIGURES_FILE,
    KINDS_FILE,
    MODEL,
    NAMES_FILE,
    read_opinion,
)
from tests.support.alert_training.__main__ import as_text, describe
from tests.support.alert_training.generator import generate
from tests.support.alert_training.labeled import Labeled, load_labeled
from tests.support.alert_training.measure import train

# Another processor rounds otherwise.
MAX_DIFFERENCE = 0.02
MAX_BYTES = 1_000_000


@pytest.fixture(scope="module")
def samples() -> list[Labeled]:
    return load_labeled()


def test_training_anew_makes_the_model_of_the_repository(
    samples: list[Labeled], tmp_path: Path
) -> None:
    anew, kept = train(samples, tmp_path), read_opinion(MODEL)

    assert kept is not None
    for name in (KINDS_FILE, NAMES_FILE):
        if (tmp_path / name).read_bytes() == (MODEL / name).read_bytes():
            continue
        for sample in samples:
            scores = zip(
                anew.kinds.judge(sample.text),
                kept.kinds.judge(sample.text),
                strict=True,
            )
            assert all(abs(one - other) < MAX_DIFFERENCE for one, other in scores)
            names = [each.names.find(sample.text).merchants for each in (anew, kept)]
            for one, other in zip(*names, strict=False):
                assert abs(one.chance - other.chance) < MAX_DIFFERENCE


def test_figures_are_of_the_samples_of_today(samples: list[Labeled]) -> None:
    figures = json.loads((MODEL / FIGURES_FILE).read_text(encoding="utf-8"))
    stored = describe(samples, MODEL)

    # Else run script/train-alerts.
    assert {name: figures[name] for name in stored} == stored
    assert sum(figures["bytes"].values()) <= MAX_BYTES
    text = (MODEL / "figures.txt").read_text(encoding="utf-8")
    assert text == as_text(figures["percent"])


def test_generated_texts_are_the_same_each_time_and_keep_their_marks(
    samples: list[Labeled],
) -> None:
    few = samples[:200]
    made = list(generate(few, 2))

    assert made == list(generate(few, 2))
    assert len(made) == 600
    for each in made:
        for (start, end), _ in each.parts:
            assert 0 <= start < end <= len(each.text)
            assert each.text[start:end].strip()
