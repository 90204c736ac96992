"""The processor time that the processes of a service have taken."""

import os

import psycopg

from benchmarks.memory import PROC, list_child_pids

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def find_main_process(connection: psycopg.Connection) -> int:
    """Return the id of PostgreSQL's main process, the parent of each session's."""
    session = PROC / str(connection.info.backend_pid) / "stat"
    return int(session.read_text().rpartition(")")[2].split()[1])


def read_processor_seconds(pid: int) -> float:
    """Return the processor time of a process and its children so far."""
    status = (PROC / str(pid) / "stat").read_text()
    # Own and those of children that have ended, each in user and in kernel mode.
    ticks = sum(map(int, status.rpartition(")")[2].split()[11:15]))
    children = sum(map(read_processor_seconds, list_child_pids(pid)))
    return ticks / TICKS_PER_SECOND + children
