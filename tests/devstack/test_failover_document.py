"""The commands of "Failover" in docs/operations.md, typed as they stand there."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from devstack.stores.data_dir import StoreDir, write_private_file
from devstack.stores.postgres import Postgres, remove_stale_pid
from devstack.stores.replication import RunningPostgres
from tests.support.fault_injection import PostgresServer
from tests.support.replication import read_numbers, run_on
from tests.support.waiting import wait_until

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"
COMMAND = re.compile(r" +(db[12])  (.*)")
LAST_LINE = re.compile(r"(\S+), last line: (.*)")
START = "start PostgreSQL"
PASSWORD = "swordfish-9"


def read_commands(first: str, last: str) -> list[tuple[str, str]]:
    """Return hosts and commands between two texts of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    _, _, text = text.partition(first)
    text, found, _ = text.partition(last)
    assert found, "the document has other words"
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (match[1], re.sub(r"\s+", " ", match[2]).strip())
        for match in map(COMMAND.fullmatch, lines)
        if match
    ]


@dataclass
class Drill:
    """Two servers, and an operator who types at both."""

    folder: Path
    servers: dict[str, RunningPostgres]
    typed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        store_dir = StoreDir(self.folder / "second")
        store_dir.path.mkdir()
        password = str(conninfo_to_dict(self.servers["db1"].url)["password"])
        # The copy has the roles of the primary.
        write_private_file(store_dir.path / "password", password)
        self.empty_dir, self.empty = store_dir, Postgres.open(store_dir)

    def store(self, host: str) -> Postgres:
        return self.servers[host].store if host in self.servers else self.empty

    def type(self, first: str, last: str) -> None:
        commands = read_commands(first, last)
        assert commands
        for host, command in commands:
            self.typed.append(command)
            self.run(host, command)

    def run(self, host: str, command: str) -> None:
        store = self.store(host)
        if command == START:
            self.start(host)
        elif last_line := LAST_LINE.fullmatch(command):
            with (store.cluster / last_line[1]).open("a", encoding="utf-8") as file:
                file.write(self.real(last_line[2]) + "\n")
        elif command.startswith("pg_"):
            name, *arguments = shlex.split(command.replace("$PGDATA", "{PGDATA}"))
            store.run_program(
                name,
                *(self.real(each.format(PGDATA=store.cluster)) for each in arguments),
            )
        else:
            run_on(self.servers[host], *self.real(command).rstrip(";").split(";"))

    def start(self, host: str) -> None:
        if host in self.servers:
            self.servers[host].restart()
        else:
            self.servers[host] = RunningPostgres.start(self.empty, self.empty_dir)

    def real(self, text: str) -> str:
        """Return the text with the addresses and passwords of this machine."""
        owner = conninfo_to_dict(self.servers["db1"].url)
        for host, server in self.servers.items():
            port = conninfo_to_dict(server.url)["port"]
            text = text.replace(f"host={host}", f"host=127.0.0.1 port={port}")
        text = text.replace(
            "user=postgres", "user={user} password={password}".format(**owner)
        )
        text = text.replace("hostssl", "host").replace(" db2 ", " 127.0.0.1/32 ")
        return text.replace("password=…", f"password={PASSWORD}").replace(
            "'…'", f"'{PASSWORD}'"
        )

    def wait_for_standby(self, host: str, name: str, state: str) -> None:
        query = "SELECT application_name, sync_state FROM pg_stat_replication"
        with psycopg.connect(self.servers[host].url, autocommit=True) as connection:
            wait_until(lambda: connection.execute(query).fetchall() == [(name, state)])

    def write(self, host: str, number: int) -> None:
        run_on(self.servers[host], f"INSERT INTO written VALUES ({number})")


@pytest.fixture
def drill() -> Iterator[Drill]:
    folder = Path(tempfile.mkdtemp(prefix="household-ledger-drill-"))
    folder.chmod(0o711)  # PostgreSQL may run under another account
    try:
        first = PostgresServer(folder / "first", is_ephemeral=False)
        primary = RunningPostgres(first.store, first.folder, first.process)
        drill = Drill(folder, {"db1": primary})
        try:
            yield drill
        finally:
            for server in drill.servers.values():
                server.remove()
    finally:
        shutil.rmtree(folder)


def test_failover_of_the_document_loses_nothing_and_lets_writes_go_on(
    drill: Drill,
) -> None:
    run_on(drill.servers["db1"], "CREATE TABLE written (number int)")
    drill.type("**To set it up**", "For a synchronous standby")
    drill.wait_for_standby("db1", "db2", "async")
    drill.type("For a synchronous standby", "The files of the primary")
    drill.wait_for_standby("db1", "db2", "quorum")
    drill.write("db1", 1)
    # The primary is lost.
    drill.servers["db1"].kill()
    drill.type("1. Make sure that it is off", "3. Make the former primary")
    drill.write("db2", 2)
    remove_stale_pid(drill.store("db1").cluster)
    drill.type("3. Make the former primary", "Once it is `streaming`")
    drill.wait_for_standby("db2", "db1", "async")
    drill.type("Once it is `streaming`", "The name in the parentheses")
    drill.wait_for_standby("db2", "db1", "quorum")
    # A write would wait for ever for a standby without this name.
    drill.write("db2", 3)
    wait_until(lambda: read_numbers(drill.servers["db1"]) == {1, 2, 3})
    assert len(drill.typed) == len(read_commands("## Failover", "## Metrics"))
