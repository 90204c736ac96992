"""`check_totals`: compare the rollup tables with the entries."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.rollup_audit import count_drift, rebuild_rollups


class Command(BaseCommand):
    help = (
        "Compares the rollup tables, in which triggers maintain totals of the entries "
        "(by month, by day, by category and wallet …), with the entries themselves, "
        "and exits with 1 if any row differs. With --repair the tables are rebuilt "
        "first; writers of entries wait meanwhile."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--repair", action="store_true", help="rebuild the tables first"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            rebuild_rollups(self.stdout.write)
        drift = count_drift()
        for table, count in drift.items():
            self.stdout.write(f"{table}: {count} differ")
        if any(drift.values()):
            raise CommandError("The rollups differ from the entries; see --repair.")
