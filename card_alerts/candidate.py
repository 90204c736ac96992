"""What a reader of one language found, and how it becomes the answer."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal

from card_alerts.issuer import Issuer
from card_alerts.money import LARGEST_AMOUNT, Money
from card_alerts.normalization import Plain, drop_invisible
from card_alerts.result import Kind, Parsed, Reason, refuse
from card_alerts.times import Moment, at, day_of

FEWEST_MONTHS = 2
MOST_MONTHS = 24
LONGEST_MERCHANT = 500
LONGEST_HINT = 100

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a payment, each with its place in the plain text.

    `money` is what was paid; `home` the same in the home currency, where a foreign
    payment prints both. `clock` is a time that stands apart from the day.
    """

    kind: Kind
    kind_span: Span | None = None
    issuer: Issuer | None = None
    issuer_span: Span | None = None
    hint_span: Span | None = None
    is_check: bool | None = None
    money: Money | None = None
    home: Money | None = None
    merchant_span: Span | None = None
    months: int | None = None
    months_span: Span | None = None
    moment: Moment | None = None
    clock: time | None = None
    original: Moment | None = None
    is_partial: bool = False
    total: int | None = None
    total_span: Span | None = None
    balance: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The sent text, its plain form, and what the caller knows of the home."""

    text: str
    plain: Plain
    received_at: datetime
    home_currency: str

    def until(self, end: int) -> "Source":
        """The same, as far as `end` of the plain text."""
        return replace(self, plain=self.plain.cut(end))

    def blank(self, span: Span | None) -> str:
        """The plain text with a name blanked, so that its words decide nothing."""
        text = self.plain.text
        if span is None:
            return text
        start, end = span
        return f"{text[:start]}{' ' * (end - start)}{text[end:]}"


def build(draft: Draft, source: Source) -> Parsed:
    """The answer: recorded, declined, or refused for an amount that cannot be."""
    declined = draft.kind is Kind.DECLINED
    amounts = _Amounts.of(draft, source.home_currency)
    if declined and not (amounts and amounts.is_possible):
        amounts = _Amounts(None, None, None)
    if amounts is None:
        return refuse(Reason.NO_PAYMENT)
    if not declined and amounts.is_zero:
        return refuse(Reason.ZERO_AMOUNT)
    if not amounts.is_possible:
        return refuse(Reason.NO_PAYMENT)
    day, moment = _when(draft, source)
    parsed = Parsed(
        recognized=not declined,
        kind=draft.kind,
        reason=Reason.DECLINED if declined else None,
        card_company=draft.issuer.name if draft.issuer else None,
        card_hint=_hint(draft, source),
        is_check_card=draft.is_check,
        amount=amounts.amount,
        currency=amounts.currency,
        original_amount=amounts.original,
        merchant=_merchant(draft, source),
        installment_months=_months(draft),
        occurred_at=moment,
        occurred_on=day,
        original_date=_original(draft, source),
        is_partial=draft.is_partial,
        running_total=draft.total,
        balance=draft.balance,
    )
    _mark(parsed.spans, draft, parsed, source, amounts)
    return parsed


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The payment split into home amount, currency and original amount."""

    amount: int | None
    currency: str | None
    original: Decimal | None
    home_span: Span | None = None

    @classmethod
    def of(cls, draft: Draft, home_currency: str) -> "_Amounts | None":
        if draft.money is None:
            return None
        if draft.money.currency == home_currency:
            return cls(_whole(draft.money.value), None, None, draft.money.span)
        home = draft.home
        if home is not None and home.currency == home_currency:
            amount, span = _whole(home.value), home.span
        else:
            amount, span = None, None
        return cls(amount, draft.money.currency, draft.money.value, span)

    @property
    def is_zero(self) -> bool:
        return not (self.original if self.currency else self.amount)

    @property
    def is_possible(self) -> bool:
        if self.amount is not None and not 1 <= self.amount <= LARGEST_AMOUNT:
            return False
        return self.original is None or 0 < self.original <= LARGEST_AMOUNT


def _whole(value: Decimal) -> int:
    """Home money is whole units in the ledger: half a unit counts up."""
    return int(value.quantize(Decimal(1), ROUND_HALF_UP))


def _when(draft: Draft, source: Source) -> tuple[date | None, datetime | None]:
    """The printed day, and the moment where a possible time is printed too."""
    moment = _own_moment(draft)
    day = day_of(moment, source.received_at) if moment else None
    if moment is None or day is None:
        return None, None
    clock = moment.time or (None if moment.has_clock else draft.clock)
    return day, at(day, clock, source.received_at) if clock else None


def _own_moment(draft: Draft) -> Moment | None:
    """When it happened; the approval's day, which a cancellation names, is not it."""
    if draft.moment is None and draft.kind is not Kind.CANCELLATION:
        return draft.original
    return draft.moment


def _original(draft: Draft, source: Source) -> date | None:
    if draft.original is None or draft.kind is not Kind.CANCELLATION:
        return None
    return day_of(draft.original, source.received_at)


def _months(draft: Draft) -> int | None:
    """2 to 24; a check card is never paid in parts."""
    if draft.is_check or draft.months is None:
        return None
    return draft.months if FEWEST_MONTHS <= draft.months <= MOST_MONTHS else None


def _merchant(draft: Draft, source: Source) -> str | None:
    if draft.merchant_span is None:
        return None
    return _printed(draft.merchant_span, source)[:LONGEST_MERCHANT] or None


def _hint(draft: Draft, source: Source) -> str | None:
    if draft.hint_span is None:
        return None
    start, end = draft.hint_span
    return source.plain.text[start:end].strip()[:LONGEST_HINT] or None


def _printed(span: Span, source: Source) -> str:
    start, end = source.plain.origin(*span)
    return drop_invisible(source.text[start:end])


def _mark(
    spans: dict[str, Span],
    draft: Draft,
    parsed: Parsed,
    source: Source,
    amounts: _Amounts,
) -> None:
    """Notes where each field that has a value was found in the sent text."""
    money = draft.money
    moment = _own_moment(draft)
    foreign = money if parsed.currency else None
    when = moment.span if moment and parsed.occurred_at else None
    places: dict[str, tuple[object, Span | None]] = {
        "kind": (parsed.kind, draft.kind_span),
        "cardCompany": (parsed.card_company, draft.issuer_span),
        "cardHint": (parsed.card_hint, draft.hint_span),
        "amount": (parsed.amount, amounts.home_span),
        "currency": (foreign, foreign.currency_span if foreign else None),
        "originalAmount": (foreign, foreign.span if foreign else None),
        "merchant": (parsed.merchant, draft.merchant_span),
        "installmentMonths": (parsed.installment_months, draft.months_span),
        "occurredAt": (when, when),
        "runningTotal": (parsed.running_total, draft.total_span),
    }
    for name, (value, span) in places.items():
        if value is not None and span is not None and span[0] < span[1]:
            spans[name] = source.plain.origin(*span)
