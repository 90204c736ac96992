"""`check_board_counters`: verify counters and points."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from board.counter_audit import LOCKED_TABLES, ROLLUPS
from core.db.rollup_audit import count_drift, rebuild_rollups


class Command(BaseCommand):
    help = (
        "Compares the counters of posts and comments with their votes and comments, "
        "the stored counts of posts with the posts, and the points of members with "
        "their history. Exits with 1 if any differs. With --repair they are rebuilt "
        "first; writers of the board wait until that is done."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="rebuild them first")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            before = count_drift(ROLLUPS)
            rebuild_rollups(ROLLUPS, LOCKED_TABLES, self.stderr.write)
            for table, count in before.items():
                self.stdout.write(f"{table}: {count} repaired")
        drift = count_drift(ROLLUPS)
        for table, count in drift.items():
            self.stdout.write(f"{table}: {count} differ")
        if any(drift.values()):
            raise CommandError("Stored values differ from their rows; see --repair.")
