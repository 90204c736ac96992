"""Sealing every account number anew with the key in use (spec 9.2)."""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from ledger.encryption import DecryptionError, decrypt, encrypt, is_encrypted_with
from ledger.models import Wallet
from ledger.wallets import account_number_associated_data, log_undecryptable_number

BATCH_SIZE = 500
"""Wallets that are locked together."""


@dataclass(frozen=True, slots=True)
class RotationResult:
    """Account numbers sealed anew, left as they were, and opened by no key."""

    reencrypted: int = 0
    unchanged: int = 0
    undecryptable: int = 0

    def __add__(self, other: "RotationResult") -> "RotationResult":
        return RotationResult(
            self.reencrypted + other.reencrypted,
            self.unchanged + other.unchanged,
            self.undecryptable + other.undecryptable,
        )


def reencrypt_account_numbers(
    report: Callable[[RotationResult], object] = lambda so_far: None,
) -> RotationResult:
    """Bring all account numbers under the first key, a batch at a time.

    Plain numbers are sealed, those of older keys opened and sealed anew. It can be
    stopped and run again, beside a running service: whoever edits a wallet
    meanwhile seals with the same key.
    """
    total, last = RotationResult(), 0
    while ids := _next_ids(last):
        total += _reencrypt_batch(ids)
        last = ids[-1]
        report(total)
    return total


def _next_ids(last: int) -> list[int]:
    rows = Wallet.objects.filter(pk__gt=last).exclude(sealed_account_number="")
    return list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE])


def _reencrypt_batch(ids: list[int]) -> RotationResult:
    total = RotationResult()
    with transaction.atomic():
        rows = Wallet.objects.filter(pk__in=ids).order_by("pk")
        for wallet in rows.select_for_update(no_key=True):
            total += _reencrypt_wallet(wallet)
    return total


def _reencrypt_wallet(wallet: Wallet) -> RotationResult:
    keys, stored = settings.ACCOUNT_NUMBER_KEYS, wallet.sealed_account_number
    context = account_number_associated_data(wallet.member_id)
    if not stored or is_encrypted_with(stored, keys[0], context):
        return RotationResult(unchanged=1)
    try:
        number = decrypt(stored, keys, context)
    except DecryptionError:
        log_undecryptable_number(wallet)
        return RotationResult(undecryptable=1)
    wallet.sealed_account_number = encrypt(number, keys, context)
    wallet.save(update_fields=["sealed_account_number"])
    return RotationResult(reencrypted=1)
