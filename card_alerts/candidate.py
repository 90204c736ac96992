"""What a reader of one language found, and how it becomes the answer."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal

from card_alerts.issuer import Issuer
from card_alerts.money import MAX_AMOUNT, MoneyMatch
from card_alerts.normalization import NormalizedText, drop_invisible
from card_alerts.result import Kind, ParseResult, Reason, rejected
from card_alerts.times import TimestampMatch, resolve_date, to_datetime

MIN_INSTALLMENT_MONTHS = 2
MAX_INSTALLMENT_MONTHS = 24
MAX_MERCHANT_LENGTH = 500
MAX_CARD_HINT_LENGTH = 100

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PaymentCandidate:
    """The parts of a payment, each with its place in the plain text.

    `money` is what was paid; `home` the same in the home currency, where a foreign
    payment prints both. `clock` is a time that stands apart from the day.
    """

    kind: Kind
    kind_span: Span | None = None
    issuer: Issuer | None = None
    issuer_span: Span | None = None
    card_hint_span: Span | None = None
    is_check_card: bool | None = None
    money: MoneyMatch | None = None
    home_money: MoneyMatch | None = None
    merchant_span: Span | None = None
    installment_months: int | None = None
    installment_months_span: Span | None = None
    timestamp: TimestampMatch | None = None
    standalone_time: time | None = None
    original: TimestampMatch | None = None
    is_partial: bool = False
    running_total: int | None = None
    running_total_span: Span | None = None
    balance: int | None = None


@dataclass(frozen=True, slots=True)
class SourceText:
    """The sent text, its plain form, and what the caller knows of the home."""

    text: str
    normalized: NormalizedText
    received_at: datetime
    home_currency: str

    def truncated(self, end: int) -> "SourceText":
        """The same, as far as `end` of the plain text."""
        return replace(self, normalized=self.normalized.truncated(end))

    def text_without(self, span: Span | None) -> str:
        """The plain text with a name blanked, so that its words decide nothing."""
        text = self.normalized.text
        if span is None:
            return text
        start, end = span
        return f"{text[:start]}{' ' * (end - start)}{text[end:]}"


def build_result(draft: PaymentCandidate, source: SourceText) -> ParseResult:
    """The answer: recorded, declined, or refused for an amount that cannot be."""
    declined = draft.kind is Kind.DECLINED
    amounts = _Amounts.from_candidate(draft, source.home_currency)
    if declined and not (amounts and amounts.is_within_limits):
        amounts = _Amounts(None, None, None)
    if amounts is None:
        return rejected(Reason.NO_PAYMENT)
    if not declined and amounts.is_zero:
        return rejected(Reason.ZERO_AMOUNT)
    if not amounts.is_within_limits:
        return rejected(Reason.NO_PAYMENT)
    day, moment = _resolve_timestamp(draft, source)
    parsed = ParseResult(
        recognized=not declined,
        kind=draft.kind,
        reason=Reason.DECLINED if declined else None,
        card_company=draft.issuer.name if draft.issuer else None,
        card_hint=_card_hint(draft, source),
        is_check_card=draft.is_check_card,
        amount=amounts.amount,
        currency=amounts.currency,
        original_amount=amounts.original,
        merchant=_merchant(draft, source),
        installment_months=_installment_months(draft),
        occurred_at=moment,
        occurred_on=day,
        original_date=_original_date(draft, source),
        is_partial=draft.is_partial,
        running_total=draft.running_total,
        balance=draft.balance,
    )
    _record_spans(parsed.spans, draft, parsed, source, amounts)
    return parsed


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The payment split into home amount, currency and original amount."""

    amount: int | None
    currency: str | None
    original: Decimal | None
    home_span: Span | None = None

    @classmethod
    def from_candidate(
        cls, draft: PaymentCandidate, home_currency: str
    ) -> "_Amounts | None":
        if draft.money is None:
            return None
        if draft.money.currency == home_currency:
            return cls(_round_half_up(draft.money.value), None, None, draft.money.span)
        home = draft.home_money
        if home is not None and home.currency == home_currency:
            amount, span = _round_half_up(home.value), home.span
        else:
            amount, span = None, None
        return cls(amount, draft.money.currency, draft.money.value, span)

    @property
    def is_zero(self) -> bool:
        return not (self.original if self.currency else self.amount)

    @property
    def is_within_limits(self) -> bool:
        if self.amount is not None and not 1 <= self.amount <= MAX_AMOUNT:
            return False
        return self.original is None or 0 < self.original <= MAX_AMOUNT


def _round_half_up(value: Decimal) -> int:
    """Home money is whole units in the ledger: half a unit counts up."""
    return int(value.quantize(Decimal(1), ROUND_HALF_UP))


def _resolve_timestamp(
    draft: PaymentCandidate, source: SourceText
) -> tuple[date | None, datetime | None]:
    """The printed day, and the moment where a possible time is printed too."""
    moment = _payment_timestamp(draft)
    day = resolve_date(moment, source.received_at) if moment else None
    if moment is None or day is None:
        return None, None
    clock = moment.time or (None if moment.has_printed_time else draft.standalone_time)
    return day, to_datetime(day, clock, source.received_at) if clock else None


def _payment_timestamp(draft: PaymentCandidate) -> TimestampMatch | None:
    """When it happened; the approval's day, which a cancellation names, is not it."""
    if draft.timestamp is None and draft.kind is not Kind.CANCELLATION:
        return draft.original
    return draft.timestamp


def _original_date(draft: PaymentCandidate, source: SourceText) -> date | None:
    if draft.original is None or draft.kind is not Kind.CANCELLATION:
        return None
    return resolve_date(draft.original, source.received_at)


def _installment_months(draft: PaymentCandidate) -> int | None:
    """2 to 24; a check card is never paid in parts."""
    if draft.is_check_card or draft.installment_months is None:
        return None
    return (
        draft.installment_months
        if MIN_INSTALLMENT_MONTHS <= draft.installment_months <= MAX_INSTALLMENT_MONTHS
        else None
    )


def _merchant(draft: PaymentCandidate, source: SourceText) -> str | None:
    if draft.merchant_span is None:
        return None
    return _printed_text(draft.merchant_span, source)[:MAX_MERCHANT_LENGTH] or None


def _card_hint(draft: PaymentCandidate, source: SourceText) -> str | None:
    if draft.card_hint_span is None:
        return None
    start, end = draft.card_hint_span
    return source.normalized.text[start:end].strip()[:MAX_CARD_HINT_LENGTH] or None


def _printed_text(span: Span, source: SourceText) -> str:
    start, end = source.normalized.source_span(*span)
    return drop_invisible(source.text[start:end])


def _record_spans(
    spans: dict[str, Span],
    draft: PaymentCandidate,
    parsed: ParseResult,
    source: SourceText,
    amounts: _Amounts,
) -> None:
    """Notes where each field that has a value was found in the sent text."""
    money = draft.money
    moment = _payment_timestamp(draft)
    foreign = money if parsed.currency else None
    when = moment.span if moment and parsed.occurred_at else None
    places: dict[str, tuple[object, Span | None]] = {
        "kind": (parsed.kind, draft.kind_span),
        "cardCompany": (parsed.card_company, draft.issuer_span),
        "cardHint": (parsed.card_hint, draft.card_hint_span),
        "amount": (parsed.amount, amounts.home_span),
        "currency": (foreign, foreign.currency_span if foreign else None),
        "originalAmount": (foreign, foreign.span if foreign else None),
        "merchant": (parsed.merchant, draft.merchant_span),
        "installmentMonths": (parsed.installment_months, draft.installment_months_span),
        "occurredAt": (when, when),
        "runningTotal": (parsed.running_total, draft.running_total_span),
    }
    for name, (value, span) in places.items():
        if value is not None and span is not None and span[0] < span[1]:
            spans[name] = source.normalized.source_span(*span)
