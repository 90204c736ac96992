"""Move the embedded cluster to the next major version of PostgreSQL.

A new version cannot read the files of an old version, so installed old programs dump
the old cluster, which stays beside the new cluster.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from devstack.backup import exit_on_sigterm
from devstack.dumps import (
    DEBIAN_PROGRAMS,
    Database,
    DumpError,
    check_database,
    restore_dump,
    say,
    write_dump,
)
from devstack.environment import (
    StartupError,
    find_data_dir,
    get_or_create_secret_key,
    read_settings,
)
from devstack.stores import StoreDir, StoreError
from devstack.stores.data_dir import find_free_port, is_locked, open_lock_file
from devstack.stores.postgres import Postgres, program_version, remove_stale_pid
from devstack.stores.store_supervisor import stop, wait_until_ready


def upgrade(data_dir: Path, old_programs: Path | None, env: Mapping[str, str]) -> None:
    store_dir = StoreDir(data_dir / "postgres")
    if not (store_dir.path / "base").exists():
        raise DumpError(f"{store_dir.path} has no cluster.")
    if is_locked(store_dir.supervisor_lock):
        raise DumpError("The cluster is in use: stop script/server first.")
    store = Postgres.open(store_dir)
    store.finish_upgrade()
    version = store.data_version
    if version == program_version():
        say(f"The data is of PostgreSQL {version}, as the programs: nothing to do.")
        return
    programs = old_programs or Path(DEBIAN_PROGRAMS.format(version=version))
    if not (programs / "postgres").exists():
        raise DumpError(
            f"{programs} has no programs of PostgreSQL {version}; name their directory "
            "with --old-programs (docs/upgrading.md)."
        )
    say(f"PostgreSQL {version} to {program_version()}")
    former = store.base_dir / f"cluster-{version}"
    if former.exists():
        raise DumpError(f"{former} exists: move it away.")
    build_new_cluster(store, replace(store, programs_dir=programs.resolve()), env)
    store.cluster.rename(former)
    store.finish_upgrade()
    say(f"Done. The former cluster is {former}; delete it when all is well.")


def build_new_cluster(store: Postgres, old: Postgres, env: Mapping[str, str]) -> None:
    """Only read the old cluster."""
    new = replace(store, base_dir=store.base_dir / "upgrade")
    dump = store.store_dir.path / "upgrade.dump"
    with ExitStack() as stack:
        shutil.rmtree(new.base_dir, ignore_errors=True)
        new.base_dir.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, new.base_dir, ignore_errors=True)
        stack.callback(dump.unlink, missing_ok=True)
        store.os_user.chown_recursive(new.base_dir)
        with running(old) as database:
            lock = open_lock_file(dump)
            stack.callback(os.close, lock)
            write_dump(database, dump, lock, old.programs_dir)
        say(f"dumped: {dump.stat().st_size:,} bytes")
        new.create_cluster()
        with running(new) as database:
            restore_dump(dump, database)
            say(f"restored and checked: {check_database(database, env)}")
        new.cluster.rename(store.upgraded_cluster)


@contextmanager
def running(store: Postgres) -> Iterator[Database]:
    remove_stale_pid(store.cluster)
    port = find_free_port()
    process = store.launch(port)
    try:
        if not wait_until_ready(store, process, port):
            raise DumpError(f"{store.programs_dir / 'postgres'} did not start.")
        yield Database(store.connection_url(port))
    finally:
        stop(store, process)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="script/upgrade-stores",
        description="Move the PostgreSQL of script/server to the major version of its "
        "wheel, after that has changed.",
    )
    parser.add_argument(
        "--old-programs",
        type=Path,
        metavar="DIRECTORY",
        help="where postgres of the old version is "
        f"(default: {DEBIAN_PROGRAMS.format(version='VERSION')})",
    )
    arguments = parser.parse_args()
    exit_on_sigterm()
    try:
        settings = read_settings()
        data_dir = find_data_dir(settings)
        settings.setdefault("SECRET_KEY", get_or_create_secret_key(data_dir))
        upgrade(data_dir, arguments.old_programs, settings)
    except (DumpError, StoreError, StartupError) as error:
        say(f"script/upgrade-stores: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
