"""The packages of the clients are built and used against the running service."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from clients.check_generated import list_faults
from devstack.environment import ROOT
from devstack.stores.data_dir import LOOPBACK
from tests.support.fault_injection import PostgresServer, RunningService
from tests.support.stores import ValkeyServer

BUILD_TIMEOUT_SECONDS = 600
NPM = shutil.which("npm")
TOOLS = Path(os.environ.get("DATA_DIR") or ROOT / "var") / "clients"
# A folder with the jars of OkHttp, Okio and Moshi (clients/README.md).
KOTLIN_LIBRARIES = os.environ.get("KOTLIN_LIBRARIES")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a service without members, since sign-ups are limited by address."""
    with tempfile.TemporaryDirectory(prefix="household-ledger-clients-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL may run under another account
        database = PostgresServer(folder / "postgres", is_migrated=True)
        fast_store = ValkeyServer()
        settings = {"DATA_DIR": name, "BILLING_TEST_MODE": "true"}
        service = RunningService(
            database, fast_store, folder / "server.log", settings=settings
        )
        try:
            service.serve()
            yield f"http://{LOOPBACK}:{service.port}"
            service.stop()
        finally:
            fast_store.kill()
            database.remove()


@pytest.fixture(scope="module")
def _built() -> None:
    """Build the packages of both clients, or of the one that needs no npm."""
    run([str(ROOT / "script" / "clients"), *([] if NPM else ["python"])])


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


@pytest.mark.skipif(not NPM, reason="npm is missing")
@pytest.mark.usefixtures("_built")
def test_typescript_client_lives_a_members_life(address: str) -> None:
    scenario = ROOT / "clients/typescript/dist/scenario/scenario.js"
    assert "passed" in run(["node", str(scenario), address])


@pytest.mark.usefixtures("_built")
def test_python_client_lives_a_members_life(address: str, tmp_path: Path) -> None:
    (wheel,) = (ROOT / "clients/python/dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    link_requirements("household-ledger-client", tmp_path)
    scenario = (ROOT / "clients/python/scenario.py").read_text()
    (tmp_path / "scenario.py").write_text(scenario)
    # Isolated: with the packages that the wheel asks for, and none of the service's.
    program = f"""
import runpy, sys
sys.path.insert(0, ".")
sys.argv = ["scenario.py", {address!r}]
runpy.run_path("scenario.py", run_name="__main__")
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    assert "passed" in run(command, tmp_path)


@pytest.mark.skipif(not KOTLIN_LIBRARIES, reason="KOTLIN_LIBRARIES is not set")
def test_kotlin_clients_live_a_members_life(address: str) -> None:
    run([str(ROOT / "script" / "clients"), "kotlin"])
    jars = [
        f"{KOTLIN_LIBRARIES}/*",
        str(TOOLS / "kotlin-compiler/run_kotlin_kernel/jars/*"),
    ]
    for serialization in ("kotlinx_serialization", "moshi"):
        classes = str(TOOLS / f"kotlin-{serialization}/classes")
        classpath = os.pathsep.join([classes, *jars])
        assert "passed" in run(["java", "-cp", classpath, "ScenarioKt", address])


def link_requirements(name: str, folder: Path) -> None:
    """Link all that a package in the folder asks for, as it is installed elsewhere."""
    installed = [
        str(folder),
        *map(str, TOOLS.glob("python/lib/python*/site-packages")),
        *sys.path,
    ]
    linked, waiting = set(), [name]
    while waiting:
        found = next(iter(Distribution.discover(name=waiting.pop(), path=installed)))
        for text in found.requires or []:
            wanted = Requirement(text)
            if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
                continue
            (package, *_) = Distribution.discover(name=wanted.name, path=installed)
            assert package.version in wanted.specifier, text
            if wanted.name in linked:
                continue
            linked.add(wanted.name)
            waiting.append(wanted.name)
            for part in {file.parts[0] for file in package.files or []}:
                source = Path(str(package.locate_file(part)))
                if part not in {"..", "__pycache__"} and source.exists():
                    (folder / part).symlink_to(source)


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
