"""The results of the benchmarks: rows of one table, also written as JSON."""

import json
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.client import Series
from benchmarks.load import LoadRun


@dataclass(frozen=True)
class Row:
    """Without a target, a row is for information only."""

    measurement: str
    name: str
    measured: str
    ratio: float | None = None
    target: str = ""
    is_met: bool | None = None


def bounded(
    measurement: str,
    name: str,
    measured: str,
    ratio: float,
    maximum: float | None = None,
    *,
    minimum: float | None = None,
) -> Row:
    if minimum is not None:
        is_met, target = ratio >= minimum, f"≥ {minimum:g}"
    elif maximum is not None:
        is_met, target = ratio <= maximum, f"≤ {maximum:g}"
    else:
        return Row(measurement, name, measured, ratio)
    return Row(measurement, name, measured, ratio, target, is_met)


def compare(
    measurement: str,
    times: Mapping[str, Series],
    rows: Iterable[tuple[str, str, Sequence[str], float | None]],
) -> list[Row]:
    """Compare with the sum of others; a row is name, subject, others and maximum."""
    found = []
    for name, subject, others, maximum in rows:
        medians = (times[each].median for each in (subject, *others))
        level = " : ".join(map(format_milliseconds, medians))
        ratio = times[subject].ratio_to(*(times[other] for other in others))
        found.append(bounded(measurement, name, level, ratio, maximum))
    return found


def compare_loads(
    measurement: str,
    loads: Mapping[str, Sequence[LoadRun]],
    rows: Iterable[tuple[str, str, str, float | None]],
) -> list[Row]:
    """Compare request rates; a row is name, subject, other and minimum."""
    found = []
    for name, subject, other, minimum in rows:
        level = f"{describe_load(loads[subject])} : {describe_load(loads[other])}"
        rates = [Series(tuple(run.rate for run in loads[n])) for n in (subject, other)]
        ratio = rates[0].ratio_to(rates[1])
        found.append(bounded(measurement, name, level, ratio, minimum=minimum))
    return found


def describe_load(runs: Sequence[LoadRun]) -> str:
    rate, p50, p99 = (
        statistics.median(getattr(run, name) for run in runs)
        for name in ("rate", "p50", "p99")
    )
    text = f"{rate:.0f}/s, p50 {p50 * 1e3:.1f}, p99 {p99 * 1e3:.1f} ms"
    errors = sum(run.errors for run in runs)
    return text + (f", {errors} errors" if errors else "")


def print_table(rows: Iterable[Row]) -> None:
    print(
        "\n| measurement | what | level | ratio | target | |\n|---|---|---|---|---|---|"
    )
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        verdict = {True: "met", False: "**missed**", None: ""}[row.is_met]
        cells = row.measurement, row.name, row.measured, ratio, row.target, verdict
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
