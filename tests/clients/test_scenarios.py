"""The packages of the clients are built and used against the running service."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.check_generated import list_faults
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK
from tests.support.fault_injection import PostgresServer, RunningService
from tests.support.stores import ValkeyServer

BUILD_TIMEOUT_SECONDS = 600


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Run a service without members, since sign-ups are limited by address."""
    tmp_path.chmod(0o711)  # PostgreSQL may run under another account
    database = PostgresServer(tmp_path / "postgres", is_migrated=True)
    fast_store = ValkeyServer()
    settings = {"DATA_DIR": str(tmp_path), "BILLING_TEST_MODE": "true"}
    service = RunningService(
        database, fast_store, tmp_path / "server.log", settings=settings
    )
    try:
        service.serve()
        yield f"http://{LOOPBACK}:{service.port}"
        service.stop()
    finally:
        fast_store.kill()
        database.remove()


def build(client: str) -> None:
    run([str(ROOT / "script" / "clients"), client])


def run(command: list[str], folder: Path = ROOT) -> str:
    result = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_SECONDS,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is missing")
def test_typescript_client_lives_a_members_life(address: str) -> None:
    build("typescript")
    scenario = ROOT / "clients/typescript/dist/scenario/scenario.js"
    assert "passed" in run(["node", str(scenario), address])


def test_python_client_lives_a_members_life(address: str, tmp_path: Path) -> None:
    build("python")
    packages = tmp_path / "packages"
    (wheel,) = (ROOT / "clients/python/dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", packages]
    run([str(each) for each in (*pip, "--disable-pip-version-check", wheel)])
    scenario = (ROOT / "clients/python/scenario.py").read_text()
    (packages / "scenario.py").write_text(scenario)
    # Isolated: with the packages that the wheel asks for, and none of the service's.
    program = f"""
import runpy, sys
sys.path.insert(0, ".")
sys.argv = ["scenario.py", {address!r}]
runpy.run_path("scenario.py", run_name="__main__")
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    assert "passed" in run(command, packages)


DOCUMENT = '{"paths": {"/api/x": {"get": {"operationId": "getX"}}}}'
FAULTS = [
    ("val balance: kotlin.Int,", "fun getX(", [".kt: balance has 32 bits"]),
    ("val year: kotlin.Int,", "fun getX(", []),
    ("enum class NullEnum", "fun getX(", [".kt: NullEnum"]),
    ("", "fun getY(", [".kt: getX is missing"]),
]


@pytest.mark.parametrize(("model", "api", "faults"), FAULTS)
def test_faults_of_generated_code_are_found(
    tmp_path: Path, model: str, api: str, faults: list[str]
) -> None:
    (tmp_path / "openapi.json").write_text(DOCUMENT)
    for suffix, folder, text in (
        ("kt", "models", model),
        ("kt", "apis", api),
        ("swift", "APIs", "class func getX("),
    ):
        path = tmp_path / suffix / folder / f"File.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = list_faults(tmp_path / "openapi.json", tmp_path / "kt", tmp_path / "swift")
    assert found == faults
