"""`restore_backup`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from core.errors import DomainError
from ledger.backup.restore import restore_backup
from ledger.management.commands.backup_member import get_member


class Command(BaseCommand):
    help = (
        "Replaces a member's whole ledger with FILE: a workbook (xlsx) written by "
        "backup_member or GET /api/account/backup, or JSON of the same structure. "
        "Everything is validated first and written in one transaction: after a failure "
        "nothing has changed, and the invalid rows are listed. Stocks and trades are "
        "deleted and not restored; budgets become those of the current month; expected "
        "incomes are kept. Write a backup of the current state first (backup_member)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--member", required=True, metavar="LOGIN_ID")
        parser.add_argument(
            "--dry-run", action="store_true", help="validate and count; write nothing"
        )
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        member = get_member(options["member"])
        path: Path = options["file"]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        try:
            result = restore_backup(
                member,
                data,
                timezone.now(),
                dry_run=options["dry_run"],
                is_by_staff=True,
                report=self.stderr.write,
            )
        except DomainError as error:
            lines = [f"{each.field}: {each.detail}" for each in error.errors]
            raise CommandError("\n".join([str(error.detail), *lines])) from error
        done = "would be restored" if options["dry_run"] else "restored"
        rows = ", ".join(
            f"{count} {sheet}" for sheet, count in result.row_counts.items()
        )
        for name in result.ignored:
            self.stderr.write(f"passed over: {'.'.join(filter(None, name))}")
        self.stdout.write(f"{member.login_id}: {rows} {done}.")
