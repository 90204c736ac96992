"""`show_mail`: print the newest mails of a folder."""

import email
import email.policy
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = (
        "Prints the newest mail of the folder of MAIL_URL=file:…, which script/server "
        "uses unless another one is set. Mails that wait are written within a minute."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--count", type=int, default=1, help="How many, the newest last."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        server = settings.MAIL_SERVER or {}
        if "folder" not in server:
            raise CommandError("MAIL_URL does not name a folder.")
        files = sorted(server["folder"].glob("*.eml"), key=_written_at)
        if not files:
            raise CommandError(f"No mail in {server['folder']}.")
        for path in files[-max(1, options["count"]) :]:
            self._print(path)

    def _print(self, path: Path) -> None:
        message = email.message_from_bytes(
            path.read_bytes(), policy=email.policy.default
        )
        for name in ("Date", "To", "Subject"):
            self.stdout.write(f"{name}: {message[name]}")
        body = message.get_body(("plain",))
        self.stdout.write(f"\n{body.get_content() if body else ''}")


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns
