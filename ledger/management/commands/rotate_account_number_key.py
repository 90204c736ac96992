"""`rotate_account_number_key`."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ledger.wallets.key_rotation import RotationResult, reencrypt_account_numbers


class Command(BaseCommand):
    help = (
        "Encrypts every account number with the first key of ACCOUNT_NUMBER_KEY: those "
        "encrypted with older keys, and those stored in plain text before a key was "
        "set. Put the new key first and keep the old one after it, separated by a "
        "comma; restart the service; run this command; then remove the old key. It can "
        "be interrupted and repeated, and runs while the service is up. Exits with 1 "
        "without a key, or if no key decrypts a number, which is then left unchanged."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.ACCOUNT_NUMBER_KEYS:
            raise CommandError("ACCOUNT_NUMBER_KEY is not set.")
        total = reencrypt_account_numbers(self._report)
        self.stdout.write(f"Done: {_format_result(total)}.")
        if total.undecryptable:
            raise CommandError(f"{total.undecryptable} could not be decrypted.")

    def _report(self, so_far: RotationResult) -> None:
        self.stdout.write(_format_result(so_far))


def _format_result(total: RotationResult) -> str:
    return (
        f"{total.reencrypted} re-encrypted, {total.unchanged} unchanged, "
        f"{total.undecryptable} could not be decrypted"
    )
