"""`check_totals`."""

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.progress import Progress
from ledger.rollups.definitions import ROLLUPS
from ledger.rollups.repair import count_wrong_rows, process_ledgers, repair_rollups

# A session of the database computes on one processor.
DEFAULT_THREADS, MAX_THREADS = 2, 32


class Command(BaseCommand):
    help = (
        "Compares the rollup tables, in which triggers maintain totals of the entries "
        "(by day, by month and category, by wallet …), with the entries themselves, "
        "ledger by ledger, and exits with 1 if any row differs. With "
        "--repair wrong rows are corrected. Members can read and write meanwhile. It "
        "can be interrupted at any time; --after continues."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="correct wrong rows")
        parser.add_argument(
            "--after",
            type=int,
            default=0,
            metavar="MEMBER_ID",
            help="only the ledgers of members with larger ids",
        )
        parser.add_argument(
            "--threads",
            type=int,
            choices=range(1, MAX_THREADS + 1),
            default=DEFAULT_THREADS,
            metavar="NUMBER",
            help="how many ledgers to process at once, each with a connection of its "
            f"own (default: {DEFAULT_THREADS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        process = repair_rollups if options["repair"] else count_wrong_rows
        progress = Progress(self.stderr.write)
        total: Counter[str] = Counter()
        counts = process_ledgers(process, options["threads"], options["after"])
        for number, (member_id, count) in enumerate(counts, start=1):
            total += count
            progress.update(f"{number} ledgers, up to that of member {member_id}")
        for rollup in ROLLUPS:
            verb = "repaired" if options["repair"] else "differ"
            self.stdout.write(f"{rollup.table}: {total[rollup.table]} {verb}")
        if total and not options["repair"]:
            raise CommandError("Stored values differ from their rows; see --repair.")
