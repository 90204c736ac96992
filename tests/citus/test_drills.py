"""The drills of docs/citus.md, with the commands that stand there.

They need nodes of their own: TEST_CITUS_BIN (`tests.support.citus_nodes`).
"""

import itertools
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from devstack.environment import ROOT
from tests.support.citus_nodes import HOST, CitusCluster, CitusNode, find_programs
from tests.support.waiting import wait_until

DOCUMENT = ROOT / "docs" / "citus.md"
COMMAND = re.compile(r" +(coord|worker1|worker2|standby|all) +(\S.*)")
NODE_BY_HOST = {
    "10.0.0.1": "coordinator",
    "10.0.0.2": "worker1",
    "10.0.0.3": "worker2",
    "10.0.0.12": "standby",
}
MEMBERS, WRITERS, WARM_UP_ENTRIES = 12, 4, 60
INSERT = """
INSERT INTO account_entry (
    member_id, date, type, amount, memo, pending, created_at, updated_at
) VALUES (%s, '2026-11-02', 'expense', 1000, %s, false, now(), now())
"""
IN_RECOVERY = "SELECT pg_is_in_recovery()"
CURRENT_FILE = "SELECT pg_walfile_name(pg_current_wal_insert_lsn())"
ARCHIVED = "SELECT last_archived_wal >= '{}' FROM pg_stat_archiver"


class Writers:
    """Threads that write entries of all members through the coordinator."""

    def __init__(self, coordinator: CitusNode) -> None:
        self.coordinator = coordinator
        self.numbers = itertools.count()
        self.is_stopped = threading.Event()
        self.begun: set[str] = set()
        self.stored: set[str] = set()
        self.refused: dict[str, psycopg.Error] = {}
        self.threads = [threading.Thread(target=self.write) for _ in range(WRITERS)]

    def write(self) -> None:
        session = self.coordinator.connect()
        while not self.is_stopped.is_set():
            number = next(self.numbers)
            memo = f"entry {number}"
            self.begun.add(memo)
            try:
                session.execute(INSERT, [number % MEMBERS + 1, memo])
                self.stored.add(memo)
            except psycopg.Error as error:
                self.refused[memo] = error
        session.close()

    def wait_for_more(self, count: int = WARM_UP_ENTRIES) -> None:
        wanted = len(self.stored) + count
        wait_until(lambda: len(self.stored) >= wanted)


@contextmanager
def writing(cluster: CitusCluster) -> Iterator[Writers]:
    writers = Writers(cluster.coordinator)
    for thread in writers.threads:
        thread.start()
    try:
        writers.wait_for_more()
        yield writers
    finally:
        writers.is_stopped.set()
        for thread in writers.threads:
            thread.join()


def read_commands(title: str) -> list[tuple[str, str]]:
    """Return nodes and commands of a section of the document."""
    _, found, text = DOCUMENT.read_text(encoding="utf-8").partition(f"### {title}\n")
    assert found, "the document has other words"
    text = re.split(r"\n##+ ", text)[0].replace("\\\n", " ")
    matches = [COMMAND.fullmatch(line) for line in text.splitlines()]
    return [(match[1], match[2]) for match in matches if match]


class Operator:
    """Types the commands of the document at the nodes of a cluster."""

    def __init__(self, cluster: CitusCluster, backups: Path) -> None:
        self.cluster, self.backups = cluster, backups

    def type(self, title: str, first: str = "", last: str = "") -> None:
        """Type the commands of a section, or those from one that begins so to another."""
        commands = read_commands(title)
        starts = [command.startswith(first) for _, command in commands]
        commands = commands[starts.index(True) :]
        if last:
            ends = [command.startswith(last) for _, command in commands]
            commands = commands[: ends.index(True) + 1]
        for name, command in commands:
            for node in self.find_nodes(name):
                self.run(node, command)

    def find_nodes(self, name: str) -> list[CitusNode]:
        if name == "all":
            return self.cluster.primaries
        nodes = self.cluster.nodes
        return [nodes["coordinator" if name == "coord" else name]]

    def run(self, node: CitusNode, command: str) -> None:
        command = command.replace("$BACKUP", str(self.backups / node.folder.name))
        command = command.replace("$PGDATA", str(node.folder))
        for host, name in NODE_BY_HOST.items():
            port = self.cluster.nodes[name].port
            command = command.replace(f"'{host}', 5432", f"'{HOST}', {port}")
            command = command.replace(f"'{host}'", f"'{HOST}' AND nodeport = {port}")
        if command == "start PostgreSQL":
            node.start()
        elif command.startswith("pg_basebackup"):
            self.back_up(node, command)
        elif command.startswith("cp "):
            self.copy(node)
        elif command.startswith("touch "):
            signal_file = node.folder / Path(command.split()[1]).name
            signal_file.touch()
            node.os_user.chown_recursive(signal_file)
        elif command.startswith("postgresql.auto.conf, last lines: "):
            lines = command.partition(": ")[2].split("; ")
            node.configure("\n".join(lines))
        else:
            for statement in filter(None, command.split(";")):
                node.read(statement)

    def back_up(self, node: CitusNode, command: str) -> None:
        program, *options = command.split()
        address = [f"--host={HOST}", f"--port={node.port}", "--username=ledger"]
        node.run(program, *options, *address)

    def copy(self, node: CitusNode) -> None:
        """Put the base backup in the place of the node's data, which is lost."""
        shutil.rmtree(node.folder)
        shutil.copytree(self.backups / node.folder.name / "base", node.folder)
        node.os_user.chown_recursive(node.folder)


@pytest.fixture(scope="module")
def built() -> Iterator[CitusCluster]:
    """Return a cluster whose stopped nodes are copied for each test."""
    programs = find_programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-citus-"))
    cluster = CitusCluster(folder, programs)
    try:
        cluster.create()
        for member in range(1, MEMBERS + 1):
            insert = f"INSERT INTO account_ledger (member_id) VALUES ({member})"
            cluster.coordinator.read(insert)
        cluster.stop()
        shutil.copytree(cluster.data, folder / "template")
        yield cluster
    finally:
        cluster.kill()
        shutil.rmtree(folder)


@pytest.fixture
def cluster(built: CitusCluster) -> Iterator[CitusCluster]:
    built.replace_data(built.folder / "template")
    yield built
    built.kill()


@pytest.fixture
def operator(cluster: CitusCluster) -> Operator:
    backups = cluster.folder / "backups"
    shutil.rmtree(backups, ignore_errors=True)
    backups.mkdir()
    for node in cluster.primaries:
        (backups / node.folder.name / "wal").mkdir(parents=True)
    cluster.os_user.chown_recursive(backups)
    return Operator(cluster, backups)


def list_entries(cluster: CitusCluster) -> set[str]:
    rows = cluster.coordinator.read("SELECT memo FROM account_entry")
    assert len(rows) == len(set(rows))
    return {memo for (memo,) in rows}


def count_shards(cluster: CitusCluster, node: CitusNode) -> int:
    ((count,),) = cluster.coordinator.read(
        f"SELECT count(*) FROM citus_shards WHERE nodeport = {node.port}"
    )
    return int(count)


def wait_for(node: CitusNode, query: str, answer: object) -> None:
    wait_until(lambda: node.read(query) == [(answer,)])


def follow(worker: CitusNode, standby: CitusNode) -> None:
    """Make the standby of a worker, for which commits wait."""
    standby.run(
        "pg_basebackup",
        *("--pgdata", str(standby.folder), "--checkpoint=fast"),
        "--write-recovery-conf",
        f"--dbname=host={HOST} port={worker.port} user=ledger application_name=standby",
    )
    standby.configure("synchronous_standby_names = ''")
    standby.start()
    worker.read("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'")
    worker.read("SELECT pg_reload_conf()")
    wait_for(worker, "SELECT sync_state FROM pg_stat_replication", "quorum")


def test_failover_of_a_worker_loses_no_entry(
    cluster: CitusCluster, operator: Operator
) -> None:
    worker, standby = cluster.nodes["worker1"], cluster.nodes["standby"]
    follow(worker, standby)
    with writing(cluster) as writers:
        worker.kill()
        wait_until(lambda: writers.refused)
        operator.type("A worker is lost")
        wait_for(standby, IN_RECOVERY, False)
        # Entries of all members are written again, and none is refused any more.
        writers.wait_for_more()
        refused = len(writers.refused)
        writers.wait_for_more()
        assert len(writers.refused) == refused
    stored = list_entries(cluster)
    assert writers.stored <= stored <= writers.begun
    assert count_shards(cluster, worker) == 0
    assert count_shards(cluster, standby) > 0
    assert " 0 differ" in cluster.manage("check_totals")


def test_worker_is_drained_and_removed_under_writers(
    cluster: CitusCluster, operator: Operator
) -> None:
    leaving = cluster.nodes["worker2"]
    assert count_shards(cluster, leaving) > 0
    with writing(cluster) as writers:
        operator.type("A worker leaves")
        writers.wait_for_more()
    assert writers.refused == {}
    assert list_entries(cluster) == writers.stored
    assert count_shards(cluster, leaving) == 0
    workers = "SELECT nodeport FROM pg_dist_node WHERE groupid <> 0"
    assert cluster.coordinator.read(workers) == [(cluster.nodes["worker1"].port,)]
    assert " 0 differ" in cluster.manage("check_totals")


def test_all_nodes_are_restored_to_one_point(
    cluster: CitusCluster, operator: Operator
) -> None:
    title = "A backup of all nodes"
    operator.type(title, "postgresql.auto.conf", last="postgresql.auto.conf")
    for node in cluster.primaries:
        node.stop()
        node.start()
    operator.type(title, "pg_basebackup", last="pg_basebackup")
    with writing(cluster) as writers:
        before = set(writers.stored)
        operator.type(title, "SELECT citus_create", last="SELECT citus_create")
        begun = set(writers.begun)
        writers.wait_for_more()
    last_files = [node.read(CURRENT_FILE)[0][0] for node in cluster.primaries]
    operator.type(title, "SELECT pg_switch_wal", last="SELECT pg_switch_wal")
    for node, last_file in zip(cluster.primaries, last_files, strict=True):
        wait_for(node, ARCHIVED.format(last_file), True)
        node.kill()
    operator.type(title, "cp ")
    for node in cluster.primaries:
        wait_for(node, IN_RECOVERY, False)
    stored = list_entries(cluster)
    assert before <= stored <= begun
    assert writers.stored - stored
    assert " 0 differ" in cluster.manage("check_totals")
