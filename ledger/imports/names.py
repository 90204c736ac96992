"""Wallets, categories and tags that a commit makes, within the limits of the lists."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.utils.translation import gettext

from core.api.ordering import next_position
from ledger.base.ledger_write import LockedLedger
from ledger.base.quotas import require_room
from ledger.categories.categories import siblings_of
from ledger.errors import ReferenceGoneError
from ledger.imports.choices import CategoryName, Choices, GuessedWallet
from ledger.imports.keys import WalletRef
from ledger.imports.shapes import Places, chosen_category
from ledger.models import Category, Wallet
from ledger.models.base import MAX_NAME_LENGTH
from ledger.tags.tags import get_or_create_tags
from ledger.wallets.wallets import create_wallet


def make_wallets(
    ledger: LockedLedger,
    guessed: Sequence[GuessedWallet],
    used: set[WalletRef],
    now: datetime,
) -> Places:
    """Make the new wallets that rows use, and return the ids of all.

    A wallet whose name the ledger has by now is that one. Raises `LimitReachedError`,
    and `ReferenceGoneError` for a chosen wallet that was deleted.
    """
    own = {row.pk: row for row in Wallet.objects.owned_by(ledger.member)}
    by_name = {row.name: row.pk for row in own.values()}
    kinds = {pk: row.kind for pk, row in own.items()}
    if any(isinstance(ref, int) and ref not in own for ref in used):
        raise ReferenceGoneError
    wallet_ids: dict[str, int] = {}
    file_wallets: dict[str, WalletRef] = {}
    if any(isinstance(ref, int) and ref not in own for ref in used):
        # Of a name of the file, or of a single row.
        raise ReferenceGoneError
    for each in guessed:
        wallet_id, kind = each.choice.wallet_id, each.choice.create_kind
        if each.name is None:
            continue
        name = each.name[:MAX_NAME_LENGTH]
        file_wallets[each.name] = wallet_id if wallet_id is not None else name
        if wallet_id is not None or name not in used:
            continue
        if name not in by_name:
            wallet = create_wallet.within(ledger, {"name": name, "kind": kind}, now)
            by_name[name], kinds[wallet.pk] = wallet.pk, wallet.kind
        wallet_ids[name] = by_name[name]
    return Places(wallet_ids, kinds, file_wallets)


def make_categories(
    ledger: LockedLedger, named: Iterable[CategoryName], choices: Choices
) -> list[str]:
    """Make the categories of the file, minor ones below their majors.

    Returns a sentence for each name that the ledger has with another parent, which
    then stays as it is.
    """
    wanted: dict[tuple[str, str], str | None] = {}
    for each in named:
        name = chosen_category(each, choices)
        if name is not None:
            # A category that the member has chosen is no minor one of the file's.
            parent = each.parent if name == each.name else None
            wanted.setdefault((each.type, name), parent)
    rows = Category.objects.owned_by(ledger.member)
    known = {(row.type, row.name): row for row in rows}
    majors = {(type_, parent) for (type_, _), parent in wanted.items() if parent}
    new = (wanted.keys() | majors) - known.keys()
    require_room(ledger, Category, len(new))
    for type_, name in sorted(majors & new):
        known[type_, name] = _make_category(ledger, type_, name, None)
    notes = []
    for (type_, name), parent_name in wanted.items():
        major = known.get((type_, parent_name)) if parent_name else None
        if major is not None and major.parent_id is not None:
            # The ledger's own is a minor one, and can have none below it.
            major = major.parent
        if (type_, name) not in known:
            known[type_, name] = _make_category(ledger, type_, name, major)
        elif major is not None and not _is_below(known[type_, name], major):
            detail = gettext(
                "The category {name} stays where it is, not below {parent}."
            )
            notes.append(detail.format(name=name, parent=parent_name))
    return notes


def _is_below(category: Category, major: Category) -> bool:
    return major.pk in (category.pk, category.parent_id)


def _make_category(
    ledger: LockedLedger, type_: str, name: str, parent: Category | None
) -> Category:
    category = Category(member=ledger.member, type=type_, name=name, parent=parent)
    category.sort_order = next_position(siblings_of(category))
    category.save(force_insert=True)
    ledger.made_names += 1
    return category


def make_tags(ledger: LockedLedger, names: Iterable[str]) -> None:
    if unique := list(dict.fromkeys(names)):
        get_or_create_tags(ledger, unique)
