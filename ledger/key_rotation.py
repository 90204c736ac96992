"""Sealing every account number anew with the key in use (contract, section 8)."""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from ledger.encryption import Unreadable, is_sealed_with, seal, unseal
from ledger.models import Wallet
from ledger.wallets import account_number_context, report_unreadable

BATCH = 500
"""Wallets that are locked together."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """Account numbers sealed anew, left as they were, and opened by no key."""

    sealed: int = 0
    kept: int = 0
    unreadable: int = 0

    def __add__(self, other: "Rotation") -> "Rotation":
        return Rotation(
            self.sealed + other.sealed,
            self.kept + other.kept,
            self.unreadable + other.unreadable,
        )


def reseal_account_numbers(
    report: Callable[[Rotation], object] = lambda so_far: None,
) -> Rotation:
    """Bring all account numbers under the first key, a batch at a time.

    Plain numbers are sealed, those of older keys opened and sealed anew. It can be
    stopped and run again, beside a running service: whoever edits a wallet
    meanwhile seals with the same key.
    """
    total, last = Rotation(), 0
    while ids := _next_ids(last):
        total += _reseal(ids)
        last = ids[-1]
        report(total)
    return total


def _next_ids(last: int) -> list[int]:
    rows = Wallet.objects.filter(pk__gt=last).exclude(sealed_account_number="")
    return list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])


def _reseal(ids: list[int]) -> Rotation:
    total = Rotation()
    with transaction.atomic():
        rows = Wallet.objects.filter(pk__in=ids).order_by("pk")
        for wallet in rows.select_for_update(no_key=True):
            total += _reseal_one(wallet)
    return total


def _reseal_one(wallet: Wallet) -> Rotation:
    keys, stored = settings.ACCOUNT_NUMBER_KEYS, wallet.sealed_account_number
    context = account_number_context(wallet.member_id)
    if not stored or is_sealed_with(stored, keys[0], context):
        return Rotation(kept=1)
    try:
        number = unseal(stored, keys, context)
    except Unreadable:
        report_unreadable(wallet)
        return Rotation(unreadable=1)
    wallet.sealed_account_number = seal(number, keys, context)
    wallet.save(update_fields=["sealed_account_number"])
    return Rotation(sealed=1)
