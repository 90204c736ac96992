"""The shape of an entry, and the fields that each kind can have (spec 3.4). Pure."""

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from core.api.fields import MAX_AMOUNT
from core.errors import DomainError, FieldError, InvalidFieldError

MAX_MEMO_LENGTH = 500
MAX_TAGS_PER_ENTRY = 50
# The JSON of a shape with all lines and tags, each character escaped.
MAX_SHAPE_BYTES = 9 * 2**16
# The id of a stored row, or a name. A shape has categories by either, never by both.
Ref = int | str
INCOME, EXPENSE, TRANSFER = "income", "expense", "transfer"
_FOREIGN = ("currency", "original_amount", "exchange_rate")


class LinesMismatchError(DomainError):
    code = "LINES_MISMATCH"
    detail = gettext_lazy("The lines do not add up to the amount.")

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("lines", self.detail, "mismatch"),))


@dataclass(frozen=True, slots=True)
class LineShape:
    """A part of an amount: for a category, for another own wallet, or for nothing.

    `amount` is in the direction of the entry and may be negative.
    """

    amount: int
    category: Ref | None = None
    category_type: str | None = None
    wallet: Ref | None = None
    memo: str = ""
    # The expense that comes back, where the lines of an income differ in it.
    refund_of: Ref | None = None
    # Memos of all lines that became this line.
    memos: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryShape:
    """An entry, quick entry or recurring rule, without its row.

    `amount` is in whole home-currency units; None to convert `original_amount`, or in a
    quick entry without an amount. Templates have no field from `date` on.
    """

    type: str
    amount: int | None = None
    category: Ref | None = None
    # None: an expense for a refund, else the type of the entry.
    category_type: str | None = None
    wallet: Ref | None = None
    to_wallet: Ref | None = None
    lines: tuple[LineShape, ...] = ()
    memo: str = ""
    # None: the tags of the expense that comes back.
    tags: tuple[str, ...] | None = ()
    date: datetime.date | None = None
    time: datetime.time | None = None
    currency: str | None = None
    original_amount: Decimal | None = None
    exchange_rate: Decimal | None = None
    installment_months: int | None = None
    # Typed-in amounts of the parts; None for equal ones.
    installment_parts: tuple[int, ...] | None = None
    # The first day of the month of the bill that it is on, or pays.
    bill_month: datetime.date | None = None
    refund_of: Ref | None = None
    # None: as the expense that comes back.
    excluded: bool | None = False
    source: str = "MANUAL"

    @property
    def is_reversal(self) -> bool:
        return is_reversal(self.type, self.category_type)

    def columns(self) -> dict[str, Any]:
        values = {column: getattr(self, name) for name, column in COLUMNS.items()}
        return values | {
            "is_reversal": self.is_reversal,
            "excluded": bool(self.excluded),
        }

    @property
    def refunded_ids(self) -> list[Ref]:
        """Return the expenses that come back, each once."""
        refs = [self.refund_of, *(line.refund_of for line in self.lines)]
        return list(dict.fromkeys(ref for ref in refs if ref is not None))

    def category_names(self) -> list[tuple[str, str]]:
        parts: list[EntryShape | LineShape] = [self, *self.lines]
        names = dict.fromkeys(
            (part.category_type or EXPENSE, str(part.category))
            for part in parts
            if part.category is not None
        )
        return list(names)

    def with_category_types(self) -> "EntryShape":
        default = default_category_type(self.type)
        if self.refund_of is not None:
            default = EXPENSE
        type_ = self.category_type or default
        lines = tuple(
            line
            if line.category_type
            else replace(line, category_type=EXPENSE if line.refund_of else type_)
            for line in self.lines
        )
        return replace(self, category_type=type_, lines=lines)

    def with_one_refund(self) -> "EntryShape":
        """Return it with `refund_of` in the lines, or once if all lines agree.

        Raises `InvalidFieldError` for a line with another expense than the entry.
        """
        refs = {line.refund_of for line in self.lines}
        if refs <= {None}:
            return self
        if self.refund_of is not None:
            for number, line in enumerate(self.lines):
                if line.refund_of not in (None, self.refund_of):
                    name = f"lines.{number}.refundOf"
                    raise InvalidFieldError(
                        name, gettext("The entry is a refund of another expense.")
                    )
        elif len(refs) > 1:
            return self
        lines = tuple(replace(line, refund_of=None) for line in self.lines)
        return replace(self, refund_of=self.refund_of or refs.pop(), lines=lines)

    def forbidden(self) -> set[str]:
        return {rule.field for rule in _FORBIDDEN if rule.applies(self)}

    def validate(self) -> None:
        """Raise `InvalidFieldError` or `LinesMismatchError` for unfit values."""
        for rule in _FORBIDDEN:
            if getattr(self, rule.field) is not None and rule.applies(self):
                raise InvalidFieldError(_API_NAMES[rule.field], str(rule.detail))
        if self.type == TRANSFER:
            required = gettext("Required for a transfer.")
            if self.wallet is None:
                raise InvalidFieldError("walletId", required, "required")
            if self.to_wallet is None and not self.lines:
                raise InvalidFieldError("toWalletId", required, "required")
        if self.to_wallet is not None and self.to_wallet == self.wallet:
            raise InvalidFieldError("toWalletId", gettext("Must be another wallet."))
        if self.lines:
            self._validate_lines()

    def _validate_lines(self) -> None:
        for number, line in enumerate(self.lines):
            if line.refund_of is not None and not self._can_refund(line):
                name = f"lines.{number}.refundOf"
                raise InvalidFieldError(
                    name,
                    gettext(
                        "Only allowed for positive lines on expense categories of an "
                        "income."
                    ),
                )
            if line.wallet is None:
                continue
            name = f"lines.{number}.walletId"
            if line.category is not None:
                raise InvalidFieldError(
                    name, gettext("A line has a category or a wallet, not both.")
                )
            if self.wallet is None:
                raise InvalidFieldError(
                    "walletId", gettext("Required with lines of wallets."), "required"
                )
            if line.wallet == self.wallet:
                raise InvalidFieldError(name, gettext("Must be another wallet."))
        if self.type == TRANSFER and all(line.wallet is None for line in self.lines):
            raise InvalidFieldError(
                "lines", gettext("A transfer needs a line with a wallet.")
            )
        if sum(line.amount for line in self.lines) != self.amount:
            raise LinesMismatchError

    def _can_refund(self, line: LineShape) -> bool:
        is_on_expense = line.wallet is None and line.category_type == EXPENSE
        return self.type == INCOME and is_on_expense and line.amount > 0

    def change(
        self, changes: Mapping[str, Any], *, is_partial: bool = False
    ) -> "EntryShape":
        """Return it after an update; clear unfit fields that are not given.

        A partial update clears nothing for another type: raises `DomainError` with each
        field that the new type cannot have.
        """
        changed = replace(self, **changes)
        is_new_refund = changed.refund_of not in (None, self.refund_of)
        if is_new_refund and "category_type" not in changes:
            # A category of the other type gives way to the expense's.
            if changed.category_type == INCOME:
                changed = replace(changed, category=changes.get("category"))
            changed = replace(changed, category_type=EXPENSE)
        elif "lines" in changes and changes.get("refund_of") is None:
            kept = None if "refund_of" in changes else self.refund_of
            if any(line.refund_of not in (None, kept) for line in changed.lines):
                # The lines say what comes back.
                changed = replace(changed, refund_of=None)
        changed = changed.with_one_refund()
        unfit = changed.forbidden() - changes.keys()
        if changed.type != self.type:
            if is_partial:
                _raise_on_unfit(changed, unfit)
            unfit |= {"category_type"} - changes.keys()
        return changed.without(unfit).with_category_types()

    def rewrites_lines(self, before: "EntryShape", *, are_given: bool) -> bool:
        """Return True if an update has to store the lines again.

        Raises `LinesMismatchError` for another type or amount without lines.
        """
        if self.lines != before.lines:
            return True
        is_same = (self.type, self.amount) == (before.type, before.amount)
        if not self.lines or is_same:
            return False
        if not are_given:
            raise LinesMismatchError
        return True

    def without(self, names: Iterable[str]) -> "EntryShape":
        cleared: dict[str, Any] = dict.fromkeys(names)
        return replace(self, **cleared)

    def with_fitting_parts(self) -> "EntryShape":
        """Return it without typed-in parts that are of another amount or number."""
        parts = self.installment_parts
        if parts is None:
            return self
        fits = len(parts) == self.installment_months and sum(parts) == self.amount
        return self if fits else replace(self, installment_parts=None)

    @property
    def wallet_ids(self) -> set[Ref]:
        """Return the wallets that it moves."""
        wallets = {self.wallet, self.to_wallet, *(line.wallet for line in self.lines)}
        return {wallet for wallet in wallets if wallet is not None}

    def without_refunds(self) -> "EntryShape":
        lines = tuple(replace(line, refund_of=None) for line in self.lines)
        return replace(self, refund_of=None, lines=lines)

    def flatten(self) -> "EntryShape":
        """Return it without its only line: booked on its category, or a transfer."""
        if len(self.lines) != 1:
            return self
        (line,) = self.lines
        memo = join_memos(self.memo, line.memos or (line.memo,))
        flat = replace(self, lines=(), memo=memo)
        if line.wallet is None:
            return replace(
                flat,
                category=line.category,
                category_type=line.category_type,
                refund_of=line.refund_of or self.refund_of,
            )
        # An income from another wallet is a transfer the other way.
        wallets = (self.wallet, line.wallet)
        source, target = reversed(wallets) if self.type == INCOME else wallets
        transfer = replace(
            flat,
            type=TRANSFER,
            category_type=EXPENSE,
            wallet=source,
            to_wallet=target,
        )
        return transfer.without(transfer.forbidden())

    def move(
        self, kind: Literal["wallet", "category"], source: Ref, target: Ref
    ) -> list["EntryShape"]:
        """Return the entries that a move of a wallet or category leaves, by ids.

        A transfer between the two goes, and so does a line for the entry's own wallet.
        Lines for one category become one; a single line makes a flat entry. Lines of
        both signs that cancel out become two entries. Lines and entries whose sum is
        too large stay apart. The memo takes the memos of lines that go.
        """

        def new(ref: Ref | None) -> Ref | None:
            return target if ref == source else ref

        if kind == "wallet":
            moved = replace(
                self, wallet=new(self.wallet), to_wallet=new(self.to_wallet)
            )
            if moved.to_wallet is not None and moved.to_wallet == moved.wallet:
                return []
            lines = [replace(line, wallet=new(line.wallet)) for line in self.lines]
            is_gone = [
                line.wallet is not None and line.wallet == moved.wallet
                for line in lines
            ]
        else:
            moved = self if self.lines else replace(self, category=new(self.category))
            lines = _join_lines(
                [replace(line, category=new(line.category)) for line in self.lines],
                target,
            )
            is_gone = [not line.amount for line in lines]
        if not self.lines:
            return [moved]
        gone = [line for line, goes in zip(lines, is_gone, strict=True) if goes]
        left = [line for line, goes in zip(lines, is_gone, strict=True) if not goes]
        memos = (memo for line in gone for memo in line.memos or (line.memo,))
        moved = replace(moved, memo=join_memos(self.memo, memos))
        rebuilt = [_with_lines(moved, group) for group in _group_lines(left)]
        # The original amount stays with the first part.
        return rebuilt[:1] + [shape.without(_FOREIGN) for shape in rebuilt[1:]]


class _Forbidden(NamedTuple):
    field: str
    applies: Callable[[EntryShape], bool]
    detail: str | Promise


def _is_transfer(shape: EntryShape) -> bool:
    return shape.type == TRANSFER


def _is_split(shape: EntryShape) -> bool:
    return bool(shape.lines)


_IN_HOME_CURRENCY = gettext_lazy("A transfer is in the home currency.")
# Validation refuses these fields, a change of the type clears them.
_FORBIDDEN = (
    _Forbidden("currency", _is_transfer, _IN_HOME_CURRENCY),
    _Forbidden("original_amount", _is_transfer, _IN_HOME_CURRENCY),
    _Forbidden("exchange_rate", _is_transfer, _IN_HOME_CURRENCY),
    _Forbidden(
        "category",
        _is_transfer,
        gettext_lazy("A transfer has no category but in its lines."),
    ),
    _Forbidden(
        "category",
        _is_split,
        gettext_lazy("The lines of the entry name its categories."),
    ),
    _Forbidden(
        "to_wallet",
        lambda shape: shape.type != TRANSFER,
        gettext_lazy("Only allowed for transfers."),
    ),
    _Forbidden(
        "to_wallet", _is_split, gettext_lazy("The lines of the entry name its wallets.")
    ),
    _Forbidden(
        "installment_months",
        _is_transfer,
        gettext_lazy("Installments are only allowed for card expenses."),
    ),
    _Forbidden(
        "installment_parts",
        lambda shape: shape.installment_months is None,
        gettext_lazy("Only allowed with installments."),
    ),
    _Forbidden(
        "refund_of",
        lambda shape: shape.type != INCOME,
        gettext_lazy("Only allowed for incomes on expense categories."),
    ),
)
_API_NAMES = {
    "category": "category",
    "currency": "currency",
    "exchange_rate": "exchangeRate",
    "installment_months": "installmentMonths",
    "installment_parts": "amounts",
    "original_amount": "originalAmount",
    "refund_of": "refundOf",
    "to_wallet": "toWalletId",
}
# Field -> column.
_REFERENCES = {
    "wallet": "wallet_id",
    "to_wallet": "to_wallet_id",
    "refund_of": "refund_of_id",
}
COLUMNS = {
    each.name: _REFERENCES.get(each.name, each.name)
    for each in fields(EntryShape)
    if each.name not in {"category", "category_type", "lines", "tags"}
}


def _raise_on_unfit(shape: EntryShape, names: Collection[str]) -> None:
    """Raise `DomainError` with each of these fields that it has and cannot have."""
    details = {
        rule.field: rule.detail
        for rule in _FORBIDDEN
        if rule.field in names
        and getattr(shape, rule.field) is not None
        and rule.applies(shape)
    }
    if details:
        errors = (FieldError(_API_NAMES[name], text) for name, text in details.items())
        raise DomainError(errors=tuple(errors))


def default_category_type(entry_type: str) -> str:
    return INCOME if entry_type == INCOME else EXPENSE


def is_reversal(entry_type: str, category_type: str | None) -> bool:
    """Return True if an entry is booked on a category of the other type."""
    return category_type not in (None, default_category_type(entry_type))


def join_memos(memo: str, others: Iterable[str]) -> str:
    """Add memos that are not contained yet, up to the maximum length."""
    for other in others:
        if other not in memo:
            memo = f"{memo}, {other}" if memo else other
    return memo[:MAX_MEMO_LENGTH]


def _join_lines(lines: Iterable[LineShape], target: Ref) -> list[LineShape]:
    joined: list[LineShape] = []
    for line in lines:
        place = next(
            (
                number
                for number, other in enumerate(joined)
                if other.category == line.category == target
                and other.refund_of == line.refund_of
                and abs(other.amount + line.amount) <= MAX_AMOUNT
            ),
            None,
        )
        if place is None:
            joined.append(line)
            continue
        first = joined[place]
        memos = (first.memos or (first.memo,)) + (line.memos or (line.memo,))
        memos = tuple(memo for memo in dict.fromkeys(memos) if memo)
        joined[place] = replace(
            first,
            amount=first.amount + line.amount,
            memos=memos,
            memo=join_memos("", memos),
        )
    return joined


def _group_lines(lines: list[LineShape]) -> list[list[LineShape]]:
    amount = sum(line.amount for line in lines)
    if not lines:
        return []
    if 0 < abs(amount) <= MAX_AMOUNT:
        return [lines]
    if amount == 0:
        return [
            *_group_lines([line for line in lines if line.amount > 0]),
            *_group_lines([line for line in lines if line.amount < 0]),
        ]
    size = amount = 0
    for line in lines:
        amount += line.amount
        if abs(amount) > MAX_AMOUNT:
            break
        size += 1
    return [*_group_lines(lines[:size]), *_group_lines(lines[size:])]


def _with_lines(shape: EntryShape, lines: Iterable[LineShape]) -> EntryShape:
    lines = tuple(lines)
    amount, type_ = sum(line.amount for line in lines), shape.type
    if amount < 0:
        amount = -amount
        lines = tuple(replace(line, amount=-line.amount) for line in lines)
        type_ = EXPENSE if type_ == INCOME else INCOME
    if type_ == TRANSFER and all(line.wallet is None for line in lines):
        type_ = EXPENSE
    if type_ != INCOME:
        lines = tuple(replace(line, refund_of=None) for line in lines)
    rebuilt = replace(shape, type=type_, amount=amount, lines=lines)
    rebuilt = rebuilt.with_one_refund().flatten()
    unfit = rebuilt.forbidden()
    if rebuilt.type != EXPENSE:
        unfit |= {"installment_months", "installment_parts"}
    if all(line.wallet is not None for line in lines):
        # A refund is booked on a category.
        unfit.add("refund_of")
    return rebuilt.without(unfit).with_fitting_parts()
