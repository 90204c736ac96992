"""Run one command in the environment of the service: settings, stores, secret key.

    python -m devstack.environment [--ephemeral [--pooler or --debian]] COMMAND …

PgBouncer pools transactions; `--debian` takes ephemeral stores from Debian's packages.
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from devstack.debian_stores import run_debian_stores
from devstack.pooler import run_pooler
from devstack.stores import SETTING_BY_STORE, StoreError, StoreLeases, acquire_stores
from devstack.stores.data_dir import get_or_create_secret

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PORT = 8000
MAX_PORT = 65_535
# NAME_FILE may name a file for each (`config.env.read_text`).
SETTINGS_OF_FILES = (
    "DATABASE_URL",
    "DATABASE_PASSWORD",
    "REDIS_URL",
    "REDIS_PASSWORD",
    "SECRET_KEY",
    "METRICS_TOKEN",
)

Settings = dict[str, str]


class StartupError(Exception):
    """The message is one line for the terminal."""


@dataclass(frozen=True)
class Environment:
    settings: Settings
    stores: StoreLeases


def read_settings() -> Settings:
    """Return the environment variables, completed by `.env` and local defaults.

    An empty variable counts as not set.
    """
    given = {name: value for name, value in os.environ.items() if value.strip()}
    settings = read_env_file(ROOT / ".env") | given
    defaults = {
        "SERVE_STATIC_FROM_SOURCE": "true",
    }
    # In public, mails in a folder would reach nobody.
    if not settings.get("PUBLIC_URL", "").startswith("https:"):
        defaults["MAIL_URL"] = f"file:{find_data_dir(settings) / 'mail'}"
    return defaults | read_setting_files(settings)


def read_setting_files(settings: Settings) -> Settings:
    settings = dict(settings)
    for name in SETTINGS_OF_FILES:
        if name in settings or f"{name}_FILE" not in settings:
            continue
        path = settings.pop(f"{name}_FILE")
        try:
            settings[name] = Path(path).read_text("utf-8").strip()
        except OSError as error:
            raise StartupError(f"{name}_FILE: {path}: {error.strerror}") from None
    return settings


def read_env_file(path: Path) -> Settings:
    if not path.exists():
        return {}
    settings = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.removeprefix("export ").partition("=")
        if not equals or not name.strip().isidentifier():
            raise StartupError(f".env: this line is not NAME=value: {line}")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if value:
            settings[name.strip()] = value
    return settings


def read_port(settings: Mapping[str, str]) -> int:
    return read_positive_int(settings, "PORT", DEFAULT_PORT)


def read_positive_int(settings: Mapping[str, str], name: str, default: int) -> int:
    value = settings.get(name, str(default)).strip()
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= MAX_PORT):
        raise StartupError(
            f"{name} must be a number from 1 to {MAX_PORT}, not {value!r}"
        )
    return int(value)


def find_data_dir(settings: Mapping[str, str]) -> Path:
    return ROOT / Path(settings.get("DATA_DIR", "var")).expanduser()


def prepare_environment(settings: Settings) -> Environment:
    data_dir = find_data_dir(settings)
    stores = start_missing_stores(settings, data_dir)
    try:
        key = settings.get("SECRET_KEY") or get_or_create_secret_key(data_dir)
    except BaseException:
        stores.release()
        raise
    return Environment(settings | stores.settings | {"SECRET_KEY": key}, stores)


def prepare_ephemeral_environment() -> Environment:
    """Return the environment of tests: unchanged variables and ephemeral stores.

    The server of TEST_DATABASE_URL replaces an ephemeral PostgreSQL.
    """
    settings = dict(os.environ)
    if url := settings.get("TEST_DATABASE_URL", "").strip():
        settings["DATABASE_URL"] = url
    stores = start_missing_stores(settings, None)
    return Environment(settings | stores.settings, stores)


@contextmanager
def pooled(environment: Environment) -> Iterator[Environment]:
    direct_url = environment.settings["DATABASE_URL"]
    try:
        with run_pooler(direct_url) as url:
            settings = {
                "DATABASE_URL": url,
                "DATABASE_TRANSACTION_POOLING": "true",
                "DIRECT_DATABASE_URL": direct_url,
            }
            yield replace(environment, settings=environment.settings | settings)
    except StoreError as error:
        raise StartupError(str(error)) from None


@contextmanager
def debian(environment: Environment) -> Iterator[Environment]:
    try:
        with run_debian_stores() as settings:
            yield replace(environment, settings=environment.settings | settings)
    except StoreError as error:
        raise StartupError(str(error)) from None


def start_missing_stores(
    settings: Mapping[str, str], data_dir: Path | None
) -> StoreLeases:
    missing = [
        name
        for name, variable in SETTING_BY_STORE.items()
        if not settings.get(variable)
    ]
    try:
        return acquire_stores(missing, data_dir)
    except StoreError as error:
        raise StartupError(str(error)) from None


def get_or_create_secret_key(data_dir: Path) -> str:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return get_or_create_secret(data_dir / "secret_key", secrets.token_urlsafe(64))
    except OSError as error:
        raise StartupError(f"{error.filename}: {error.strerror}") from None


def run(command: list[str], environment: Environment) -> int:
    """Run `command` and return its exit code as a shell would.

    It inherits the locks of the stores, so that they run until it ends.
    """
    process = subprocess.Popen(  # noqa: S603
        command,
        env=environment.settings,
        pass_fds=environment.stores.lock_fds,
    )
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda number, _: process.send_signal(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal signals both processes
    code = process.wait()
    return code if code >= 0 else 128 - code


def main() -> int:
    parser = argparse.ArgumentParser(prog="devstack.environment")
    parser.add_argument("--ephemeral", action="store_true")
    parser.add_argument("--pooler", action="store_true")
    parser.add_argument("--debian", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    try:
        environment = (
            prepare_ephemeral_environment()
            if arguments.ephemeral
            else prepare_environment(read_settings())
        )
        stores = environment.stores
        try:
            with ExitStack() as stack:
                if arguments.debian:
                    environment = stack.enter_context(debian(environment))
                if arguments.pooler:
                    environment = stack.enter_context(pooled(environment))
                return run(arguments.command, environment)
        finally:
            stores.release()
    except StartupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
