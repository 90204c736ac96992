"""`load_demo_data`."""

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from accounts.signup.signup import SignupData, create_member
from core.errors import DomainError
from ledger.demo.loader import create_demo_ledger


class Command(BaseCommand):
    help = (
        "Creates a member with a permanent PREMIUM plan and a ledger of three years: "
        "wallets, categories, tags, entries, quick entries, budgets, recurring "
        "transactions and a portfolio, so that every page has something to show. "
        "Prints the login id and the password. The account can be deleted like any "
        "other. Fails if the login id is taken."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--login-id", default="demo", help="default: demo")
        parser.add_argument("--password", help="default: random")

    def handle(self, *args: Any, **options: Any) -> None:
        login_id = options["login_id"]
        password = options["password"] or secrets.token_urlsafe(12)
        now = timezone.now()
        with transaction.atomic():
            member = self.create(login_id, password)
            written = create_demo_ledger(member, now, timezone.localdate(now))
        self.stdout.write(
            f"{written.entries} entries, {written.budgets} budgets and "
            f"{written.trades} trades created. Log in as {login_id} with {password}"
        )

    def create(self, login_id: str, password: str) -> Member:
        data = SignupData(login_id, password, "데모 회원", f"{login_id}@example.com")
        try:
            member = create_member(data)
        except DomainError as error:
            details = [str(each.detail) for each in error.errors or (error,)]
            raise CommandError(f"{login_id}: {' '.join(details)}") from error
        member.plan = Member.Plan.PREMIUM
        member.save_fields("plan")
        return member
