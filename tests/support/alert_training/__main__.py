"""Write the model of `card_alerts` and its figures: `script/train-alerts`."""

from pathlib import Path

from card_alerts.opinion.opinion import KINDS_FILE, MODEL, NAMES_FILE
from tests.support.alert_training.generator import generate
from tests.support.alert_training.labeled import load_labeled
from tests.support.alert_training.train import COPIES, train_kinds, train_names


def write_model(folder: Path) -> None:
    texts = list(generate(load_labeled(), COPIES))
    (folder / KINDS_FILE).write_bytes(train_kinds(texts))
    train_names(texts, folder / NAMES_FILE)


if __name__ == "__main__":
    write_model(MODEL)
