"""Balances that a file tells of its wallets."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from ledger.base.ledger_write import LockedLedger
from ledger.imports.choices import guess_kind
from ledger.imports.commit_state import Commit
from ledger.imports.judging import JudgedRow
from ledger.imports.keys import signed_amount
from ledger.imports.shapes import Places
from ledger.models import Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.wallets.history import balance_at
from ledger.wallets.valuations import set_valuation
from ledger.wallets.wallets import create_wallet, get_wallet


def apply_balances(
    commit: Commit,
    opened: Sequence[JudgedRow],
    places: Places,
    description: dict[str, Any],
) -> None:
    """Give new wallets their first balance, and valued ones their value.

    Rows of a first balance count for wallets that the commit makes. What the file tells
    besides is applied only if the member asked for it.
    """
    openings: dict[int, int] = defaultdict(int)
    for row in opened:
        wallet_id = places.find(row.wallet)
        if wallet_id is not None:
            openings[wallet_id] += signed_amount(row.record)
            commit.counts["created"] += 1
    for wallet_id, amount in openings.items():
        _add_to_opening(commit.ledger, wallet_id, amount)
    if commit.choices.balances:
        for told in description["balances"]:
            _apply(commit, told, places)


def _apply(commit: Commit, told: dict[str, Any], places: Places) -> None:
    """Let the wallet have the balance of the file at the end of its day.

    A new wallet gets the first balance that leads there, a valued one the value of the
    day. Others stay as their entries say, with a note.
    """
    ledger, name = commit.ledger, told["wallet"]
    ref = places.file_wallets.get(name)
    if name not in places.file_wallets:
        # A bank's list, whose rows name no wallet.
        ref = commit.choices.wallet_id
    wallet_id = places.wallet_ids.get(ref) if isinstance(ref, str) else ref
    if wallet_id is None:
        wallet_id = _find_or_make(commit, told)
    day = min(date.fromisoformat(told["date"]), timezone.localdate(commit.now))
    wallet = get_wallet(ledger.member, wallet_id)
    if ref != wallet_id and wallet.created_at == commit.now:
        before = balance_at(ledger.member, wallet, day)
        _add_to_opening(ledger, wallet_id, told["amount"] - before)
    elif wallet.manual_valuation:
        set_valuation.within(ledger, wallet_id, day, told["amount"], commit.now)
    else:
        detail = gettext("The balance of {wallet} stays as its entries say.")
        commit.notes.append(detail.format(wallet=wallet.name))


def _find_or_make(commit: Commit, told: dict[str, Any]) -> int:
    """Return the wallet of a balance that no row names, by its name."""
    name = told["wallet"][:MAX_NAME_LENGTH]
    own = Wallet.objects.owned_by(commit.ledger.member).filter(name=name)
    found: int | None = own.values_list("pk", flat=True).first()
    if found is not None:
        return found
    values = {"name": name, "kind": told["kind"] or guess_kind(name)}
    return int(create_wallet.within(commit.ledger, values, commit.now).pk)


def _add_to_opening(ledger: LockedLedger, wallet_id: int, amount: int) -> None:
    rows = Wallet.objects.owned_by(ledger.member).filter(pk=wallet_id)
    rows.update(opening_balance=F("opening_balance") + amount)
