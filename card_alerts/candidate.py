"""The parts of a payment that a parser finds, and their result."""

from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from card_alerts.card_names import find_card_name, names_card
from card_alerts.channels import find_channel
from card_alerts.issuer import Issuer
from card_alerts.merchant_quality import is_cut_name, is_gateway_name
from card_alerts.money import MAX_AMOUNT, MoneyMatch
from card_alerts.normalization import NormalizedText, to_printed_text
from card_alerts.result import (
    BankBooking,
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Reason,
    Span,
    rejected,
)
from card_alerts.times import TimestampMatch, resolve_date

MIN_INSTALLMENT_MONTHS = 2
MAX_INSTALLMENT_MONTHS = 24
MAX_MERCHANT_LENGTH = 500
MAX_CARD_HINT_LENGTH = 100
# "(강남" or "..." behind a name says that it is cut off.
MAX_CUT_MARK_LENGTH = 40
_CUT_MARKS = frozenset("(….‥")
# A hint that ends in one of these words may only say which kind of card it is.
_CARD_WORDS = ("카드", "체크", "결제", "カード", "card", "Card")


class PaymentCandidate(NamedTuple):
    """Spans are of the normalized text."""

    kind: Kind
    kind_span: Span | None = None
    issuer: Issuer | None = None
    issuer_span: Span | None = None
    card_hint_span: Span | None = None
    is_check_card: bool | None = None
    money: MoneyMatch | None = None
    # Set if a foreign payment prints its amount in the home currency too.
    home_money: MoneyMatch | None = None
    merchant_span: Span | None = None
    installment_months: int | None = None
    installment_months_span: Span | None = None
    timestamp: TimestampMatch | None = None
    standalone_time: time | None = None
    # The date of the approval that a cancellation names.
    original_timestamp: TimestampMatch | None = None
    is_partial: bool = False
    running_total: int | None = None
    running_total_span: Span | None = None
    balance: Decimal | None = None
    # The home currency is None.
    balance_currency: str | None = None
    # A label, a separator or a particle marks the merchant.
    is_merchant_sure: bool = False
    is_preliminary: bool = False


class SourceText(NamedTuple):
    text: str
    normalized: NormalizedText
    received_at: datetime
    home_currency: str
    sender_issuer: Issuer | None
    sender: str = ""
    # A second opinion wants to know what an ignored text would have been.
    is_weighed: bool = False

    def truncated(self, end: int) -> "SourceText":
        if end >= len(self.normalized.text):
            return self
        return self._replace(normalized=self.normalized.truncated(end))

    def text_without(self, span: Span | None) -> str:
        text = self.normalized.text
        if span is None:
            return text
        start, end = span
        return f"{text[:start]}{' ' * (end - start)}{text[end:]}"

    def resolve_date(self, timestamp: TimestampMatch | None) -> date | None:
        return resolve_date(timestamp, self.received_at) if timestamp else None


def build_result(candidate: PaymentCandidate, source: SourceText) -> ParseResult:
    is_declined = candidate.kind is Kind.DECLINED
    amounts = _Amounts.from_candidate(candidate, source.home_currency)
    # A decline needs no amount.
    if is_declined and not (amounts and amounts.is_within_limits):
        amounts = _Amounts(None, None, None)
    if amounts is None:
        return rejected(Reason.NO_PAYMENT)
    if not is_declined and amounts.is_zero:
        return rejected(Reason.ZERO_AMOUNT)
    if not amounts.is_within_limits:
        return rejected(Reason.NO_PAYMENT)

    card_span = _find_card(candidate, source)
    timestamp, original = candidate.timestamp, candidate.original_timestamp
    # Only a cancellation has two dates.
    if candidate.kind is not Kind.CANCELLATION:
        timestamp, original = timestamp or original, None
    day = source.resolve_date(timestamp)
    merchant = _merchant(candidate, source)
    candidates = _list_candidates(merchant, candidate, source)
    result = ParseResult(
        recognized=not is_declined,
        kind=candidate.kind,
        reason=Reason.DECLINED if is_declined else None,
        card_company=candidate.issuer.name if candidate.issuer else None,
        card_hint=_card_hint(card_span, source),
        is_check_card=candidate.is_check_card,
        amount=amounts.amount,
        currency=amounts.currency,
        original_amount=amounts.original,
        merchant=merchant,
        installment_months=_installment_months(candidate),
        occurred_at=resolve_occurred_at(
            timestamp, candidate.standalone_time, day, source
        ),
        occurred_on=day,
        original_date=source.resolve_date(original),
        is_partial=candidate.is_partial,
        running_total=candidate.running_total,
        balance=candidate.balance,
        balance_currency=candidate.balance_currency,
        merchant_confidence=_confidence(merchant, candidate),
        doubts=(Doubt.MERCHANT,) if candidates else (),
        candidates=candidates,
        is_gateway=merchant is not None and is_gateway_name(merchant),
        is_merchant_cut=_is_merchant_cut(candidate, source),
        is_preliminary=candidate.is_preliminary,
        channel=find_channel(
            source.normalized.text,
            source.sender,
            source.sender_issuer,
            has_issuer=candidate.issuer is not None,
        ),
    )
    spans = _find_spans(candidate, source, result, amounts.home_span, card_span)
    result.spans.update(spans)
    return result


def _confidence(name: str | None, candidate: PaymentCandidate) -> Confidence | None:
    if name is None:
        return None
    return Confidence.SURE if candidate.is_merchant_sure else Confidence.GUESS


def _list_candidates(
    name: str | None, candidate: PaymentCandidate, source: SourceText
) -> tuple[NameCandidate, ...]:
    """Return the name that is a guess, for no layout or label marks it."""
    span = candidate.merchant_span
    is_guess = name and span and not candidate.is_merchant_sure
    if candidate.kind is Kind.DECLINED or not (is_guess and span):
        return ()
    return (NameCandidate(name or "", source.normalized.source_span(span)),)


def _find_spans(
    candidate: PaymentCandidate,
    source: SourceText,
    result: ParseResult,
    home_span: Span | None,
    card_span: Span | None,
) -> dict[str, Span]:
    """Return the spans of the fields (spec 4.2) in the original text."""
    foreign = candidate.money if result.currency else None
    timestamp = candidate.timestamp
    if candidate.kind is not Kind.CANCELLATION:
        timestamp = timestamp or candidate.original_timestamp
    found: tuple[tuple[str, object, Span | None], ...] = (
        ("kind", result.kind, candidate.kind_span),
        ("cardCompany", result.card_company, candidate.issuer_span),
        ("cardHint", result.card_hint, card_span),
        ("amount", result.amount, home_span),
        ("currency", foreign, foreign.currency_span if foreign else None),
        ("originalAmount", foreign, foreign.span if foreign else None),
        ("merchant", result.merchant, candidate.merchant_span),
        (
            "installmentMonths",
            result.installment_months,
            candidate.installment_months_span,
        ),
        ("occurredAt", result.occurred_at, timestamp.span if timestamp else None),
        ("runningTotal", result.running_total, candidate.running_total_span),
    )
    return {
        name: source.normalized.source_span(span)
        for name, value, span in found
        if span is not None and value is not None and span[0] < span[1]
    }


class _Amounts(NamedTuple):
    amount: int | None
    currency: str | None
    original: Decimal | None
    home_span: Span | None = None

    @classmethod
    def from_candidate(
        cls, candidate: PaymentCandidate, home_currency: str
    ) -> "_Amounts | None":
        money, home = candidate.money, candidate.home_money
        if money is None:
            return None
        if money.currency == home_currency:
            return cls(_round_half_up(money.value), None, None, money.span)
        if home is None or home.currency != home_currency:
            return cls(None, money.currency, money.value)
        amount = _round_half_up(home.value)
        return cls(amount, money.currency, money.value, home.span)

    @property
    def is_zero(self) -> bool:
        return not (self.original if self.currency else self.amount)

    @property
    def is_within_limits(self) -> bool:
        if self.amount is not None and not 1 <= self.amount <= MAX_AMOUNT:
            return False
        return self.original is None or 0 < self.original <= MAX_AMOUNT


def _round_half_up(value: Decimal) -> int:
    return int(value.quantize(Decimal(1), ROUND_HALF_UP))


def rejected_booking(
    booking: BankBooking | None,
    source: SourceText,
    reason: Reason = Reason.BANK_TRANSFER,
) -> ParseResult:
    channel = find_channel(
        source.normalized.text, source.sender, source.sender_issuer, has_issuer=False
    )
    return ParseResult(
        recognized=False,
        reason=reason,
        bank_booking=booking,
        channel=channel,
    )


def resolve_occurred_at(
    timestamp: TimestampMatch | None,
    standalone_time: time | None,
    day: date | None,
    source: SourceText,
) -> datetime | None:
    if timestamp is None or day is None:
        return None
    clock = timestamp.time
    if not timestamp.has_printed_time:
        clock = standalone_time
    if clock is None:
        return None
    return datetime.combine(day, clock, tzinfo=source.received_at.tzinfo)


def _installment_months(candidate: PaymentCandidate) -> int | None:
    """Return 2 to 24; a check card has no installments."""
    months = candidate.installment_months
    if candidate.is_check_card or months is None:
        return None
    is_possible = MIN_INSTALLMENT_MONTHS <= months <= MAX_INSTALLMENT_MONTHS
    return months if is_possible else None


def _merchant(candidate: PaymentCandidate, source: SourceText) -> str | None:
    if candidate.merchant_span is None:
        return None
    # Normalizing may change the name.
    start, end = source.normalized.source_span(candidate.merchant_span)
    return to_printed_text(source.text[start:end])[:MAX_MERCHANT_LENGTH] or None


def _is_merchant_cut(candidate: PaymentCandidate, source: SourceText) -> bool:
    if candidate.merchant_span is None:
        return False
    start, end = candidate.merchant_span
    text = source.normalized.text
    name = text[start:end]
    following = text[end : end + MAX_CUT_MARK_LENGTH].partition("\n")[0]
    if following[:1] in _CUT_MARKS:
        name += following
    return is_cut_name(name)


def _find_card(candidate: PaymentCandidate, source: SourceText) -> Span | None:
    """Return the card that the grammar found, else a name of one."""
    text, span = source.normalized.text, candidate.card_hint_span
    if span:
        found = text[slice(*span)]
        if not found.endswith(_CARD_WORDS) or names_card(found):
            return span
    money = candidate.money.span if candidate.money else None
    taken = tuple(filter(None, (candidate.merchant_span, money)))
    return find_card_name(text, taken, has_issuer=candidate.issuer is not None)


def _card_hint(span: Span | None, source: SourceText) -> str | None:
    if span is None:
        return None
    return source.normalized.text[slice(*span)].strip()[:MAX_CARD_HINT_LENGTH] or None
