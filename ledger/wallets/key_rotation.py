"""Rotation of the account number key."""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from accounts.models import Member
from ledger.base.encryption import (
    DecryptionError,
    account_number_associated_data,
    decrypt,
    encrypt,
    is_encrypted_with,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import Wallet
from ledger.wallets.wallets import log_undecryptable_number

# Members between two reports.
BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class RotationResult:
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
    """Re-encrypt account numbers that are plain or use an older key (spec 9.2).

    Safe to interrupt, to repeat, and to run beside the service.
    """
    total, last_id = RotationResult(), 0
    numbered = Wallet.objects.exclude(encrypted_account_number="")
    owners = numbered.order_by("member_id").values_list("member_id", flat=True)
    while True:
        ids = list(owners.filter(member_id__gt=last_id).distinct()[:BATCH_SIZE])
        if not ids:
            return total
        for member_id in ids:
            total += _reencrypt_ledger(Member(pk=member_id))
        last_id = ids[-1]
        report(total)


@ledger_write
def _reencrypt_ledger(ledger: LockedLedger) -> RotationResult:
    wallets = Wallet.objects.owned_by(ledger.member)
    numbered = wallets.exclude(encrypted_account_number="").order_by("pk")
    return sum(map(_reencrypt_wallet, numbered), RotationResult())


def _reencrypt_wallet(wallet: Wallet) -> RotationResult:
    keys, stored = settings.ACCOUNT_NUMBER_KEYS, wallet.encrypted_account_number
    context = account_number_associated_data(wallet.member_id)
    if not stored or is_encrypted_with(stored, keys[0], context):
        return RotationResult(unchanged=1)
    try:
        number = decrypt(stored, keys, context)
    except DecryptionError:
        log_undecryptable_number(wallet)
        return RotationResult(undecryptable=1)
    wallet.encrypted_account_number = encrypt(number, keys, context)
    wallet.save(update_fields=["encrypted_account_number"])
    return RotationResult(reencrypted=1)
