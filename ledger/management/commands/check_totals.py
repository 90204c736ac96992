"""`check_totals`: prove that the kept totals equal the entries."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.rollup_audit import count_drift, rebuild_totals


class Command(BaseCommand):
    help = (
        "Compares the totals that the database keeps beside the entries (by month, by "
        "category and wallet, by wallet) with the entries themselves, and exits with 1 "
        "if any differs. With --repair they are computed anew, while writers of "
        "entries wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="compute them anew")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            rebuild_totals(self.stdout.write)
        drift = count_drift()
        for table, different in drift.items():
            self.stdout.write(f"{table}: {different} differ")
        if any(drift.values()):
            raise CommandError("The totals differ from the entries; see --repair.")
