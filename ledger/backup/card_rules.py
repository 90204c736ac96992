"""Rules over the rows of cards and bills of a backup. No database access."""

from collections.abc import Iterator

from django.utils.translation import gettext

from ledger.backup.columns import BILLS, CARDS, Backup, BillRow, CardRow, EntryRow
from ledger.backup.parts import Misfit
from ledger.backup.row_rules import (
    ReferenceIndex,
    RowError,
    RowRule,
    UniqueNames,
    raise_on_missing,
)
from ledger.models import Wallet
from ledger.models.base import CategoryType
from ledger.models.cards import MAX_EXCLUDED, MAX_TARGETS, MAX_TERMS

_LIMITS = {
    "terms": MAX_TERMS,
    "targets": MAX_TARGETS,
    "excluded_categories": MAX_EXCLUDED,
    "excluded_tags": MAX_EXCLUDED,
}
_COLUMNS = {
    "excluded_categories": "excludedCategories",
    "excluded_tags": "excludedTags",
}


def make_card_rule(backup: Backup, home_currency: str) -> RowRule:
    references, names = ReferenceIndex(backup), UniqueNames()

    def check(row: CardRow) -> None:
        for column, name in (
            ("wallet", row.wallet),
            ("payFrom", row.pay_from),
            ("billedWith", row.billed_with),
        ):
            if name is not None and name not in references.wallet_kinds:
                raise_on_missing(column, "wallet", name)
        names.add(row.wallet, "wallet")
        for name in row.excluded_categories:
            if (CategoryType.EXPENSE, name) not in references.categories:
                raise_on_missing("excludedCategories", CategoryType.EXPENSE, name)
        for name in row.excluded_tags:
            if name not in references.tags:
                raise_on_missing("excludedTags", "tag", name)
        _check_limits(row)
        _check_settings(row, references.wallet_kinds[row.wallet])

    return check


def _check_limits(row: CardRow) -> None:
    for name, limit in _LIMITS.items():
        if len(getattr(row, name)) > limit:
            detail = gettext("At most {limit} values are allowed.")
            column = _COLUMNS.get(name, name)
            raise RowError(column, "max_length", detail.format(limit=limit))
    if 0 in row.targets:
        raise RowError("targets", "min_value", gettext("Must be at least 1."))


def _check_settings(row: CardRow, kind: str) -> None:
    if kind == Wallet.Kind.CHECK_CARD:
        if row.terms or row.pay_from or row.auto_pay or row.billed_with:
            detail = gettext("A CHECK_CARD has targets only.")
            raise RowError("wallet", "invalid", detail)
    elif kind != Wallet.Kind.CARD:
        detail = gettext("Must be a CARD or a CHECK_CARD.")
        raise RowError("wallet", "invalid", detail)
    elif row.billed_with is not None:
        if row.terms or row.pay_from or row.auto_pay:
            detail = gettext(
                "A card on the bill of another one has no days of its own."
            )
            raise RowError("billedWith", "invalid", detail)
    elif not row.terms:
        raise RowError("terms", "required", gettext("Required."))
    if row.pay_from == row.wallet:
        raise RowError("payFrom", "invalid", gettext("Must be another wallet."))
    if row.auto_pay and row.pay_from is None:
        raise RowError("payFrom", "required", gettext("Required with `autoPay`."))


def make_bill_rule(backup: Backup, home_currency: str) -> RowRule:
    names = UniqueNames()
    cards = {row.wallet for row in backup.cards if row.terms}

    def check(row: BillRow) -> None:
        if row.wallet not in cards:
            detail = gettext("Must be a CARD with a bill of its own.")
            raise RowError("wallet", "does_not_exist", detail)
        names.add((row.wallet, row.month), "month")
        if row.period_end is None and row.payment_date is None and row.amount is None:
            detail = gettext("Give `periodEnd`, `paymentDate` or `amount`.")
            raise RowError("amount", "required", detail)

    return check


def list_main_card_misfits(backup: Backup) -> Iterator[Misfit]:
    """Yield the cards that are on the bill of a card without one."""
    cards = {row.wallet for row in backup.cards if row.terms}
    for index, row in enumerate(backup.cards):
        if row.billed_with is not None and row.billed_with not in cards:
            detail = gettext("Must be a CARD with a bill of its own.")
            yield Misfit(CARDS.name, index, "billedWith", "does_not_exist", detail)


def check_parts(row: EntryRow) -> None:
    """Raise `RowError` for typed-in parts of another number or amount."""
    parts = row.installment_parts
    if parts is None:
        return
    if len(parts) != row.installment_months:
        detail = gettext("Must have as many parts as there are months.")
        raise RowError("installmentParts", "invalid", detail)
    if sum(parts) != row.amount:
        detail = gettext("The parts do not add up to the amount.")
        raise RowError("installmentParts", "mismatch", detail)


CARD_RULES = {CARDS.name: make_card_rule, BILLS.name: make_bill_rule}
