"""Back up the database into a checked file."""

import argparse
import fcntl
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from devstack.backup_record import recorded
from devstack.dumps import (
    DumpError,
    check_dump,
    deferred_sigterm,
    find_database,
    say,
    write_dump,
)
from devstack.stores.data_dir import is_locked, open_lock_file, try_lock

SECONDS_OF_A_DAY = 24 * 60 * 60


def back_up(
    path: Path, settings: Mapping[str, str], *, is_checked: bool = True
) -> None:
    """Write a dump to `path`, which appears only when it is complete and checked."""
    require_new(path)
    partial = path.with_name(f"{path.name}.partial")
    with deferred_sigterm() as stop_deferring:
        try:
            lock = open_lock_file(partial)
        except OSError as error:
            raise DumpError(f"{partial}: {error.strerror}") from None
        # A killed backup's lock remains while its pg_dump writes.
        is_own = try_lock(lock, fcntl.LOCK_EX) and is_file_of(lock, partial)
        try:
            stop_deferring()
            if not is_own:
                raise DumpError(f"{partial} is being written by another backup.")
            # Another backup may have finished since.
            require_new(path)
            write_dump(find_database(settings), partial, lock)
            os.fsync(lock)
            say(f"dumped: {partial.stat().st_size:,} bytes")
            if is_checked:
                say(f"restored and checked: {check_dump(partial, settings)}")
            partial.rename(path)
        except BaseException:
            if is_own:
                partial.unlink(missing_ok=True)
            raise
        finally:
            os.close(lock)
    sync_directory(path.parent)
    say(f"{path} written")


def require_new(path: Path) -> None:
    if path.exists():
        raise DumpError(f"{path} exists.")


def is_file_of(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def back_up_into(
    directory: Path,
    keep_days: int,
    settings: Mapping[str, str],
    *,
    is_checked: bool = True,
) -> None:
    """Write a dump named by its time, then delete dumps older than `keep_days`.

    Delete remains of killed backups first: they fill the disk.
    """
    for partial in sorted(directory.glob("ledger-*.dump.partial")):
        if not is_locked(partial):
            partial.unlink(missing_ok=True)
            say(f"{partial} deleted, of a backup that was killed")
    name = f"ledger-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.dump"  # noqa: TID251
    back_up(directory / name, settings, is_checked=is_checked)
    oldest = time.time() - keep_days * SECONDS_OF_A_DAY
    for path in sorted(directory.glob("ledger-*.dump")):
        if path.name != name and path.stat().st_mtime < oldest:
            path.unlink()
            say(f"{path} deleted, older than {keep_days} days")


def sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(directory)
    finally:
        os.close(directory)


def exit_on_sigterm() -> None:
    """Let SIGTERM remove unfinished files."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def read_days(text: str) -> int:
    days = int(text)
    if days < 0:
        raise ValueError
    return days


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="script/backup",
        description="Write the database into FILE, in PostgreSQL's custom format. The "
        "file appears when it has been restored into a throw-away server and all "
        "totals were right.",
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("file", nargs="?", type=Path, metavar="FILE")
    target.add_argument(
        "--into", type=Path, metavar="DIRECTORY", help="name it by time"
    )
    target.add_argument("--check", type=Path, metavar="FILE", help="only check a dump")
    parser.add_argument(
        "--keep-days",
        type=read_days,
        default=30,
        metavar="DAYS",
        help="with --into: delete older dumps afterwards (default: 30)",
    )
    parser.add_argument(
        "--no-check", action="store_true", help="do not restore it, for large databases"
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    exit_on_sigterm()
    is_checked = not arguments.no_check
    try:
        if arguments.check:
            say(f"restored and checked: {check_dump(arguments.check, os.environ)}")
            return 0
        with recorded(os.environ):
            if arguments.into:
                days = arguments.keep_days
                back_up_into(arguments.into, days, os.environ, is_checked=is_checked)
            else:
                back_up(arguments.file, os.environ, is_checked=is_checked)
    except DumpError as error:
        say(f"script/backup: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
