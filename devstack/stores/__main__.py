"""Run a supervisor: python -m devstack.stores STORE DIRECTORY [--ephemeral]."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from devstack.stores import store_supervisor
from devstack.stores.data_dir import StoreDir
from devstack.stores.postgres import Postgres
from devstack.stores.valkey import Valkey

STORE_FACTORIES: dict[str, Callable[[StoreDir], store_supervisor.Store]] = {
    "postgres": Postgres.prepare,
    "valkey": Valkey,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("store", choices=STORE_FACTORIES)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--ephemeral", action="store_true")
    arguments = parser.parse_args()
    store_dir = StoreDir(arguments.directory, arguments.ephemeral)
    return store_supervisor.main(STORE_FACTORIES[arguments.store], store_dir)


if __name__ == "__main__":
    sys.exit(main())
