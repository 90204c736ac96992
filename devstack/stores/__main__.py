"""The entry of a keeper: python -m devstack.stores STORE FOLDER [--throw-away]."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from devstack.stores import store_supervisor
from devstack.stores.data_dir import Folder
from devstack.stores.postgres import Postgres
from devstack.stores.valkey import Valkey

BUILDERS: dict[str, Callable[[Folder], store_supervisor.Store]] = {
    "postgres": Postgres.prepare,
    "valkey": Valkey,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("store", choices=BUILDERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--throw-away", action="store_true")
    arguments = parser.parse_args()
    folder = Folder(arguments.folder, arguments.throw_away)
    return store_supervisor.main(BUILDERS[arguments.store], folder)


if __name__ == "__main__":
    sys.exit(main())
