"""Pinned requirements, the image, the compose files and the documented settings."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from config import about
from config.openapi import SPECTACULAR_SETTINGS
from devstack.environment import ROOT
from devstack.stores.valkey import find_server_binary
from tests.support.settings_process import import_settings
from tests.support.stores import find_closed_port

REQUIREMENTS = ("requirements", "requirements-embedded", "requirements-dev")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
READ_SETTING = re.compile(r"""env\.read_\w+\(\s*"([A-Z_]+)\"""")
DATABASE_URL = "postgresql://ledger@db.example/ledger"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read_pins(name: str) -> dict[str, str]:
    return {found[1].lower(): found[2] for found in PIN.finditer(read(name))}


def read_blocks(name: str) -> list[str]:
    """Return a block per requirement: its line and its hashes."""
    lines = [
        line for line in read(name).splitlines() if not line.strip().startswith("#")
    ]
    return re.split(r"\n(?=\S)", "\n".join(lines).strip())


def read_compose(name: str = "compose.yaml") -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load(read(name))
    return compose


def read_instructions(name: str) -> list[str]:
    """Return the Dockerfile's instructions, with their continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", read("Dockerfile"))
    return [line for line in joined.splitlines() if line.startswith(f"{name} ")]


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    for block in read_blocks(f"{name}.txt"):
        assert PIN.match(block), block
        assert "--hash=sha256:" in block, block


def test_requirement_files_agree() -> None:
    everything = read_pins("requirements-dev.txt")
    for name in ("requirements.txt", "requirements-embedded.txt"):
        pins = read_pins(name)
        assert pins == {package: everything.get(package) for package in pins}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_what_was_asked_for_is_what_is_pinned(name: str) -> None:
    asked, pinned = read_pins(f"{name}.in"), read_pins(f"{name}.txt")
    assert asked == {package: pinned.get(package) for package in asked}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_pins_name_no_package_server(name: str) -> None:
    assert not re.search(r"--(index|extra|find|trusted)|https?://", read(f"{name}.txt"))


def test_image_runs_without_root_on_the_runtime_requirements_alone() -> None:
    (user,) = read_instructions("USER")
    assert user != "USER root"
    assert "requirements.txt" in " ".join(read_instructions("RUN"))
    assert "requirements-" not in read("Dockerfile")
    assert read_instructions("HEALTHCHECK")
    assert len(read_instructions("FROM")) == 2


def test_image_contains_every_app() -> None:
    let_in = {
        line[1:] for line in read(".dockerignore").splitlines() if line[:1] == "!"
    }
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")}
    assert "devstack" not in let_in
    assert apps | {"card_alerts", "config", "core", "templates", "manage.py"} <= let_in


def test_every_long_running_service_restarts_and_has_a_health_check() -> None:
    services = dict(read_compose()["services"])
    migrate = services.pop("migrate")
    assert migrate["restart"] == "no"
    always = {"postgres", "valkey", "web", "worker", "worker-long", "beat"}
    assert set(services) == always | {"backup", "proxy"}
    assert {name for name in services if "profiles" not in services[name]} == always
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        # The web server's is the image's own.
        assert name == "web" or service["healthcheck"]["test"], name


def test_secrets_are_files_and_neither_variables_nor_arguments(tmp_path: Path) -> None:
    copy = tmp_path / "script" / "secrets"
    copy.parent.mkdir()
    shutil.copy(ROOT / "script" / "secrets", copy)
    first, second = (
        subprocess.run([copy], check=True, capture_output=True, text=True)
        for _ in range(2)
    )
    created = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert first.stdout.count(" created\n") == len(created)
    assert second.stdout.count(" exists\n") == len(created)
    compose = read_compose()
    assert compose["secrets"] == {
        name: {"file": f"./secrets/{name}"} for name in created
    }
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    services = compose["services"]
    clients = [
        services[name]
        for name in ("migrate", "web", "worker", "worker-long", "beat", "backup")
    ]
    clients.append(read_compose("compose.citus.yaml")["services"]["distribute"])
    for service in clients:
        assert set(service["secrets"]) == set(created)
        for name, value in service["environment"].items():
            if name.endswith("_FILE"):
                assert Path(value).parent == Path("/run/secrets")
                assert Path(value).name in created
    read_by_the_service = {
        f"{name}_FILE" for name in READ_SETTING.findall(read("config/settings.py"))
    }
    given = {n for n in clients[0]["environment"] if n.endswith("_FILE")}
    assert len(given) == len(created)
    assert given <= read_by_the_service
    code = "from django.conf import settings; print(settings.REDIS_URL)"
    files = {
        name: str(tmp_path / "secrets" / Path(value).name)
        for name, value in clients[0]["environment"].items()
        if name.endswith("_FILE")
    }
    ended = import_settings(code, DATABASE_URL=DATABASE_URL, SECRET_KEY="", **files)
    assert ended.stdout.strip().endswith("@127.0.0.1:6379/0"), ended.stderr
    assert created["valkey_password"] in ended.stdout
    assert "PASSWORD:?" not in read("compose.yaml") + read("compose.citus.yaml")


@pytest.mark.skipif(not shutil.which("sed"), reason="no sed")
@pytest.mark.parametrize("password", ["simple", 'p"a\\s s@#', "a/b&c"])
def test_valkey_gets_any_password_by_its_standard_input(
    tmp_path: Path, password: str
) -> None:
    shell, option, command = read_compose()["services"]["valkey"]["command"]
    assert (shell, option) == ("sh", "-c")
    (tmp_path / "valkey_password").write_text(password, encoding="utf-8")
    port = find_closed_port()
    command = (
        command.replace("/run/secrets", str(tmp_path))
        .replace("docker-entrypoint.sh valkey-server", find_server_binary())
        .replace("--dir /data", f"--dir {tmp_path} --port {port}")
        .replace("--appendonly yes", "--save ''")
    )
    with subprocess.Popen(
        ["sh", "-c", command], stdout=subprocess.DEVNULL, start_new_session=True
    ) as server:
        try:
            assert is_valkey_ready(port, password)
            assert not is_valkey_ready(port, password + "x", seconds=0.1)
        finally:
            # The shell and, at the end of its pipe, the server.
            os.killpg(server.pid, signal.SIGTERM)


def is_valkey_ready(port: int, password: str, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    # Without the waits between attempts that are the default.
    retry = Retry(NoBackoff(), 0)
    with Redis(port=port, password=password, retry=retry) as client:
        while time.monotonic() < end:
            try:
                return bool(client.ping())
            except RedisError:
                time.sleep(0.05)
    return False


def test_logs_and_memory_of_every_container_are_limited() -> None:
    for name, service in read_compose()["services"].items():
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
        assert re.fullmatch(r"\d+[mg]", service["mem_limit"]), name


def test_image_of_the_backups_has_what_script_backup_needs() -> None:
    image = set(read(".dockerignore").split())
    backups = set(read("Dockerfile.backup.dockerignore").split())
    assert backups - image == {"!devstack", "!requirements-embedded.txt"}
    assert image - backups == set()
    assert "USER ledger" in read("Dockerfile.backup")
    build = read_compose()["services"]["backup"]["build"]
    assert build == {"context": ".", "dockerfile": "Dockerfile.backup"}


def test_stores_of_compose_are_accepted_without_tls_and_env_adds_to_that() -> None:
    given = read_compose()["services"]["web"]["environment"]
    assert given["ACCEPT_UNSAFE"] == "database_tls,valkey_tls,${ACCEPT_UNSAFE:-}"


def test_services_start_after_the_migration() -> None:
    services = read_compose()["services"]
    for name in ("web", "worker", "worker-long", "beat"):
        condition = services[name]["depends_on"]["migrate"]["condition"]
        assert condition == "service_completed_successfully"


def test_data_of_the_containers_is_in_volumes() -> None:
    compose = read_compose()
    # What a dump is checked in is no data.
    kept = set(compose["volumes"]) - {"backup_check"}
    assert kept == {"postgres", "proxy", "valkey"}
    for name in kept:
        volumes = compose["services"][name]["volumes"]
        assert any(volume.startswith(f"{name}:/") for volume in volumes)


def test_citus_nodes_are_registered_and_keep_their_data() -> None:
    compose = read_compose("compose.citus.yaml")
    services = compose["services"]
    workers = {name for name in services if name.startswith("citus-worker-")}
    registered = re.findall(
        r"citus_add_node\('([\w-]+)'", " ".join(services["cluster"]["command"])
    )
    assert sorted(registered) == sorted(workers) == sorted(compose["volumes"])
    assert set(services["cluster"]["depends_on"]) == {"postgres", *workers}
    for name in workers:
        assert services[name]["volumes"] == [f"{name}:/var/lib/postgresql"]
        assert services[name]["image"] == services["postgres"]["image"]


def test_service_on_citus_starts_after_the_distribution() -> None:
    plain = read_compose()["services"]
    services = read_compose("compose.citus.yaml")["services"]
    conditions = {
        name: services[name]["depends_on"][before]["condition"]
        for name, before in [
            ("migrate", "cluster"),
            ("distribute", "migrate"),
            *(
                (each, "distribute")
                for each in ("web", "worker", "worker-long", "beat")
            ),
        ]
    }
    assert set(conditions.values()) == {"service_completed_successfully"}
    # An override changes services by their names.
    assert set(plain) & set(services) == {
        *("postgres", "migrate", "web", "worker", "worker-long", "beat"),
    }
    assert services["distribute"]["image"] == plain["web"]["image"]
    own = services["distribute"]["environment"]
    assert own.items() <= plain["web"]["environment"].items()
    assert {"DATABASE_URL", "REDIS_URL", "DATA_DIR", "ACCEPT_UNSAFE"} <= set(own)
    assert services["distribute"]["secrets"] == plain["web"]["secrets"]


def test_every_setting_that_is_read_is_documented() -> None:
    files = ("settings.py", "log_settings.py", "about.py", "server.py")
    sources = "".join(read(f"config/{name}") for name in files)
    names = set(READ_SETTING.findall(sources)) - {"BIND"}
    documented = set(re.findall(r"^#?([A-Z_]+)=", read(".env.example"), re.MULTILINE))
    assert names - documented == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "script").iterdir()), ids=lambda p: p.name
)
def test_scripts_can_be_executed(path: Path) -> None:
    assert path.name == "environment" or path.stat().st_mode & 0o111


def test_version_and_license_are_the_same_everywhere() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    version, license_name = project["version"], project["license"]
    assert (version, license_name) == (about.VERSION, about.LICENSE)
    client = tomllib.loads(read("clients/python/pyproject.toml"))["project"]
    package = json.loads(read("clients/typescript/package.json"))
    assert {client["version"], package["version"]} == {version}
    section = re.search("^## ([0-9.]+)", read("CHANGELOG.md"), re.MULTILINE)
    assert section
    assert section[1] == version
    assert SPECTACULAR_SETTINGS["VERSION"] == version
    assert SPECTACULAR_SETTINGS["LICENSE"]["identifier"] == license_name
    assert "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3" in read("LICENSE")
    for name in ("README.md", "README.ko.md"):
        assert f"[{license_name}](LICENSE)" in read(name)
