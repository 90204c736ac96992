"""`load_demo`: fill an installation with data."""

import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import Member
from administration.demo.loader import LOGINS, create_demo_installation, find_demo
from core.errors import DomainError


class Command(BaseCommand):
    help = (
        "Fills an installation with something to see: members of all plans and roles, "
        "a ledger of three years with investments, a board with pictures, comments, "
        "votes and cases of moderation, purchases, and the figures of 30 days. Prints "
        "the logins. If there is a demo already, tells so and how to begin anew."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--password", help="of all logins; default: random")

    def handle(self, *args: Any, **options: Any) -> None:
        if members := find_demo():
            self.tell_what_is_there(members)
            return
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

    def tell_what_is_there(self, members: list[Member]) -> None:
        names = ", ".join(member.login_id for member in members)
        self.stdout.write(
            f"The demo is there already, with {Member.objects.count()} members in all; "
            "nothing was changed.\n"
            f"Log in as {names}, with the password that was printed when it was made; "
            "`script/manage changepassword LOGIN_ID` sets another.\n"
            "To begin anew, with the loss of all data of this installation: stop "
            "script/server, remove its folder (DATA_DIR, var by default) or empty the "
            "database of DATABASE_URL, start script/server and run script/demo."
        )
