"""A PostgreSQL cluster with the tables of the service, made once in a test run.

Servers of a test's own start on a copy of it, instead of migrating an empty one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from devstack.environment import ROOT
from devstack.stores import store_supervisor
from devstack.stores.data_dir import StoreDir, exclusive_lock
from devstack.stores.os_user import choose_os_user
from devstack.stores.postgres import Postgres, find_base_dir

MIGRATE_TIMEOUT_SECONDS = 120
# Of what the workers of a test run share; set by the process that starts them.
RUN_FOLDER = "TEST_RUN_FOLDER"


def create_run_folder() -> None:
    """Create the folder that the workers share; other accounts can enter it."""
    os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="household-ledger-run-")
    Path(os.environ[RUN_FOLDER]).chmod(0o711)


def remove_run_folder() -> None:
    shutil.rmtree(os.environ.pop(RUN_FOLDER))


def copy_migrated_cluster(path: Path, *, is_ephemeral: bool = True) -> StoreDir:
    """Return a new store directory at `path` with the tables of the service."""
    template = find_template()
    path.mkdir(parents=True)
    store_dir = StoreDir(path, is_ephemeral=is_ephemeral)
    shutil.copy2(template.path / "password", path)
    base_dir = find_base_dir(store_dir, choose_os_user(path / "base"))
    cluster = template.path / "base" / "cluster"
    subprocess.run(["cp", "-a", cluster, base_dir], check=True)
    return store_dir


def find_template() -> StoreDir:
    """Return the migrated cluster of this test run; make it at the first call."""
    folder = Path(os.environ[RUN_FOLDER])
    store_dir = StoreDir(folder / "migrated", is_ephemeral=True)
    with exclusive_lock(folder / "migrated.lock"):
        if not store_dir.path.exists():
            try:
                create_template(store_dir)
            except BaseException:
                # Else the next test would copy a part of it.
                shutil.rmtree(store_dir.path)
                raise
    return store_dir


def create_template(store_dir: StoreDir) -> None:
    store_dir.path.mkdir()
    store = Postgres.prepare(store_dir)
    process = store_supervisor.start(store, store_dir)
    try:
        environment = os.environ | {
            "DATABASE_URL": store_dir.url_file.read_text().strip(),
            "DATABASE_TRANSACTION_POOLING": "false",
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "SECRET_KEY": "only-for-tests-" + "x" * 50,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT,
            env=environment,
            check=True,
            timeout=MIGRATE_TIMEOUT_SECONDS,
        )
    finally:
        store_supervisor.stop(store, process)
