"""Every benchmark runs to its end at its smallest size; figures are not judged.

One database and one web server serve them all. `storm` is in tests/concurrency.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import against, moves
from benchmarks.__main__ import ALONE, BENCHMARKS, SHARED
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import (
    BenchmarkEnvironment,
    Effort,
    benchmark_environment,
)
from benchmarks.storm import service_tree as service
from tests.support.migrated_cluster import copy_migrated_cluster

SMALLEST = DatasetSpec(4, 60, (60, 80, 100, 200), 0.0001)
LEAST_EFFORT = Effort(rounds=1, max_repeats=1, load_seconds=0.1)


@pytest.fixture(scope="module")
def environment() -> Iterator[BenchmarkEnvironment]:
    with benchmark_environment(
        SMALLEST, LEAST_EFFORT, prepare_stores=prepare_stores
    ) as environment:
        yield environment


def prepare_stores(folder: Path) -> None:
    copy_migrated_cluster(folder / "postgres", is_ephemeral=False)


@pytest.mark.parametrize("name", [module.NAME for module in (*SHARED, *ALONE)])
def test_benchmark_runs(
    name: str, environment: BenchmarkEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == moves.NAME:
        monkeypatch.setattr(environment, "spec", add_member_to_delete(environment))
    rows = BENCHMARKS[name].measure(environment)
    assert rows
    assert {row.measurement for row in rows} == {name}


def add_member_to_delete(environment: BenchmarkEnvironment) -> DatasetSpec:
    """Return data whose large member is a new one, which no other benchmark reads."""
    spec = DatasetSpec(len(SMALLEST.all_members), 60, (0,), SMALLEST.scale)
    member = spec.large_member(0)
    environment.add_members([member])
    return spec


def test_two_revisions_are_compared() -> None:
    def figure(name: str, ratio: float | None) -> dict[str, Any]:
        return {"measurement": "entries", "name": name, "measured": "", "ratio": ratio}

    now = [figure("page", 3.0), figure("new", 1.0), figure("level", None)]
    rows = against.compare(now, [figure("page", 2.0), figure("level", None)])
    assert [(row.name, row.ratio) for row in rows] == [
        ("entries, page, now : before", 1.5)
    ]


def test_benchmark_of_the_whole_service_runs() -> None:
    rows = service.measure(
        0,
        settle_seconds=0,
        prepare=prepare_stores,
    )
    assert [row.measurement for row in rows] == [service.NAME] * 2
