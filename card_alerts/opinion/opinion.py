"""Load the second opinion: the judge of kinds and the tagger of names."""

import importlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from card_alerts.opinion.kinds import KindJudge
from card_alerts.opinion.names import NameTagger

MODEL = Path(__file__).resolve().parent.parent / "model"
KINDS_FILE, NAMES_FILE = "kinds.bin", "names.crfsuite"
# The number of learned texts, their digest, and shares of right answers.
FIGURES_FILE = "figures.json"


@dataclass(frozen=True, slots=True)
class Opinion:
    kinds: KindJudge
    names: NameTagger


def read_opinion(folder: Path) -> Opinion | None:
    """Return None without python-crfsuite or without a file of the model."""
    try:
        crfsuite = importlib.import_module("pycrfsuite")
        kinds = (folder / KINDS_FILE).read_bytes()
    except (ImportError, FileNotFoundError):
        return None
    names = folder / NAMES_FILE
    if not names.is_file():
        return None
    tagger = crfsuite.Tagger()
    # Not open_inmemory: it does not keep the bytes.
    tagger.open(str(names))
    return Opinion(KindJudge.from_bytes(kinds), NameTagger(tagger))


@lru_cache(maxsize=1)
def load_opinion() -> Opinion | None:
    """Read the model at the first text of a process; it stays in memory."""
    return read_opinion(MODEL)
