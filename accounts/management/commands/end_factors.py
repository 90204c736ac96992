"""`end_factors`: end a member's second factor."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.login.second_factor import end_factors
from accounts.models import Member
from core.db.transactions import retry_on_conflict


class Command(BaseCommand):
    help = (
        "Ends the second factor of a member: the authenticator app and the recovery "
        "codes. The member sees it in the security log, and is told by mail."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login_id", metavar="LOGIN_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        member = end_factors_of(options["login_id"])
        self.stdout.write(f"The second factor of {member} has ended.")


@retry_on_conflict
def end_factors_of(login_id: str) -> Member:
    with transaction.atomic():
        rows = Member.objects.with_login_id(login_id).select_for_update(no_key=True)
        member = rows.first()
        if member is None:
            raise CommandError(f"There is no member with the login id {login_id}.")
        if not member.has_second_factor:
            raise CommandError(f"{member} has no second factor.")
        end_factors(member, is_by_staff=True)
    return member
