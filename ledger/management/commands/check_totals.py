"""`check_totals`: compare the rollup tables with the entries."""

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.progress import Progress
from ledger.rollup_repair import count_wrong_rows, list_ledgers, repair_rollups
from ledger.rollups import ROLLUPS


class Command(BaseCommand):
    help = (
        "Compares the rollup tables, in which triggers maintain totals of the entries "
        "(by day, by month and category, by wallet …), with the entries themselves, "
        "one ledger after the other, and exits with 1 if any row differs. With "
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

    def handle(self, *args: Any, **options: Any) -> None:
        process = repair_rollups if options["repair"] else count_wrong_rows
        progress = Progress(self.stderr.write)
        total: Counter[str] = Counter()
        for number, member_id in enumerate(list_ledgers(options["after"]), start=1):
            total += process(member_id)
            progress.update(f"{number} ledgers, up to that of member {member_id}")
        for rollup in ROLLUPS:
            verb = "repaired" if options["repair"] else "differ"
            self.stdout.write(f"{rollup.table}: {total[rollup.table]} {verb}")
        if total and not options["repair"]:
            raise CommandError("Stored values differ from their rows; see --repair.")
