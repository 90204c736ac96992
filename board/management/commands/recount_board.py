"""`recount_board`: prove that the board's counters and points equal their rows."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from board.counter_audit import count_drift, rebuild_counters


class Command(BaseCommand):
    help = (
        "Compares the counters of posts and comments with their votes and comments, "
        "the stored counts of posts with the posts, and the points of members with "
        "their history, and exits with 1 if any differs. With --repair they are "
        "counted anew, while writers of the board wait."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="count them anew")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repair"]:
            before = count_drift()
            rebuild_counters(self.stderr.write)
            for table, different in before.items():
                self.stdout.write(f"{table}: {different} repaired")
        drift = count_drift()
        for table, different in drift.items():
            self.stdout.write(f"{table}: {different} differ")
        if any(drift.values()):
            raise CommandError("The counters differ from the rows; see --repair.")
