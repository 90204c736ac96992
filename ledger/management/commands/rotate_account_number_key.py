"""`rotate_account_number_key`: seal all account numbers with the key in use."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from ledger.key_rotation import RotationResult, reencrypt_account_numbers


class Command(BaseCommand):
    help = (
        "Seals every account number with the first key of ACCOUNT_NUMBER_KEY: those "
        "of the older keys behind it, and those stored plain before a key was set. "
        "Put the new key first and keep the old one behind it, separated by a comma; "
        "restart the service; run this; then take the old key out. It may be stopped "
        "and run again, and runs beside the service. Exits with 1 without a key, or "
        "if a number is opened by no key; those stay as they are."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.ACCOUNT_NUMBER_KEYS:
            raise CommandError("ACCOUNT_NUMBER_KEY is not set.")
        total = reencrypt_account_numbers(self._report)
        self.stdout.write(f"Done: {_format_result(total)}.")
        if total.undecryptable:
            raise CommandError(f"{total.undecryptable} are opened by no key.")

    def _report(self, so_far: RotationResult) -> None:
        self.stdout.write(_format_result(so_far))


def _format_result(total: RotationResult) -> str:
    return f"{total.reencrypted} sealed anew, {total.unchanged} kept, {total.undecryptable} unreadable"
