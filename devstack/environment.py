"""Runs one command with what the service needs around it: settings, stores, key.

    python -m devstack.environment [--throw-away] COMMAND [ARGUMENT ...]

`script/manage` uses it with the stores of the data folder, `script/test` and
`script/check` with throw-away ones.
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devstack.stores import VARIABLES, StoreError, Stores, use_stores
from devstack.stores.data_dir import read_secret

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PORT = 8000
MOST = 65_535

Settings = dict[str, str]


class StartError(Exception):
    """The service cannot start; the text is one line for the person who started it."""


@dataclass(frozen=True)
class Surroundings:
    """The environment of the service's processes, and the stores it speaks of."""

    settings: Settings
    stores: Stores


def read_settings() -> Settings:
    """The environment, completed by `.env` and by what a local service lacks.

    A variable that is set but empty counts as not set, as it does in `config.env`.
    """
    given = {name: value for name, value in os.environ.items() if value.strip()}
    settings = read_settings_file(ROOT / ".env") | given
    defaults = {
        "PUBLIC_URL": f"http://127.0.0.1:{read_port(settings)}",
        "SERVE_STATIC_FROM_SOURCE": "true",
    }
    return defaults | settings


def read_settings_file(path: Path) -> Settings:
    """NAME=value lines; blank lines and lines that begin with # are left out."""
    if not path.exists():
        return {}
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [read_pair(line) for line in lines if line and not line.startswith("#")]
    return {name: value for name, value in pairs if value}


def read_pair(line: str) -> tuple[str, str]:
    name, equals, value = line.removeprefix("export ").partition("=")
    if not equals or not name.strip().isidentifier():
        raise StartError(f".env: this line is not NAME=value: {line}")
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return name.strip(), value


def read_port(settings: Mapping[str, str]) -> int:
    return read_whole_number(settings, "PORT", DEFAULT_PORT)


def read_whole_number(settings: Mapping[str, str], name: str, default: int) -> int:
    value = settings.get(name, str(default)).strip()
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= MOST):
        raise StartError(f"{name} must be a number from 1 to {MOST}, not {value!r}")
    return int(value)


def find_data_dir(settings: Mapping[str, str]) -> Path:
    """Where everything lies that the service keeps; a relative path is ours."""
    return ROOT / Path(settings.get("DATA_DIR", "var")).expanduser()


def prepare(settings: Settings) -> Surroundings:
    """Surroundings of the real service: stores and key of the data folder."""
    data_dir = find_data_dir(settings)
    stores = use_missing_stores(settings, data_dir)
    try:
        key = settings.get("SECRET_KEY") or read_secret_key(data_dir)
    except BaseException:
        stores.leave()
        raise
    return Surroundings(settings | stores.settings | {"SECRET_KEY": key}, stores)


def prepare_throw_away() -> Surroundings:
    """Surroundings for tests: the plain environment and stores that soon vanish."""
    settings = dict(os.environ)
    stores = use_missing_stores(settings, None)
    return Surroundings(settings | stores.settings, stores)


def use_missing_stores(settings: Mapping[str, str], data_dir: Path | None) -> Stores:
    missing = [
        name for name, variable in VARIABLES.items() if not settings.get(variable)
    ]
    try:
        return use_stores(missing, data_dir)
    except StoreError as error:
        raise StartError(str(error)) from None


def read_secret_key(data_dir: Path) -> str:
    """The key of this data folder, made at the first start."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return read_secret(data_dir / "secret_key", secrets.token_urlsafe(64))
    except OSError as error:
        raise StartError(f"{error.filename}: {error.strerror}") from None


def run(command: list[str], surroundings: Surroundings) -> int:
    """Run `command` to its end; its exit code, as a shell would give it.

    It inherits the locks, so that the stores outlive even our own violent death.
    """
    process = subprocess.Popen(  # noqa: S603
        command,
        env=surroundings.settings,
        pass_fds=surroundings.stores.locks,
    )
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda number, _: process.send_signal(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells both of us
    code = process.wait()
    return code if code >= 0 else 128 - code


def main() -> int:
    parser = argparse.ArgumentParser(prog="devstack.environment")
    parser.add_argument("--throw-away", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    try:
        surroundings = (
            prepare_throw_away() if arguments.throw_away else prepare(read_settings())
        )
        try:
            return run(arguments.command, surroundings)
        finally:
            surroundings.stores.leave()
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
