"""The compose files and the image, as far as that can be seen without a container."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from devstack.environment import ROOT
from tests.support.stores import find_closed_port

# The second is used on top of the first.
FILES = ("compose.yaml", "compose.citus.yaml")
# Those of the Compose Specification that the files use; Docker refuses unknown ones.
SERVICE_KEYS = {
    *(
        "build",
        "cap_add",
        "cap_drop",
        "command",
        "depends_on",
        "entrypoint",
        "env_file",
        "environment",
    ),
    *("healthcheck", "image", "init", "logging", "mem_limit", "ports", "profiles"),
    *("read_only", "restart", "secrets", "security_opt", "shm_size", "tmpfs"),
    "volumes",
}
HEALTH_KEYS = {"test", "interval", "timeout", "retries", "start_period", "disable"}
# What each container may do; all others may do nothing.
CAPABILITIES = {
    "postgres": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"},
    "valkey": {"CHOWN", "DAC_OVERRIDE", "SETGID", "SETUID"},
    "proxy": {"NET_BIND_SERVICE"},
}
# A version that is not moved: three numbers, two of PostgreSQL.
EXACT_TAG = re.compile(r"[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)*(@sha256:[0-9a-f]{64})?")
CONDITIONS = {"service_healthy", "service_completed_successfully", "service_started"}
DURATION = re.compile(r"\d+(s|m|h)")
HEALTH_PORT = "127.0.0.1:8000"


def read_file(name: str) -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load((ROOT / name).read_text())
    return compose


def read_compose(name: str) -> dict[str, Any]:
    """Return the file as Compose reads it: on top of the first one."""
    compose = read_file(FILES[0])
    if name == FILES[0]:
        return compose
    override = read_file(name)
    for service, changes in override["services"].items():
        merged = compose["services"].setdefault(service, {})
        for key, value in changes.items():
            is_mapping = isinstance(value, dict) and key in merged
            merged[key] = merged[key] | value if is_mapping else value
    for part in ("secrets", "volumes"):
        compose[part] |= override.get(part, {})
    return compose


def list_services() -> list[Any]:
    return [
        pytest.param(read_compose(name), service, id=f"{name}: {service}")
        for name in FILES
        for service in read_file(name)["services"]
    ]


def read_health_check() -> list[str]:
    """Return the command of the image's HEALTHCHECK."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    (line,) = [each for each in text.splitlines() if each.startswith("HEALTHCHECK ")]
    command: list[str] = json.loads(line.partition(" CMD ")[2])
    return command


def has_compose() -> bool:
    program = shutil.which("docker")
    if program is None:
        return False
    asked = subprocess.run([program, "compose", "version"], capture_output=True)
    return asked.returncode == 0


@pytest.mark.parametrize("name", FILES)
def test_compose_file_has_no_unknown_parts(name: str) -> None:
    compose = read_file(name)
    parts = {part for part in compose if not part.startswith("x-")}
    assert parts <= {"name", "services", "volumes", "secrets"}


@pytest.mark.parametrize(("compose", "name"), list_services())
def test_service_has_known_keys_and_refers_to_what_is_there(
    compose: dict[str, Any], name: str
) -> None:
    service = compose["services"][name]
    assert set(service) <= SERVICE_KEYS
    assert ("image" in service) or ("build" in service)
    for other, condition in service.get("depends_on", {}).items():
        assert set(condition) == {"condition"}
        assert condition["condition"] in CONDITIONS
        needed = compose["services"][other]
        if condition["condition"] == "service_healthy" and "build" not in needed:
            assert "test" in needed["healthcheck"], other
    assert set(service.get("secrets", [])) <= set(compose.get("secrets", {}))
    for volume in service.get("volumes", []):
        # The default of a variable has a colon of its own.
        source, *_ = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", volume).split(":")
        if source.startswith("./contrib"):
            assert (ROOT / source).exists()
        elif not source.startswith(("./", "/")):
            assert source in compose["volumes"]


@pytest.mark.parametrize("name", read_file(FILES[0])["services"])
def test_container_has_the_rights_that_it_needs_and_no_others(name: str) -> None:
    service = read_file(FILES[0])["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", [])) == CAPABILITIES.get(name, set())
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    # Each can write temporary files, within its memory or on a disk.
    writable = {each.partition(":")[0] for each in service["tmpfs"]}
    mounted = {each.split(":")[-1] for each in service.get("volumes", [])}
    assert "/tmp" in writable | mounted  # of the container
    for each in service["tmpfs"]:
        assert "size=" in each
    if "build" in service:
        assert "/data:size=16m,mode=0700,uid=10001" in service["tmpfs"]
        assert "--uid 10001" in (ROOT / "Dockerfile").read_text()


def test_base_images_have_exact_versions() -> None:
    services = read_file(FILES[0])["services"].values()
    images = [each["image"] for each in services if "build" not in each]
    for name in ("Dockerfile", "Dockerfile.backup"):
        text = (ROOT / name).read_text()
        images += re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(images) == 6
    for image in images:
        assert EXACT_TAG.fullmatch(image), image
    versions = {each for each in images if each.startswith("postgres:")}
    assert len(versions) == 1, "pg_dump must be of the server's version"


@pytest.mark.parametrize(("compose", "name"), list_services())
def test_commands_and_health_checks_are_well_formed(
    compose: dict[str, Any], name: str
) -> None:
    service = compose["services"][name]
    health = service.get("healthcheck", {})
    assert set(health) <= HEALTH_KEYS
    for key in {"interval", "timeout", "start_period"} & set(health):
        assert DURATION.fullmatch(health[key])
    shells: list[str] = []
    if "test" in health:
        kind, *words = health["test"]
        assert kind in {"CMD", "CMD-SHELL"}
        shells += words if kind == "CMD-SHELL" else []
    command = service.get("command", [])
    assert isinstance(command, list)
    if command[:2] == ["sh", "-c"]:
        shells.append(command[2])
    for text in shells:
        # Compose itself replaces what has one dollar sign.
        checked = subprocess.run(
            ["sh", "-n", "-c", text.replace("$$", "$")], capture_output=True, timeout=10
        )
        assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(not has_compose(), reason="no Docker Compose")
@pytest.mark.parametrize("name", FILES)
def test_docker_compose_accepts_the_file(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    command = ["docker", "compose", "--profile", "*"]
    for each in FILES[: FILES.index(name) + 1]:
        shutil.copy(ROOT / each, folder)
        command += ["--file", each]
    ended = subprocess.run(
        [*command, "config", "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.django_db(transaction=True)
def test_health_check_of_the_image_passes_only_while_the_service_answers(
    live_server: Any,
) -> None:
    program, *arguments = read_health_check()
    assert program == "python"
    address = live_server.url.removeprefix("http://")
    for place, is_healthy in (
        (address, True),
        (f"127.0.0.1:{find_closed_port()}", False),
    ):
        words = [word.replace(HEALTH_PORT, place) for word in arguments]
        assert words != arguments
        ended = subprocess.run(
            [sys.executable, *words], capture_output=True, timeout=30
        )
        assert (ended.returncode == 0) is is_healthy
