"""Decisions on entries: valid values, and refunds of an expense (spec 3.4). Pure."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext

from core.errors import InUseError, InvalidFieldError
from ledger.entry_shape import (
    EXPENSE,
    INCOME,
    MAX_TAGS_PER_ENTRY,
    EntryShape,
    LineShape,
    Ref,
)
from ledger.errors import LinesMismatchError, RefundExceedsError

CARD = "CARD"
# An original amount has four decimals.
_ORIGINAL_UNITS = 10_000
# A home-currency refund of a foreign expense may exceed the rest by 20 %, for another
# rate.
RATE_MARGIN = Fraction(6, 5)


@dataclass(frozen=True, slots=True)
class Original:
    """An expense with its lines and other refunds, pending ones too.

    A refund is the whole entry, or the lines of it that name the expense.
    """

    id: int
    shape: EntryShape
    is_pending: bool
    refunds: tuple[EntryShape, ...]

    @property
    def amount(self) -> int:
        return self.shape.amount or 0

    @property
    def left(self) -> Fraction:
        """Return the amount that can still come back, in the expense's currency."""
        return self._total - sum(map(self._convert, self.refunds))

    @property
    def rest(self) -> EntryShape | None:
        """Return the amounts of a refund of all that is left, or None."""
        if not self._is_foreign:
            # A refund in another currency is taken off as well.
            amount = self.amount - sum(map(self._amount_of, self.refunds))
            return EntryShape(type=INCOME, amount=amount) if amount > 0 else None
        left = math.floor(self.left * _ORIGINAL_UNITS)
        if left <= 0:
            return None
        return EntryShape(
            type=INCOME,
            # As booked, or converted at its rate.
            amount=None if self.refunds else self.amount,
            currency=self.shape.currency,
            original_amount=Decimal(left) / _ORIGINAL_UNITS,
            exchange_rate=self.shape.exchange_rate,
        )

    def has_room_for(self, refund: EntryShape) -> bool:
        taken, is_whole = self._convert(refund), refund.refund_of == self.id
        is_alike = is_whole and refund.currency == self.shape.currency
        if not self._is_foreign or is_alike:
            return taken <= self.left
        return self.amount > 0 and taken <= self.left * RATE_MARGIN

    def complete(self, refund: EntryShape) -> EntryShape:
        """Return a refund with currency, rate, tags and `excluded` of the expense.

        Values that are given stay; tags and `excluded` are given unless they are None.
        """
        expense = self.shape
        if refund.tags is None:
            refund = replace(refund, tags=expense.tags)
        if refund.excluded is None:
            refund = replace(refund, excluded=expense.excluded)
        if refund.original_amount is not None and refund.currency is None:
            refund = replace(refund, currency=expense.currency)
        has_rate = refund.exchange_rate is not None or refund.amount is not None
        if refund.currency == expense.currency and not has_rate:
            refund = replace(refund, exchange_rate=expense.exchange_rate)
        return refund

    def book(self, refund: EntryShape) -> EntryShape:
        """Return a refund on the category of the expense, or on a part of its lines."""
        expense = self.shape
        lines: tuple[LineShape, ...] = ()
        if expense.lines and refund.amount:
            refunded = [line for each in self.refunds for line in self._lines_of(each)]
            lines = divide_refund(refund.amount, expense.lines, refunded)
            if len(lines) > 1 or lines[0].wallet is not None:
                return replace(refund, lines=lines, category_type=EXPENSE)
        booked = lines[0] if lines else expense
        return replace(
            refund,
            category=booked.category,
            category_type=booked.category_type or EXPENSE,
        )

    @property
    def _is_foreign(self) -> bool:
        return self.shape.original_amount is not None

    @property
    def _total(self) -> Fraction:
        return Fraction(self.shape.original_amount or self.amount)

    def _convert(self, refund: EntryShape) -> Fraction:
        """Return what a refund takes, in the currency of the expense.

        Money in another one is taken at the rate of the expense. An expense in the home
        currency has none: a foreign refund takes nothing from it.
        """
        if refund.refund_of == self.id:
            if self._is_foreign and refund.currency == self.shape.currency:
                return Fraction(refund.original_amount or 0)
            if not self._is_foreign and refund.currency is not None:
                return Fraction(0)
        return Fraction(self._amount_of(refund)) * self._total / (self.amount or 1)

    def _amount_of(self, refund: EntryShape) -> int:
        if refund.refund_of == self.id:
            return refund.amount or 0
        lines = (line for line in refund.lines if line.refund_of == self.id)
        return sum(line.amount for line in lines)

    def _lines_of(self, refund: EntryShape) -> list[LineShape]:
        if refund.refund_of != self.id:
            return [line for line in refund.lines if line.refund_of == self.id]
        flat = LineShape(
            refund.amount or 0,
            refund.category,
            refund.category_type,
            memo=refund.memo,
        )
        return list(refund.lines) or [flat]


@dataclass(frozen=True, slots=True)
class Facts:
    wallet_kind: str | None = None
    # Of each expense that comes back, by the entry or a line.
    originals: Mapping[Ref, Original] = field(default_factory=dict)
    is_pending: bool = False
    # The stored entry; None for a new one.
    before: EntryShape | None = None
    # A wallet of the entry has bills, or it names none.
    has_bill: bool = True

    def is_linked(self, expense_id: Ref) -> bool:
        return self.before is not None and expense_id in self.before.refunded_ids


def complete_refund(shape: EntryShape, facts: Facts) -> EntryShape:
    """Fill in missing values from the expense that comes back."""
    if shape.refund_of is not None:
        if facts.is_linked(shape.refund_of):
            return shape
        return facts.originals[shape.refund_of].complete(shape)
    lines = tuple(_complete_line(line, facts) for line in shape.lines)
    return replace(shape, lines=lines)


def unite_tags(own: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the names of both, its own ones first, as many as an entry can have."""
    return tuple(dict.fromkeys([*own, *others]))[:MAX_TAGS_PER_ENTRY]


def _complete_line(line: LineShape, facts: Facts) -> LineShape:
    if line.refund_of is None or line.category is not None:
        return line
    expense = facts.originals[line.refund_of].shape
    if facts.is_linked(line.refund_of) or expense.category_type != EXPENSE:
        return line
    return replace(line, category=expense.category)


def complete_entry(shape: EntryShape, facts: Facts) -> EntryShape:
    """Return a valid shape; a refund without category and lines gets them.

    Raises `InvalidFieldError`, `LinesMismatchError`, or `RefundExceedsError` for more
    than was spent.
    """
    is_by_card = shape.type == EXPENSE and facts.wallet_kind == CARD
    if shape.installment_months is not None and not is_by_card:
        raise InvalidFieldError(
            "installmentMonths",
            gettext("Installments are only allowed for card expenses."),
        )
    if not facts.has_bill:
        raise InvalidFieldError(
            "billMonth", gettext("Only allowed for entries of a card with settings.")
        )
    if not facts.originals:
        shape.validate()
        return shape
    for expense_id, original in facts.originals.items():
        name = name_refund(shape, expense_id)
        # A pending refund counts nowhere. A refund from a notification keeps its
        # expense, whichever of the two is confirmed first.
        is_linked = facts.is_linked(expense_id)
        if original.is_pending and not facts.is_pending and not is_linked:
            raise InvalidFieldError(name, gettext("Confirm the expense first."))
    too_large = _find_too_large(shape, facts)
    completed = shape
    if shape.refund_of is not None:
        has_place = shape.category is not None or shape.lines
        if not has_place and not too_large and is_on_expenses(shape):
            completed = facts.originals[shape.refund_of].book(shape)
        if not is_on_expenses(completed):
            raise InvalidFieldError(
                "refundOf", gettext("Only allowed for incomes on expense categories.")
            )
    completed.validate()
    if too_large:
        raise RefundExceedsError(too_large)
    _raise_on_early_refund(shape, facts)
    return completed


def name_refund(shape: EntryShape, expense_id: Ref) -> str:
    if shape.refund_of is not None:
        return "refundOf"
    refs = [line.refund_of for line in shape.lines]
    return f"lines.{refs.index(expense_id)}.refundOf"


def _find_too_large(shape: EntryShape, facts: Facts) -> str | None:
    """Return the field of a refund that exceeds the rest of its expense."""
    before = facts.before
    if before is not None and not facts.is_pending:
        names = ("refund_of", "amount", "currency", "original_amount", "lines")
        if all(getattr(shape, name) == getattr(before, name) for name in names):
            # It came in as it is, perhaps from an earlier release.
            return None
    for expense_id, original in facts.originals.items():
        if not original.has_room_for(shape):
            refs = [line.refund_of for line in shape.lines]
            last = len(refs) - 1 - refs[::-1].index(expense_id) if refs else 0
            is_whole = shape.refund_of is not None
            return "amount" if is_whole else f"lines.{last}.refundOf"
    return None


def _raise_on_early_refund(shape: EntryShape, facts: Facts) -> None:
    before = facts.before
    for expense_id, original in facts.originals.items():
        is_same = before is not None and before.date == shape.date
        if is_same and facts.is_linked(expense_id):
            continue
        if shape.date and original.shape.date and shape.date < original.shape.date:
            raise InvalidFieldError(
                "date", gettext("Must not be before the expense that comes back.")
            )


def link_refund(refund: EntryShape, original: Original) -> EntryShape:
    """Refer a refund from a notification to its expense, if it fits."""
    expense = original.shape
    linked = replace(
        refund,
        refund_of=original.id,
        tags=expense.tags,
        excluded=expense.excluded,
    )
    is_whole = refund.currency is not None or (refund.amount or 0) > 0
    if expense.type != EXPENSE or not is_whole or not original.has_room_for(linked):
        return refund
    linked = original.book(linked)
    try:
        linked.validate()
    except (InvalidFieldError, LinesMismatchError):
        # Paid back to a wallet that the lines name.
        return refund
    return linked if is_on_expenses(linked) else refund


def raise_if_refunds_unfit(expense: Original, changed: EntryShape) -> None:
    """Raise a `DomainError` if the refunds of an expense do not fit its new shape."""
    if not expense.refunds:
        return
    if changed.type != EXPENSE:
        raise InUseError(gettext("The type cannot change while refunds refer to it."))
    left = replace(expense, shape=changed).left
    if left < 0 and left < expense.left:
        raise RefundExceedsError
    is_later = changed.date != expense.shape.date
    if is_later and any(_is_before(each, changed) for each in expense.refunds):
        raise InvalidFieldError("date", gettext("A refund has an earlier date."))


def _is_before(refund: EntryShape, expense: EntryShape) -> bool:
    return bool(refund.date and expense.date and refund.date < expense.date)


def is_on_expenses(refund: EntryShape) -> bool:
    types: set[str | None] = {
        line.category_type for line in refund.lines if line.wallet is None
    }
    if not refund.lines:
        types = {refund.category_type}
    return refund.type == INCOME and types == {EXPENSE}


def divide_refund(
    amount: int, lines: Sequence[LineShape], refunded: Iterable[LineShape]
) -> tuple[LineShape, ...]:
    """Return the lines of a refund, without lines of 0.

    `lines` belong to the expense, and `refunded` to its other refunds.
    """
    left = _list_left(lines, refunded)
    if sum(left) < amount:
        # Others were booked as the member wanted, or came back at another rate.
        left = [line.amount for line in lines]
    shares = divide(amount, left)
    _book_on_category(shares, left, lines)
    return tuple(
        replace(line, amount=share)
        for line, share in zip(lines, shares, strict=True)
        if share
    )


def _list_left(lines: Sequence[LineShape], refunded: Iterable[LineShape]) -> list[int]:
    """Return the rest of each line after refunds, between its amount and 0.

    A refunded line is taken from the line with its category or wallet, its sign and its
    memo; the remainder from lines with its category or wallet and its sign.
    """
    left = [line.amount for line in lines]
    rest = list(refunded)
    keys: tuple[Callable[[LineShape], Hashable], ...] = (
        lambda line: (_key(line), line.memo),
        _key,
    )
    for key_of in keys:
        amounts: Counter[Hashable] = Counter()
        examples = {}
        for line in rest:
            amounts[key_of(line)] += line.amount
            examples[key_of(line)] = line
        rest = []
        for key, amount in amounts.items():
            numbers = [n for n, line in enumerate(lines) if key_of(line) == key]
            sizes = [abs(left[n]) for n in numbers]
            sign = 1 if amount > 0 else -1
            taken = min(abs(amount), sum(sizes))
            for n, part in zip(numbers, divide(taken, sizes), strict=True):
                left[n] -= sign * part
            if amount != sign * taken:
                rest.append(replace(examples[key], amount=amount - sign * taken))
    return left


def _key(line: LineShape) -> Hashable:
    return line.wallet, line.category_type, line.category, line.amount > 0


def divide(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount in the proportion of weights, by largest remainders.

    The sum of the weights is above 0; a weight may be negative. If the sum is the
    amount at least, no share is larger than its weight, nor of the other sign.
    """
    total = sum(weights)
    if not amount:
        return [0] * len(weights)
    shares = [weight * amount // total for weight in weights]
    # Remainders of floor divisions are never negative, nor is the missing amount.
    order = sorted(
        range(len(weights)), key=lambda n: (-(weights[n] * amount % total), n)
    )
    for n in order[: amount - sum(shares)]:
        shares[n] += 1
    return shares


def _book_on_category(
    shares: list[int], left: Sequence[int], lines: Sequence[LineShape]
) -> None:
    """Give a category the smallest share if only lines of wallets have one.

    Money that comes back to other wallets alone is no refund.
    """
    booked = [n for n, line in enumerate(lines) if line.wallet is None]
    if not booked or any(shares[n] for n in booked):
        return
    chosen = max(booked, key=lambda n: (abs(left[n]), abs(lines[n].amount)))
    unit = 1 if lines[chosen].amount > 0 else -1
    others = [n for n, line in enumerate(lines) if line.wallet is not None]
    # Take it from the largest share, or from the line with most room.
    other = max(others, key=lambda n: shares[n] if unit > 0 else left[n] - shares[n])
    shares[chosen] += unit
    shares[other] -= unit
