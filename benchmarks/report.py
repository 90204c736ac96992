"""The results of the benchmarks: rows of one table, also written as JSON."""

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One row of the table; without a target it is for information only."""

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
    measurement: str, name: str, measured: str, ratio: float, minimum: float
) -> Row:
    return Row(measurement, name, measured, ratio, f"≥ {minimum:g}", ratio >= minimum)


def max_ratio_row(
    measurement: str, name: str, measured: str, ratio: float, maximum: float
) -> Row:
    return Row(measurement, name, measured, ratio, f"≤ {maximum:g}", ratio <= maximum)


def print_table(rows: Iterable[Row]) -> None:
    """Print the rows as a table in Markdown."""
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
