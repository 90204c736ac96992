"""Metrics lie in memory, so that the web server survives a full disk."""

import subprocess
from pathlib import Path

import pytest

from config import server
from tests.support.settings_process import import_settings

BUILD = """
import os, stat
from config.server import build_server
build_server("config.rsgi:application")
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
print(folder, oct(stat.S_IMODE(os.stat(folder).st_mode)))
os.rmdir(folder)
"""
# Counts while nothing more fits on the disk of DATA_DIR.
COUNT_ON_A_FULL_DISK = """
import os
from contextlib import suppress
from config.server import build_server
build_server("config.rsgi:application")
with suppress(OSError), open(os.environ["DATA_DIR"] + "/filler", "wb", 0) as filler:
    while filler.write(bytes(4096)):
        pass
from core.metrics_files import claim_metrics_number, use_named_files
use_named_files()
from prometheus_client import Counter
counter = Counter("requests", "Requests.", ["route"])
claim_metrics_number()
for number in range(500):
    counter.labels(str(number)).inc()
import shutil
shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"])
print("counted")
"""
IN_A_SMALL_DISK = 'mount -t tmpfs -o size=1m tmpfs "$DATA_DIR" && exec "$@"'
SETTINGS = {"METRICS_TOKEN": "a-token-of-the-operators", "BIND": "127.0.0.1:4711"}

needs_shared_memory = pytest.mark.skipif(
    not server.SHARED_MEMORY.is_dir(), reason="no /dev/shm"
)


def can_mount(folder: Path) -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@needs_shared_memory
def test_folder_is_in_memory_and_for_its_user_alone(tmp_path: Path) -> None:
    result = import_settings(BUILD, DATA_DIR=str(tmp_path), **SETTINGS)
    assert result.returncode == 0, result.stderr
    folder, mode = result.stdout.split()
    assert folder.startswith("/dev/shm/household-ledger-metrics-")
    assert folder.endswith("-127_0_0_1_4711")
    assert mode == "0o700"
    assert list(tmp_path.iterdir()) == []


def test_folder_is_in_the_data_directory_without_shared_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SHARED_MEMORY", tmp_path / "missing")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    folder = server.find_metrics_folder("unix:/run/ledger.sock")
    assert folder == tmp_path / "metrics-unix_run_ledger_sock"


def test_folder_of_the_operator_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    result = import_settings(
        BUILD, PROMETHEUS_MULTIPROC_DIR=str(folder), DATA_DIR=str(tmp_path), **SETTINGS
    )
    assert result.stdout.split() == [str(folder), "0o700"], result.stderr


@needs_shared_memory
@pytest.mark.parametrize(("is_on_disk", "code"), [(False, 0), (True, -7)])
def test_full_disk_kills_those_alone_whose_metrics_lie_on_it(
    tmp_path: Path, is_on_disk: bool, code: int
) -> None:
    if not can_mount(tmp_path):
        pytest.skip("a small disk cannot be mounted")
    folder = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics")}
    result = import_settings(
        COUNT_ON_A_FULL_DISK,
        ("unshare", "--mount", "sh", "-c", IN_A_SMALL_DISK, "sh"),
        DATA_DIR=str(tmp_path),
        **SETTINGS,
        **(folder if is_on_disk else {}),
    )
    # -7 is SIGBUS.
    assert result.returncode == code, result.stderr
    assert ("counted" in result.stdout) is (code == 0)
