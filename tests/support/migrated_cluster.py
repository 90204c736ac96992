"""PostgreSQL clusters with the tables of the service, each made once in a test run.

Servers of a test's own start on a copy, instead of migrating an empty cluster.
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

COMMAND_TIMEOUT_SECONDS = 120
SECRET_KEY = "only-for-tests-" + "x" * 50
# Of what the workers of a test run share; set by the process that starts them.
RUN_FOLDER = "TEST_RUN_FOLDER"


def create_run_folder() -> None:
    """Create the folder that the workers share; other accounts can enter it."""
    os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="household-ledger-run-")
    Path(os.environ[RUN_FOLDER]).chmod(0o711)


def remove_run_folder() -> None:
    shutil.rmtree(os.environ.pop(RUN_FOLDER))


def copy_migrated_cluster(
    path: Path, *, is_ephemeral: bool = True, has_demo: bool = False
) -> StoreDir:
    """Return a new store directory at `path` with the tables of the service.

    With `has_demo` they hold the member `demo` and the demo ledger.
    """
    template = find_template("demo" if has_demo else "migrated")
    path.mkdir(parents=True)
    store_dir = StoreDir(path, is_ephemeral=is_ephemeral)
    shutil.copy2(template.path / "password", path)
    base_dir = find_base_dir(store_dir, choose_os_user(path / "base"))
    cluster = template.path / "base" / "cluster"
    subprocess.run(["cp", "-a", cluster, base_dir], check=True)
    return store_dir


def find_template(name: str) -> StoreDir:
    """Return a cluster that this test run shares; make it at the first call."""
    folder = Path(os.environ[RUN_FOLDER])
    store_dir = StoreDir(folder / name, is_ephemeral=True)
    with exclusive_lock(folder / f"{name}.lock"):
        if not store_dir.path.exists():
            try:
                if name == "demo":
                    copy_migrated_cluster(store_dir.path)
                    run_command(store_dir, "load_demo_data")
                else:
                    store_dir.path.mkdir()
                    run_command(store_dir, "migrate")
            except BaseException:
                # Else the next test would copy a part of it.
                shutil.rmtree(store_dir.path)
                raise
    return store_dir


def run_command(store_dir: StoreDir, command: str) -> None:
    """Run a command of the service on the cluster, which is stopped afterwards."""
    store = Postgres.prepare(store_dir)
    process = store_supervisor.start(store, store_dir)
    try:
        environment = os.environ | {
            "DATABASE_URL": store_dir.url_file.read_text().strip(),
            "DATABASE_TRANSACTION_POOLING": "false",
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "SECRET_KEY": SECRET_KEY,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        subprocess.run(
            [sys.executable, "manage.py", command, "--verbosity", "0"],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=COMMAND_TIMEOUT_SECONDS,
        )
    finally:
        store_supervisor.stop(store, process)
