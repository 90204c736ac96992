"""Wallets and their balances."""

import logging
from datetime import date, datetime
from typing import Any

from django.conf import settings
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
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.db.compiled_query import CompiledQuery
from core.errors import (
    DuplicateError,
    InvalidFieldError,
    NotFoundError,
    raise_on_constraint_violation,
)
from ledger.base.encryption import (
    ENCRYPTED_PREFIX,
    MAX_PLAINTEXT_BYTES,
    account_number_associated_data,
    can_decrypt,
    decrypt,
    encrypt,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room
from ledger.models import (
    Card,
    Entry,
    Valuation,
    Wallet,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.models.base import OwnedQuerySet
from ledger.moving.moves import move_wallet, raise_if_in_use
from ledger.rollups.definitions import delete_rollups
from ledger.wallets.valuations import (
    moved_since_sql,
    refresh_current_value,
    set_valuation,
)

logger = logging.getLogger(__name__)

_MOVED_SINCE = moved_since_sql('"account"."id"').replace("%(member)s", "%s")
WALLET_NAME_TAKEN = gettext_lazy("A wallet with this name already exists.")


def list_wallets(member: Member) -> list[Wallet]:
    """Return the wallets in their order, as `select_wallets` does, in less time."""
    return _WALLETS.fetch_all(member.pk)


def select_wallets(member_id: int) -> OwnedQuerySet:
    """Add `balance` and `value_change`, both of confirmed entries."""
    rollup = WalletRollup.objects.filter(member_id=member_id, wallet_id=OuterRef("pk"))
    flow = Coalesce(Subquery(rollup.values("balance")), 0)
    moved = RawSQL(  # noqa: S611 - constants
        _MOVED_SINCE, [member_id] * _MOVED_SINCE.count("%s"), BigIntegerField()
    )
    rows = Wallet.objects.filter(member_id=member_id)
    annotated: OwnedQuerySet = rows.annotate(
        balance=F("opening_balance") + flow,
        value_change=Case(
            When(manual_valuation=True, current_value__isnull=False, then=moved),
            default=Value(0, BigIntegerField()),
        ),
    )
    return annotated


_WALLETS = CompiledQuery(select_wallets)


@ledger_write
def create_wallet(
    ledger: LockedLedger, values: dict[str, Any], now: datetime
) -> Wallet:
    """Create the last wallet of the list; raise `DuplicateError` for its name."""
    member = ledger.member
    wallet = Wallet(member=member, created_at=now)
    _assign_fields(wallet, values)
    require_room(ledger, Wallet)
    wallet.sort_order = next_position(Wallet.objects.owned_by(member))
    with raise_on_constraint_violation(
        "account_name_unique", DuplicateError(WALLET_NAME_TAKEN)
    ):
        wallet.save(force_insert=True)
    if wallet.current_value is not None:
        today = timezone.localdate(now)
        set_valuation.within(ledger, wallet.pk, today, wallet.current_value, now)
    return get_wallet(member, wallet.pk)


@ledger_write
def update_wallet(
    ledger: LockedLedger, wallet_id: int, values: dict[str, Any], now: datetime
) -> Wallet:
    """Update the fields named in `values`; raise `DuplicateError` for the name."""
    wallet = get_wallet(ledger.member, wallet_id)
    # A value sent back as it was read is not typed in.
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
    _raise_on_unfit_card(wallet)
    with raise_on_constraint_violation(
        "account_name_unique", DuplicateError(WALLET_NAME_TAKEN)
    ):
        wallet.save()
    if typed is not None:
        today = timezone.localdate(now)
        set_valuation.within(ledger, wallet_id, today, typed, now)
    return get_wallet(ledger.member, wallet_id)


def _raise_on_unfit_card(wallet: Wallet) -> None:
    """Raise `InvalidFieldError` for a kind that cannot have the card's settings."""
    kind = wallet.kind
    if kind == Wallet.Kind.CARD:
        return
    card = Card.objects.filter(member_id=wallet.member_id, pk=wallet.pk).first()
    if card is None:
        return
    has_bill = bool(card.terms) or card.billed_with_id is not None
    if kind != Wallet.Kind.CHECK_CARD or has_bill:
        detail = gettext("The wallet has settings of a card. Delete them first.")
        raise InvalidFieldError("kind", detail)


def get_value(wallet: Wallet) -> int | None:
    """Return the typed-in value with later transfers; needs `with_balance`."""
    if wallet.current_value is None:
        return None
    change: int = getattr(wallet, "value_change", 0)
    return wallet.current_value + change


def get_wallet(member: Member, wallet_id: int) -> Wallet:
    wallet: Wallet = get_owned_or_404(select_wallets(member.pk), member, wallet_id)
    return wallet


@ledger_write
def create_valuation(
    ledger: LockedLedger, wallet_id: int, day: date, value: int, now: datetime
) -> None:
    """Raise `InvalidFieldError` for a wallet without manual valuation."""
    wallet = get_owned_or_404(Wallet.objects.all(), ledger.member, wallet_id)
    if not wallet.manual_valuation:
        raise InvalidFieldError(
            "manualValuation", gettext("The wallet has no manual valuation.")
        )
    set_valuation.within(ledger, wallet_id, day, value, now)


@ledger_write
def delete_valuation(ledger: LockedLedger, wallet_id: int, day: date) -> None:
    get_owned_or_404(Wallet.objects.all(), ledger.member, wallet_id)
    rows = Valuation.objects.owned_by(ledger.member)
    if not rows.filter(wallet_id=wallet_id, date=day).delete()[0]:
        raise NotFoundError
    refresh_current_value(ledger, wallet_id)


@ledger_write
def delete_wallet(ledger: LockedLedger, wallet_id: int, move_to: int | None) -> None:
    """Delete a wallet after moving its references to `move_to`, if given.

    Raises `InUseError` if anything still refers to it.
    """
    member, wallets = ledger.member, Wallet.objects.all()
    wallet = get_owned_or_404(wallets, member, wallet_id)
    if move_to is not None:
        target = get_owned_or_404(wallets, member, move_to)
        if target.pk == wallet.pk:
            raise InvalidFieldError("moveTo", gettext("Must be another wallet."))
        if target.kind != Wallet.Kind.CARD and _has_installments(wallet):
            raise InvalidFieldError(
                "moveTo", gettext("Must be a CARD: entries have installments.")
            )
        move_wallet(ledger, wallet, target)
    with raise_if_in_use(gettext("The wallet is in use. Set `moveTo` to another one.")):
        wallet.delete()
    delete_rollups(ledger, (WalletRollup, WalletMonthRollup), wallet_id=wallet_id)


@ledger_write
def reorder_wallets(ledger: LockedLedger, ids: list[int]) -> None:
    reorder(Wallet.objects.owned_by(ledger.member), ids)


def decrypt_account_number(wallet: Wallet) -> str | None:
    """Return the account number if there is one; raise `DecryptionError`."""
    keys, stored = settings.ACCOUNT_NUMBER_KEYS, wallet.encrypted_account_number
    context = account_number_associated_data(wallet.member_id)
    return decrypt(stored, keys, context) or None


def _has_installments(wallet: Wallet) -> bool:
    entries = Entry.objects.filter(member_id=wallet.member_id, wallet=wallet.pk)
    return entries.exclude(installment_months=None).exists()


def _assign_fields(wallet: Wallet, values: dict[str, Any]) -> None:
    values = dict(values)
    if "account_number" in values:
        number: str | None = values.pop("account_number")
        keys, stored = settings.ACCOUNT_NUMBER_KEYS, wallet.encrypted_account_number
        context = account_number_associated_data(wallet.member_id)
        # Clients read an undecryptable number as null. Sent back, the null must not
        # destroy a value that another key may still decrypt.
        if number is not None or can_decrypt(stored, keys, context):
            text = number or ""
            size = len(text.encode())
            if size > MAX_PLAINTEXT_BYTES or text.startswith(ENCRYPTED_PREFIX):
                raise InvalidFieldError(
                    "accountNumber", gettext("Too long."), "max_length"
                )
            wallet.encrypted_account_number = encrypt(text, keys, context)
    for name, value in values.items():
        setattr(wallet, name, value)


def log_undecryptable_number(wallet: Wallet) -> None:
    logger.error(
        "account number of wallet %s cannot be decrypted: ACCOUNT_NUMBER_KEY is not "
        "the key it was encrypted with",
        wallet.pk,
    )
