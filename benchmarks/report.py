"""What a measurement found: rows of one table, and the same as JSON."""

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table; without a target it only informs."""

    measurement: str
    name: str
    measured: str
    ratio: float | None = None
    target: str = ""
    is_met: bool | None = None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**missed**", None: ""}[self.is_met]


def min_ratio_row(
    measurement: str, name: str, level: str, ratio: float, least: float
) -> Row:
    return Row(measurement, name, level, ratio, f"≥ {least:g}", ratio >= least)


def max_ratio_row(
    measurement: str, name: str, level: str, ratio: float, most: float
) -> Row:
    return Row(measurement, name, level, ratio, f"≤ {most:g}", ratio <= most)


def print_table(rows: Iterable[Row]) -> None:
    """The table in Markdown."""
    print("\n| measurement | what | level | ratio | target | |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        cells = (
            row.measurement,
            row.name,
            row.measured,
            ratio,
            row.target,
            row.verdict,
        )
        print("| " + " | ".join(cells) + " |", flush=True)


def write_json(path: Path, rows: Iterable[Row], settings: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "settings": settings,
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def format_milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def log_progress(text: str) -> None:
    print(f"benchmarks: {text}", flush=True)
