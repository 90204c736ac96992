"""Wallets: their order, their numbers at rest, their balances, their end."""

import logging
from contextlib import AbstractContextManager
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import Member
from core.api.ordering import next_position
from core.errors import Duplicate, InUse, InvalidField, refuse_when_broken
from ledger.encryption import MAX_PLAIN_BYTES, PREFIX, Unreadable, seal, unseal
from ledger.locking import lock_ledger, lock_lists, share_ledger
from ledger.models import Entry, QuickEntry, RecurringRule, Wallet
from ledger.models.base import OwnedQuerySet
from ledger.ownership import find_owned

logger = logging.getLogger(__name__)

NAME_TAKEN = "There is a wallet of this name."
USERS = (Entry, QuickEntry, RecurringRule)
"""What refers to wallets, and moves with them."""


def list_wallets(member: Member) -> OwnedQuerySet:
    """The member's wallets in their order, with what their balances need."""
    return Wallet.objects.owned_by(member).select_related("total")


def balance_of(wallet: Wallet) -> int:
    """Opening balance + income − expense of confirmed entries, in whole units."""
    total = getattr(wallet, "total", None)
    return wallet.opening_balance + (total.balance if total else 0)


def create_wallet(member: Member, values: dict[str, Any]) -> Wallet:
    """A new wallet, last in the order; its name is the member's only one."""
    wallet = Wallet(member=member)
    _apply(wallet, values)
    with transaction.atomic():
        share_ledger(member)
        lock_lists(member)
        wallet.sort_order = next_position(Wallet.objects.owned_by(member))
        with refuse_when_broken("account_name_unique", Duplicate(NAME_TAKEN)):
            wallet.save(force_insert=True)
    return find_wallet(member, wallet.pk)


def change_wallet(member: Member, wallet_id: int, values: dict[str, Any]) -> Wallet:
    """Change what `values` names, under the row's lock."""
    with transaction.atomic():
        lock_ledger(member)
        rows = Wallet.objects.select_for_update(no_key=True)
        wallet = find_owned(rows, member, wallet_id)
        _apply(wallet, values)
        if wallet.kind != Wallet.Kind.CARD and _has_installments(wallet):
            raise InvalidField(
                "kind", "Entries of this wallet are paid in installments."
            )
        with refuse_when_broken("account_name_unique", Duplicate(NAME_TAKEN)):
            wallet.save()
    return find_wallet(member, wallet_id)


def find_wallet(member: Member, wallet_id: int) -> Wallet:
    wallet: Wallet = find_owned(list_wallets(member), member, wallet_id)
    return wallet


def delete_wallet(member: Member, wallet_id: int, move_to: int | None) -> None:
    """Delete a wallet; what refers to it moves to another, or it is `InUse`."""
    with transaction.atomic():
        lock_ledger(member)
        rows = Wallet.objects.all()
        wallet = find_owned(rows, member, wallet_id)
        if move_to is not None:
            _move_entries(wallet, find_owned(rows, member, move_to))
        if is_used(wallet):
            raise InUse("This wallet is in use; name another one in moveTo.")
        wallet.delete()


def is_used(wallet: Wallet) -> bool:
    return any(
        model.objects.owned_by(wallet.member).filter(wallet=wallet).exists()
        for model in USERS
    )


def refuse_missing_wallet(constraint: str) -> AbstractContextManager[None]:
    """For writers that refer to a wallet which may be deleted in the meantime."""
    return refuse_when_broken(
        constraint,
        InvalidField("walletId", "There is no such wallet.", "does_not_exist"),
    )


def read_account_number(wallet: Wallet) -> str | None:
    """The number, or None where there is none; raises `Unreadable`."""
    stored = wallet.sealed_account_number
    return (
        unseal(
            stored,
            settings.ACCOUNT_NUMBER_KEYS,
            account_number_context(wallet.member_id),
        )
        or None
    )


def _move_entries(source: Wallet, target: Wallet) -> None:
    if source.pk == target.pk:
        raise InvalidField("moveTo", "This is the wallet to be deleted.")
    if target.kind != Wallet.Kind.CARD and _has_installments(source):
        raise InvalidField("moveTo", "Entries in installments need a CARD wallet.")
    for model in USERS:
        model.objects.owned_by(source.member).filter(wallet=source).update(
            wallet=target
        )


def _has_installments(wallet: Wallet) -> bool:
    entries = Entry.objects.owned_by(wallet.member).filter(wallet=wallet)
    return wallet.pk is not None and entries.exclude(installment_months=None).exists()


def _apply(wallet: Wallet, values: dict[str, Any]) -> None:
    values = dict(values)
    if "account_number" in values:
        _set_account_number(wallet, values.pop("account_number"))
    for name, value in values.items():
        setattr(wallet, name, value)


def _set_account_number(wallet: Wallet, number: str | None) -> None:
    """Seal a number; an unreadable one is kept unless it is really replaced.

    A client that reads null and sends null back must not destroy what another key
    could still open; an empty text clears it.
    """
    if number is None and is_unreadable(wallet):
        return
    text = number or ""
    if len(text.encode()) > MAX_PLAIN_BYTES or text.startswith(PREFIX):
        raise InvalidField("accountNumber", "This is too long.", "max_length")
    wallet.sealed_account_number = seal(
        text, settings.ACCOUNT_NUMBER_KEYS, account_number_context(wallet.member_id)
    )


def is_unreadable(wallet: Wallet) -> bool:
    try:
        read_account_number(wallet)
    except Unreadable:
        return True
    return False


def report_unreadable(wallet: Wallet) -> None:
    logger.error(
        "account number of wallet %s cannot be opened: ACCOUNT_NUMBER_KEY is not the "
        "key it was sealed with",
        wallet.pk,
    )


def account_number_context(member_id: int) -> str:
    """Whose number it is, which its seal vouches for."""
    return f"account:{member_id}"
