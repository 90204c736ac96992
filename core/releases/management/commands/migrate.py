"""Refuse a database made by other migrations."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as MigrateCommand

from core.db.transactions import retry_on_conflict
from core.releases.hashes import find_migration_problem, prepare_hashes


class Command(MigrateCommand):
    help = (
        "Migrates the database to this release. Exits with an error, and changes "
        "nothing, if the database was made by other migrations than this release has."
    )

    def handle(self, *args: Any, **options: Any) -> Any:
        writes_nothing = options["plan"] or options["check_unapplied"]
        problem = find_migration_problem() if writes_nothing else prepare_hashes()
        if problem:
            raise CommandError(problem)
        # Each migration is one transaction, which writers may be in the way of.
        return retry_on_conflict(super().handle)(*args, **options)
