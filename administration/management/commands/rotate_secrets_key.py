"""`rotate_secrets_key`: seal what is stored for long with the current key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.second_factor import reseal_seeds
from billing.resealing import reseal_notifications, reseal_purchases

# What else is sealed, mails and codes, is kept for a day at most.
STEPS = (
    ("seeds of authenticator apps", reseal_seeds),
    ("tokens of purchases", reseal_purchases),
    ("notifications of the store", reseal_notifications),
)


class Command(BaseCommand):
    help = (
        "Encrypts with the first key of SECRETS_KEY what an older one has encrypted: "
        "seeds of authenticator apps, tokens of purchases, notifications of the store. "
        "Put the new key first and keep the old one after it, separated by a comma; "
        "restart the service; run this command; then remove the old key. It can be "
        "interrupted and repeated, and runs while the service is up. Exits with 1 if "
        "no key decrypts a value, which is then left unchanged."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = 0
        for name, reseal in STEPS:
            result = reseal()
            unreadable += result.unreadable
            self.stdout.write(
                f"{name}: {result.resealed} encrypted again, "
                f"{result.unreadable} could not be decrypted."
            )
        if unreadable:
            raise CommandError(f"{unreadable} could not be decrypted.")
