"""Random writes of several members on the whole service while parts of it are killed.

Real processes, some seconds; `script/bench storm` does the same for longer.
"""

from benchmarks.storm.run import run_storm
from tests.support.migrated_cluster import copy_migrated_cluster
from tests.support.scale import scaled

OPERATIONS, MEMBERS = scaled(80, 250), 6
KILL_INTERVAL_SECONDS = 1.0


def test_no_acknowledged_write_is_lost_whatever_is_killed() -> None:
    result = run_storm(
        OPERATIONS,
        KILL_INTERVAL_SECONDS,
        members=MEMBERS,
        prepare=lambda data_dir: copy_migrated_cluster(
            data_dir / "postgres", is_ephemeral=False
        ),
    )
    assert result.record.differences == []
    assert result.record.server_errors == []
    assert result.failed_audits == []
    assert result.conflicts == 0
    killed = {name for name, _ in result.kills}
    assert killed == {"web worker", "Celery worker", "PostgreSQL", "Valkey"}
    assert result.record.operations.total() >= OPERATIONS
