"""`load_demo`: fill an installation with data."""

import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from administration.demo.loader import LOGINS, create_demo_installation
from core.errors import DomainError


class Command(BaseCommand):
    help = (
        "Fills an installation with something to see: members of all plans and roles, "
        "a ledger of three years with investments, a board with pictures, comments, "
        "votes and cases of moderation, purchases, and the figures of 30 days. Prints "
        "the logins. Fails if there is a demo already."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--password", help="of all logins; default: random")

    def handle(self, *args: Any, **options: Any) -> None:
        password = options["password"] or secrets.token_urlsafe(12)
        try:
            counts = create_demo_installation(password, timezone.now())
        except DomainError as error:
            details = [str(each.detail) for each in error.errors or (error,)]
            raise CommandError(" ".join(details)) from error
        self.stdout.write(
            f"{counts.members} members, {counts.entries} entries, {counts.trades} "
            f"trades, {counts.posts} posts, {counts.cases} cases of moderation and "
            f"{counts.purchases} purchases created.\n"
            "Log in with one of these:\n"
        )
        for login in LOGINS:
            self.stdout.write(f"  {login.kind:9} {login.login_id:14} {password}")
        self.stdout.write(f"ADMIN also logs in at {settings.PUBLIC_URL}/admin/")
