"""Write the model of `card_alerts` and its figures: `script/train-alerts`."""

import argparse
import hashlib
import json
from pathlib import Path

from card_alerts.opinion.opinion import FIGURES_FILE, KINDS_FILE, MODEL, NAMES_FILE
from tests.support.alert_training.generator import generate
from tests.support.alert_training.labeled import Labeled, load_labeled
from tests.support.alert_training.measure import issuer_of, layout_of, measure, train
from tests.support.alert_training.train import COPIES

TEXT_FILE = "figures.txt"


def digest(samples: list[Labeled]) -> str:
    """Return the SHA-256 of all texts that are learned from, with their marks."""
    hashed = hashlib.sha256()
    for each in generate(samples, COPIES):
        line = f"{each.text}\0{each.kind}\0{each.parts}\n"
        hashed.update(line.encode(errors="replace"))
    return hashed.hexdigest()


def describe(samples: list[Labeled], folder: Path) -> dict[str, object]:
    sizes = {name: (folder / name).stat().st_size for name in (KINDS_FILE, NAMES_FILE)}
    return {"texts": len(samples), "digest": digest(samples), "bytes": sizes}


def write_figures(folder: Path, *, with_measures: bool) -> None:
    samples = load_labeled()
    path = folder / FIGURES_FILE
    figures = json.loads(path.read_text()) if path.exists() else {}
    figures |= describe(samples, folder)
    if with_measures:
        figures["percent"] = {
            "issuers left out": measure(samples, issuer_of)[0],
            "layouts left out": measure(samples, layout_of)[0],
        }
    path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    (folder / TEXT_FILE).write_text(as_text(figures.get("percent", {})))


def as_text(percent: dict[str, dict[str, float]]) -> str:
    lines = ["Percent of the labeled messages, by a model that has not seen their\n"]
    for name, row in percent.items():
        lines.append(f"\n{name}\n")
        lines += [f"  {value:5.1f}  {field}\n" for field, value in row.items()]
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/train-alerts", description=__doc__)
    parser.add_argument("--model", action="store_true", help="do not measure anew")
    arguments = parser.parse_args()
    MODEL.mkdir(exist_ok=True)
    train(load_labeled(), MODEL)
    write_figures(MODEL, with_measures=not arguments.model)


if __name__ == "__main__":
    main()
