"""`default_categories`: write the default categories into a file, or read them."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import DomainError
from ledger.categories.default_files import (
    export_default_categories,
    import_default_categories,
)

MAX_FILE_BYTES = 2**20


class Command(BaseCommand):
    help = (
        "Exports the default categories into FILE, as JSON, or imports them from one. "
        "An import creates and changes what the file names, by type and name, takes "
        "its order and deletes nothing; it is one transaction. Categories that members "
        "have imported do not change."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["export", "import"])
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--dry-run", action="store_true", help="import: count, and write nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            if options["action"] == "export":
                self._export(path)
            else:
                self._import(path, dry_run=options["dry_run"])
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error

    def _export(self, path: Path) -> None:
        rows = export_default_categories()
        text = json.dumps(rows, ensure_ascii=False, indent=2)
        # An older file is not overwritten.
        with path.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
        self.stdout.write(f"{len(rows)} major categories written into {path}.")

    def _import(self, path: Path, *, dry_run: bool) -> None:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise CommandError(f"{path}: larger than 1 MiB")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{path}: no valid JSON") from error
        try:
            counts = import_default_categories(data, dry_run=dry_run)
        except DomainError as error:
            lines = [f"{each.field or 'file'}: {each.detail}" for each in error.errors]
            raise CommandError("\n".join(lines or [str(error.detail)])) from error
        done = "would be" if dry_run else "were"
        self.stdout.write(
            f"{counts.created} {done} created, {counts.changed} changed; "
            f"{counts.unchanged} are as the file says."
        )
