"""Settings of a card: the days of its bills, who pays them, targets (spec 3.30)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from core.errors import InvalidFieldError, LimitReachedError, MissingItemError
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.cards.compute import find_open_month
from ledger.cards.next_payment import find_next_payment_on
from ledger.cards.reading import StoredCard, find_group, list_cards, list_groups
from ledger.cards.schedule import (
    Schedule,
    Shift,
    Term,
    day_of_month,
    months_fit,
    move_month,
)
from ledger.models import Card, Category, Tag, Wallet
from ledger.models.base import CategoryType
from ledger.models.cards import MAX_TERMS
from ledger.moving.moves import raise_if_in_use

# A card may be set up some time before its first bill.
MAX_MONTHS_AHEAD = 12
CARD_KINDS = (Wallet.Kind.CARD, Wallet.Kind.CHECK_CARD)
# Fields of a card that has bills of its own.
_DAYS = {
    "closing_day": "closingDay",
    "payment_day": "paymentDay",
    "payment_month": "paymentMonth",
    "from_month": "from",
}
_PAYING = {"pay_from_wallet": "payFromWalletId", "auto_pay": "autoPay"}
_BILLS = {"billed_with": "billedWithId", "credit_limit": "creditLimit"}


@dataclass(frozen=True, slots=True)
class TargetExcludes:
    """Names of expense categories and tags that do not count for the targets."""

    categories: Sequence[str] = ()
    tags: Sequence[str] = ()
    installments: bool = False


@dataclass(frozen=True, slots=True)
class CardValues:
    """Settings of a request; None means that the field is missing."""

    closing_day: int | None = None
    payment_day: int | None = None
    payment_month: int | None = None
    shift: Shift = Shift.NEXT
    from_month: date | None = None
    pay_from_wallet: int | None = None
    auto_pay: bool = False
    credit_limit: int | None = None
    billed_with: int | None = None
    targets: Sequence[int] = ()
    target_excludes: TargetExcludes = TargetExcludes()

    def raise_on(self, names: Mapping[str, str], detail: str) -> None:
        """Raise `InvalidFieldError` for the first of these fields that is given."""
        for name, api_name in names.items():
            if getattr(self, name) not in (None, False):
                raise InvalidFieldError(api_name, detail)


def get_card(member: Any, wallet_id: int) -> Card:
    """Raise `NotFoundError` for a wallet without settings."""
    card: Card = get_owned_or_404(Card.objects.all(), member, wallet_id)
    return card


@ledger_write
def set_card(
    ledger: LockedLedger, wallet_id: int, values: CardValues, now: datetime
) -> None:
    """Replace the settings of a card; bills before `from_month` keep their days.

    Raises `NotFoundError`, `InvalidFieldError` and `LimitReachedError`.
    """
    member = ledger.member
    wallet: Wallet = get_owned_or_404(Wallet.objects.all(), member, wallet_id)
    if wallet.kind not in CARD_KINDS:
        raise InvalidFieldError("kind", gettext("Must be a CARD or a CHECK_CARD."))
    today = timezone.localdate(now)
    card = Card.objects.owned_by(member).filter(pk=wallet_id).first()
    is_new = card is None
    card = card or Card(member=member, id=wallet_id)
    if wallet.kind == Wallet.Kind.CHECK_CARD:
        values.raise_on(
            _DAYS | _PAYING | _BILLS, gettext("A CHECK_CARD has targets only.")
        )
        terms: list[Term] = []
    elif values.billed_with is not None:
        _require_main_card(member.pk, wallet_id, values)
        terms = []
    else:
        _require_payer(ledger, wallet_id, values)
        terms = _make_terms(card, values, today)
    card.terms = [term.to_json() for term in terms]
    card.pay_from_wallet_id = values.pay_from_wallet
    card.auto_pay = values.auto_pay
    card.credit_limit = values.credit_limit
    card.billed_with_id = values.billed_with
    card.targets = sorted(set(values.targets))
    _exclude(ledger, card, values.target_excludes)
    card.next_payment_on = None
    card.save(force_insert=is_new)
    if card.auto_pay:
        refresh_next_payment(ledger, wallet_id, today)


@ledger_write
def delete_card(ledger: LockedLedger, wallet_id: int) -> None:
    """Delete the settings with what issuers printed; entries stay as they are.

    Raises `NotFoundError`, and `InUseError` if other cards are on its bill.
    """
    card = get_card(ledger.member, wallet_id)
    with raise_if_in_use(gettext("Other cards are on the bill of this card.")):
        card.delete()


def refresh_next_payment(ledger: LockedLedger, card_id: int, today: date) -> None:
    """Set the day on which the job looks at a card that pays itself."""
    group = find_group(list_groups(ledger.member.pk), card_id)
    if group is None or not group.main.auto_pay:
        return
    next_day = find_next_payment_on(ledger.member.pk, group, today)
    rows = Card.objects.owned_by(ledger.member).filter(pk=group.main.id)
    rows.update(next_payment_on=next_day)


def _require_main_card(member_id: int, wallet_id: int, values: CardValues) -> None:
    detail = gettext("A card on the bill of another one has no days of its own.")
    values.raise_on(_DAYS | _PAYING, detail)
    cards = {card.id: card for card in list_cards(member_id)}
    main: StoredCard | None = cards.get(values.billed_with or 0)
    if values.billed_with == wallet_id:
        raise InvalidFieldError("billedWithId", gettext("Must be another card."))
    if main is None or not main.terms:
        detail = gettext("Must be a CARD with a bill of its own.")
        raise InvalidFieldError("billedWithId", detail, "does_not_exist")
    if any(card.billed_with_id == wallet_id for card in cards.values()):
        detail = gettext("Other cards are on the bill of this card.")
        raise InvalidFieldError("billedWithId", detail)


def _require_payer(ledger: LockedLedger, wallet_id: int, values: CardValues) -> None:
    payer = values.pay_from_wallet
    if payer == wallet_id:
        raise InvalidFieldError("payFromWalletId", gettext("Must be another wallet."))
    wallets = Wallet.objects.owned_by(ledger.member)
    if payer is not None and not wallets.filter(pk=payer).exists():
        raise MissingItemError("payFromWalletId")
    if values.auto_pay and payer is None:
        detail = gettext("Required with `autoPay`.")
        raise InvalidFieldError("payFromWalletId", detail, "required")


def _make_terms(card: Card, values: CardValues, today: date) -> list[Term]:
    """Return the terms with the days that are sent, from their month on."""
    for name, day in (
        ("closingDay", values.closing_day),
        ("paymentDay", values.payment_day),
    ):
        if day is None:
            raise InvalidFieldError(
                name, gettext("This field is required."), "required"
            )
    closing_day, payment_day = values.closing_day or 0, values.payment_day or 0
    payment_month = values.payment_month
    if payment_month is None:
        payment_month = 0 if payment_day > closing_day else 1
    elif not months_fit(closing_day, payment_day, payment_month):
        detail = gettext("The payment day must come after the closing day.")
        raise InvalidFieldError("paymentMonth", detail)
    term = Term(date.min, closing_day, payment_day, payment_month, values.shift)
    terms = [Term.from_json(stored) for stored in card.terms]
    first_month = values.from_month
    if (
        terms
        and terms[-1].days == term.days
        and first_month in (None, terms[-1].first_month)
    ):
        return terms
    open_month = _find_open_month(terms, term, today)
    if first_month is None:
        first_month = open_month
    elif first_month > move_month(open_month, MAX_MONTHS_AHEAD):
        detail = gettext("Must be at most {count} months ahead.")
        raise InvalidFieldError("from", detail.format(count=MAX_MONTHS_AHEAD))
    kept = [each for each in terms if each.first_month < first_month]
    if kept and kept[-1].days == term.days:
        return kept
    if len(kept) >= MAX_TERMS:
        raise LimitReachedError(
            gettext("The list is limited to {limit} rows.").format(limit=MAX_TERMS)
        )
    new = Term(first_month, closing_day, payment_day, payment_month, values.shift)
    return [*kept, new]


def _find_open_month(terms: list[Term], term: Term, today: date) -> date:
    if terms:
        return find_open_month(Schedule(terms), today)
    # The first bill is today's.
    first = Term(day_of_month(today, 1), *term.days)
    return Schedule([first]).month_of(today)


def _exclude(ledger: LockedLedger, card: Card, excludes: TargetExcludes) -> None:
    categories = Category.objects.owned_by(ledger.member)
    tags = Tag.objects.owned_by(ledger.member)
    card.excluded_category_ids = _find_ids(
        categories.filter(type=CategoryType.EXPENSE),
        excludes.categories,
        "targetExcludes.categories",
    )
    card.excluded_tag_ids = _find_ids(tags, excludes.tags, "targetExcludes.tags")
    card.excludes_installments = excludes.installments


def _find_ids(rows: Any, names: Collection[str], field: str) -> list[int]:
    if not names:
        return []
    known = dict(rows.filter(name__in=names).values_list("name", "pk"))
    for number, name in enumerate(names):
        if name not in known:
            place = f"{field}.{number}"
            raise MissingItemError(place)
    return sorted({known[name] for name in names})
