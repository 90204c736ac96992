"""Wallets: CRUD, order, balances and encrypted account numbers."""

import logging
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import (
    BigIntegerField,
    Case,
    F,
    OuterRef,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.db.transactions import retry_on_conflict
from core.errors import (
    DuplicateError,
    InUseError,
    InvalidFieldError,
    NotFoundError,
    raise_on_constraint_violation,
)
from ledger.encryption import (
    ENCRYPTED_PREFIX,
    MAX_PLAINTEXT_BYTES,
    DecryptionError,
    decrypt,
    encrypt,
)
from ledger.locking import lock_ledger
from ledger.models import Entry, Valuation, Wallet, WalletMonthRollup, WalletRollup
from ledger.models.base import OwnedQuerySet
from ledger.moves import (
    is_referred_to,
    list_moving_to,
    move_references,
    raise_if_moving,
    raise_if_others_move_to,
)
from ledger.ownership import get_owned_or_404
from ledger.quotas import require_room
from ledger.rollups import delete_rollups
from ledger.valuations import (
    moved_since_sql,
    take_last_value,
    type_value,
    type_value_today,
)

logger = logging.getLogger(__name__)

_MOVED_SINCE = moved_since_sql('"account"."id"').replace("%(member)s", "%s")
WALLET_NAME_TAKEN = gettext_lazy("A wallet with this name already exists.")


def list_wallets(member: Member) -> OwnedQuerySet:
    """Return the member's wallets in their order, with the balance of each."""
    return with_balance(Wallet.objects.owned_by(member), member)


def with_balance(rows: OwnedQuerySet, member: Member) -> OwnedQuerySet:
    """Add `balance`: opening balance + income − expense of confirmed entries."""
    rollup = WalletRollup.objects.owned_by(member).filter(wallet_id=OuterRef("pk"))
    flow = Coalesce(Subquery(rollup.values("balance")), 0)
    # A typed-in value moves with transfers.
    moved = RawSQL(  # noqa: S611 - of constants only
        _MOVED_SINCE, [member.pk] * _MOVED_SINCE.count("%s"), BigIntegerField()
    )
    annotated: OwnedQuerySet = rows.annotate(
        balance=F("opening_balance") + flow,
        value_change=Case(
            When(manual_valuation=True, current_value__isnull=False, then=moved),
            default=Value(0, BigIntegerField()),
        ),
    )
    return annotated


@retry_on_conflict
def create_wallet(member: Member, values: dict[str, Any], now: datetime) -> Wallet:
    """Create a wallet at the end of the list; raise `DuplicateError` for its name."""
    wallet = Wallet(member=member)
    _assign_fields(wallet, values)
    with transaction.atomic():
        lock_ledger(member)
        require_room(member, Wallet)
        wallet.sort_order = next_position(Wallet.objects.owned_by(member))
        with raise_on_constraint_violation(
            "account_name_unique", DuplicateError(WALLET_NAME_TAKEN)
        ):
            wallet.save(force_insert=True)
        if wallet.current_value is not None:
            type_value_today(wallet, wallet.current_value, now)
    return get_wallet(member, wallet.pk)


@retry_on_conflict
def update_wallet(
    member: Member, wallet_id: int, values: dict[str, Any], now: datetime
) -> Wallet:
    """Update the fields named in `values`; raise `DuplicateError` for the name.

    Raises `MovingError` for a wallet that is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        wallet = get_owned_or_404(list_wallets(member), member, wallet_id)
        raise_if_moving(wallet)
        # Sent back as it was read, a value is not typed in.
        typed = values.get("current_value")
        if typed is not None and typed == get_value(wallet):
            values = {key: values[key] for key in values if key != "current_value"}
            typed = None
        _assign_fields(wallet, values)
        if wallet.kind != Wallet.Kind.CARD and _has_installments(wallet):
            raise InvalidFieldError(
                "kind",
                gettext("Must be CARD, since entries of the wallet have installments."),
            )
        with raise_on_constraint_violation(
            "account_name_unique", DuplicateError(WALLET_NAME_TAKEN)
        ):
            wallet.save()
        if typed is not None:
            type_value_today(wallet, typed, now)
    return get_wallet(member, wallet_id)


def get_value(wallet: Wallet) -> int | None:
    """Return the typed-in value, moved by transfers; of a row of `with_balance`."""
    if wallet.current_value is None:
        return None
    change: int = getattr(wallet, "value_change", 0)
    return wallet.current_value + change


def get_wallet(member: Member, wallet_id: int) -> Wallet:
    wallet: Wallet = get_owned_or_404(list_wallets(member), member, wallet_id)
    return wallet


@retry_on_conflict
def create_valuation(
    member: Member, wallet_id: int, day: date, value: int, now: datetime
) -> None:
    """Type in the value of a wallet on a day; raise `MovingError` if it is moving."""
    with transaction.atomic():
        lock_ledger(member)
        wallet = get_owned_or_404(Wallet.objects.all(), member, wallet_id)
        raise_if_moving(wallet)
        type_value(wallet, value, day, now)


@retry_on_conflict
def delete_valuation(member: Member, wallet_id: int, day: date) -> None:
    """Delete the value of a day; raise `NotFoundError` if there is none."""
    with transaction.atomic():
        lock_ledger(member)
        wallet = get_owned_or_404(Wallet.objects.all(), member, wallet_id)
        raise_if_moving(wallet)
        rows = Valuation.objects.owned_by(member).filter(wallet_id=wallet_id, date=day)
        if not rows.delete()[0]:
            raise NotFoundError
        take_last_value(wallet)


@retry_on_conflict
def delete_wallet(member: Member, wallet_id: int, move_to: int | None) -> Wallet | None:
    """Delete a wallet after moving what refers to it to `move_to`, if given.

    Return the wallet if its entries are left to a job, which deletes it then. Raises
    `InUseError` if anything still refers to it, and `MovingError` if it, the other
    wallet, or one that moves to it is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        wallets = Wallet.objects.all()
        wallet = get_owned_or_404(wallets, member, wallet_id)
        raise_if_moving(wallet)
        raise_if_others_move_to(wallet)
        if move_to is not None:
            target = get_owned_or_404(wallets, member, move_to)
            if target.pk == wallet.pk:
                raise InvalidFieldError("moveTo", gettext("Must be another wallet."))
            if target.kind != Wallet.Kind.CARD and _has_installments(wallet):
                raise InvalidFieldError(
                    "moveTo", gettext("Must be a CARD: entries have installments.")
                )
            raise_if_moving(target)
            if not move_references(wallet, target):
                return get_wallet(member, wallet_id)
        if is_referred_to(wallet):
            raise InUseError(
                gettext("The wallet is in use. Set `moveTo` to another one.")
            )
        delete_moved_wallet(member, wallet)
    return None


def delete_moved_wallet(member: Member, wallet: Wallet) -> None:
    """Delete a wallet to which nothing refers any more; call under `lock_ledger`."""
    wallet.delete()
    delete_rollups(member, (WalletRollup, WalletMonthRollup), wallet_id=wallet.pk)


@retry_on_conflict
def reorder_wallets(member: Member, ids: list[int]) -> None:
    """Give the member's wallets the order of `ids`, which must name all of them."""
    with transaction.atomic():
        lock_ledger(member)
        reorder(Wallet.objects.owned_by(member), ids)


def raise_on_missing_wallet(
    constraint: str, field: str = "walletId"
) -> AbstractContextManager[None]:
    """Translate a violation of a foreign key to wallets to `InvalidFieldError`.

    The wallet was not looked up, or may have been deleted since.
    """
    return raise_on_constraint_violation(constraint, make_missing_wallet_error(field))


def make_missing_wallet_error(field: str = "walletId") -> InvalidFieldError:
    return InvalidFieldError(field, gettext("Wallet not found."), "does_not_exist")


def decrypt_account_number(wallet: Wallet) -> str | None:
    """Return the account number, None if there is none; raise `DecryptionError`."""
    stored = wallet.encrypted_account_number
    return (
        decrypt(
            stored,
            settings.ACCOUNT_NUMBER_KEYS,
            account_number_associated_data(wallet.member_id),
        )
        or None
    )


def _has_installments(wallet: Wallet) -> bool:
    """Return whether entries have installments, also those that are moving to it."""
    wallet_ids = [wallet.pk, *list_moving_to(wallet).values_list("pk", flat=True)]
    entries = Entry.objects.filter(member_id=wallet.member_id, wallet__in=wallet_ids)
    return entries.exclude(installment_months=None).exists()


def _assign_fields(wallet: Wallet, values: dict[str, Any]) -> None:
    values = dict(values)
    if "account_number" in values:
        number: str | None = values.pop("account_number")
        # A number that cannot be decrypted is read as null. A client that sends it back
        # must not destroy a value that another key may still decrypt.
        if number is not None or not has_undecryptable_number(wallet):
            # An empty text clears the number.
            text = number or ""
            size = len(text.encode())
            if size > MAX_PLAINTEXT_BYTES or text.startswith(ENCRYPTED_PREFIX):
                raise InvalidFieldError(
                    "accountNumber", gettext("Too long."), "max_length"
                )
            wallet.encrypted_account_number = encrypt(
                text,
                settings.ACCOUNT_NUMBER_KEYS,
                account_number_associated_data(wallet.member_id),
            )
    for name, value in values.items():
        setattr(wallet, name, value)


def has_undecryptable_number(wallet: Wallet) -> bool:
    try:
        decrypt_account_number(wallet)
    except DecryptionError:
        return True
    return False


def log_undecryptable_number(wallet: Wallet) -> None:
    logger.error(
        "account number of wallet %s cannot be decrypted: ACCOUNT_NUMBER_KEY is not "
        "the key it was encrypted with",
        wallet.pk,
    )


def account_number_associated_data(member_id: int) -> str:
    """Return the data that ties an encrypted number to its member (AES-GCM AAD)."""
    return f"account:{member_id}"
