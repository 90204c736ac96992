"""The entry of a keeper: python -m config.embedded STORE FOLDER [--throw-away]."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from config.embedded import keeper
from config.embedded.folder import Folder
from config.embedded.postgres import Postgres
from config.embedded.valkey import Valkey

BUILDERS: dict[str, Callable[[Folder], keeper.Store]] = {
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
    return keeper.main(BUILDERS[arguments.store], folder)


if __name__ == "__main__":
    sys.exit(main())
