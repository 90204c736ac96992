"""Fill an empty database with demo data and dump it: `python -m …released_database FILE`."""

import os
import secrets
import sys
from pathlib import Path

import django
from django.core.management import call_command

from devstack.dumps import Database, write_dump
from devstack.environment import ROOT


def main(path: Path) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("load_demo", password="sample-of-a-release", verbosity=0)
    with (ROOT / "requirements.txt").open() as lock:
        write_dump(Database(os.environ["DATABASE_URL"]), path, lock.fileno())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
