"""`backup_member`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Member
from ledger.backup.export import write_backup

PROGRESS_INTERVAL_ROWS = 20_000


class Command(BaseCommand):
    help = (
        "Writes a member's wallets, tags, categories, entries, recurring rules, "
        "budgets and quick entries to FILE (xlsx), as GET /api/account/backup does. "
        "It contains account numbers in plain text: keep the file safe. Stocks, trades "
        "and expected incomes are not included. An existing FILE is not overwritten."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--member", required=True, metavar="LOGIN_ID")
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        member = get_member(options["member"])
        path: Path = options["file"]
        try:
            with path.open("xb") as file:
                path.chmod(0o600)
                counts = self.write(member, file, path)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        rows = ", ".join(f"{count} {sheet}" for sheet, count in counts.items())
        self.stdout.write(f"{path}: {rows}.")

    def write(self, member: Member, file: Any, path: Path) -> dict[str, int]:
        try:
            return write_backup(member, file, self.report, is_by_staff=True)
        except BaseException:
            # A partial backup must not look like a complete one.
            path.unlink()
            raise

    def report(self, sheet: str, rows: int) -> None:
        if rows % PROGRESS_INTERVAL_ROWS == 0:
            self.stderr.write(f"{sheet}: {rows} rows")


def get_member(login_id: str) -> Member:
    """Return the member with this login id, or raise `CommandError`."""
    member = Member.objects.with_login_id(login_id).first()
    if member is None:
        raise CommandError(f"Member not found: {login_id}")
    return member
