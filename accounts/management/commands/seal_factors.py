"""`seal_factors`: seal the seeds of authenticator apps with the newest key."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.second_factor import seal_seeds_again


class Command(BaseCommand):
    help = (
        "Encrypts the seeds of authenticator apps with the first SECRETS_KEY, before "
        "an older key is taken away. It can be repeated, and runs beside logins."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{seal_seeds_again()} seeds sealed again.")
