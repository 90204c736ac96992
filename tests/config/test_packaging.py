"""Pinned requirements, the image, the compose files and the documented settings."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from devstack.environment import ROOT

REQUIREMENTS = ("requirements", "requirements-embedded", "requirements-dev")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
READ_SETTING = re.compile(r"""env\.read_\w+\(\s*"([A-Z_]+)\"""")
SETTINGS = re.findall(
    r"\w+",
    """
    DATABASE_URL REDIS_URL SECRET_KEY DEBUG ALLOWED_HOSTS CORS_ALLOWED_ORIGINS
    TRUSTED_PROXY_COUNT PUBLIC_URL HOME_CURRENCY TIME_ZONE SESSION_TTL_DAYS
    ACCOUNT_NUMBER_KEY IDP_CLIENT_ID OCR_API_KEY FX_PROVIDER PRICE_PROVIDER
    STORE_VERIFIER BILLING_TEST_MODE IDP_TOKENINFO_URL OCR_BASE_URL FX_BASE_URL
    PRICE_BASE_URL STORE_BASE_URL DATA_DIR PORT WEB_CONCURRENCY WEB_THREADS
    """,
)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read_pins(name: str) -> dict[str, str]:
    return {found[1].lower(): found[2] for found in PIN.finditer(read(name))}


def read_blocks(name: str) -> list[str]:
    """A block per requirement: its line and the hashes that belong to it."""
    lines = [
        line for line in read(name).splitlines() if not line.strip().startswith("#")
    ]
    return re.split(r"\n(?=\S)", "\n".join(lines).strip())


def read_compose(name: str = "compose.yaml") -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load(read(name))
    return compose


def read_instructions(name: str) -> list[str]:
    """The Dockerfile's instructions, with their continued lines joined."""
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
    assert (
        apps
        | {
            "card_alerts",
            "config",
            "core",
            "templates",
            "manage.py",
        }
        <= let_in
    )


def test_every_long_running_service_restarts_and_has_a_health_check() -> None:
    services = dict(read_compose()["services"])
    migrate = services.pop("migrate")
    assert migrate["restart"] == "no"
    assert set(services) == {"postgres", "valkey", "web", "worker", "beat"}
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        # The web server's is the image's own.
        assert name == "web" or service["healthcheck"]["test"], name


def test_valkey_asks_for_a_password_that_all_services_have() -> None:
    password = "${VALKEY_PASSWORD:?set it in .env}"
    services = read_compose()["services"]
    command = services["valkey"]["command"]
    assert command[command.index("--requirepass") + 1] == password
    assert services["valkey"]["environment"]["REDISCLI_AUTH"] == password
    clients = [services[name] for name in ("migrate", "web", "worker", "beat")]
    clients.append(read_compose("compose.citus.yaml")["services"]["distribute"])
    for service in clients:
        url = service["environment"]["REDIS_URL"]
        assert url == f"redis://:{password}@valkey:6379/0"
    assert re.search("^#VALKEY_PASSWORD=$", read(".env.example"), re.MULTILINE)


def test_stores_of_compose_are_accepted_without_tls_and_env_adds_to_that() -> None:
    given = read_compose()["services"]["web"]["environment"]
    assert given["ACCEPT_UNSAFE"] == "database_tls,valkey_tls,${ACCEPT_UNSAFE:-}"


def test_services_start_after_the_migration() -> None:
    services = read_compose()["services"]
    for name in ("web", "worker", "beat"):
        condition = services[name]["depends_on"]["migrate"]["condition"]
        assert condition == "service_completed_successfully"


def test_data_of_the_containers_is_in_volumes() -> None:
    compose = read_compose()
    assert set(compose["volumes"]) == {"postgres", "valkey"}
    for name in compose["volumes"]:
        assert compose["services"][name]["volumes"][0].startswith(f"{name}:/")


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
            *((each, "distribute") for each in ("web", "worker", "beat")),
        ]
    }
    assert set(conditions.values()) == {"service_completed_successfully"}
    # An override changes services by their names.
    assert set(plain) & set(services) == {
        "postgres",
        "migrate",
        "web",
        "worker",
        "beat",
    }
    assert services["distribute"]["image"] == plain["web"]["image"]
    for setting in ("DATABASE_URL", "REDIS_URL", "DATA_DIR", "ACCEPT_UNSAFE"):
        own = services["distribute"]["environment"][setting]
        assert own == plain["web"]["environment"][setting]


@pytest.mark.parametrize("name", SETTINGS)
def test_setting_is_documented(name: str) -> None:
    assert re.search(rf"^#?{name}=", read(".env.example"), re.MULTILINE)


def test_every_setting_that_is_read_is_documented() -> None:
    names = set(READ_SETTING.findall(read("config/settings.py")))
    documented = set(re.findall(r"^#?([A-Z_]+)=", read(".env.example"), re.MULTILINE))
    assert names - documented == set()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "script").iterdir()), ids=lambda p: p.name
)
def test_scripts_can_be_executed(path: Path) -> None:
    assert path.name == "environment" or path.stat().st_mode & 0o111
