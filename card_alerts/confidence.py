"""Weigh what the grammar found against the second opinion (README.md).

The grammar alone decides on amounts, currencies, dates, card digits and on what law or
issuer refuse. The opinion is asked whether a text is a payment and what its name is.
"""

import re
from dataclasses import replace

from card_alerts.candidate import MAX_CARD_HINT_LENGTH, SourceText
from card_alerts.merchant_quality import is_cut_name, is_gateway_name
from card_alerts.normalization import to_printed_text
from card_alerts.opinion.kinds import KindScores
from card_alerts.opinion.names import NameChance
from card_alerts.opinion.opinion import Opinion
from card_alerts.result import (
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Reason,
    Span,
)

# An ignored text is a payment, or worth a question, from these probabilities on.
MIN_RESCUE, MIN_QUESTION = 0.9, 0.5
# Words of a statement or a bank were read: only a question, and only a likely one.
MIN_STATEMENT_QUESTION = 0.7
# Beside the words of an order, of a statement or a bank, a rescue needs these
# probabilities and a name.
MIN_CERTAIN_RESCUE, MIN_STATEMENT_RESCUE = 0.98, 0.995
# A booking becomes a question from these probabilities of a notice or a decline on.
# The second one is used if grammar and opinion found the same name, which is rare in
# notices, or if a sentence says that the payment is done.
MIN_VETO, MIN_VETO_OF_TOLD = 0.1, 0.9
# A booking is doubted that is less likely than this, as its kind is another one.
MIN_DOUBT = 0.5
# Both found the same name, and the opinion is as sure of it.
MIN_SURE_NAME = 0.8
# A name that the grammar guessed is not sure beside another as likely.
MAX_RIVAL = 0.2
# A guessed name, or one without a letter, gives way to another one.
MIN_OTHER_NAME = 0.8
# The name of a card that the grammar did not find; digits are the grammar's alone.
MIN_CARD_NAME = 0.8
MAX_CANDIDATES = 5
# Values of other labels: 도착 : 초량시장, 주문 번호 MX7
_OTHER_LABEL = re.compile(
    r"(?:출발|도착|구간|열차|서비스|수단|(?:주문|문서)[ ]?(?:번호|일자?|ID))[ ]?:?\s?\Z"
)
# Sentences of payments that are done: 결제하셨어요, You made a $8.40 transaction.
_DONE = re.compile(
    r"(?:결제|이용|사용)하셨(?:어요|습니다)|(?:결제|승인)[가이][ ]?완료되었"
    r"|\b[Yy]ou made an? [$€£₹]\d"
)
# A name does not end in a reward: the 페이백 of 바람약국 페이백 900원.
_REWARD = re.compile(r"[ ](?:페이백|캐시백|적립|할인|인센티브|포인트)\Z")
_LETTER = re.compile(r"\w")
_CARD_DIGITS = re.compile(r"\d{3}|\*")
_UNSEEN = re.compile(r"[\s(.…]+")


def weigh(
    result: ParseResult, source: SourceText, opinion: Opinion | None
) -> ParseResult:
    """Return the result with its doubts, its candidates and what it would be.

    The grammar gives an ignored text what it would have been, unless it is sure of the
    reason; with the doubt KIND if the text has words of other messages: it may then be
    asked about, and is no payment by itself.
    """
    would_be = result.would_be
    if opinion is None or not (result.recognized or would_be):
        return result
    text = source.normalized.text
    scores = opinion.kinds.judge(text)
    if would_be is None:
        weighed = _weigh_name(result, source, opinion)
        return _doubt(weighed, scores, is_told=_DONE.search(text) is not None)
    would_be = _with_kind(would_be, scores)
    chance = _chance_of(would_be, scores)
    is_open = Doubt.KIND not in would_be.doubts
    if chance < (MIN_QUESTION if is_open else MIN_STATEMENT_QUESTION):
        return replace(result, would_be=None)
    would_be = _weigh_name(would_be, source, opinion)
    would_be = replace(would_be, doubts=(Doubt.KIND, *would_be.doubts))
    if chance >= MIN_RESCUE and (is_open or _is_told(would_be, result, chance)):
        return would_be
    return replace(result, would_be=would_be)


def _is_told(would_be: ParseResult, result: ParseResult, chance: float) -> bool:
    """Return True for a certain payment beside the words of another message."""
    is_order = result.reason is Reason.NO_PAYMENT
    least = MIN_CERTAIN_RESCUE if is_order else MIN_STATEMENT_RESCUE
    return would_be.merchant is not None and chance >= least


def _with_kind(would_be: ParseResult, scores: KindScores) -> ParseResult:
    """Take the event from the opinion if no word names it."""
    if "kind" in would_be.spans or scores.cancellation <= scores.payment:
        return would_be
    return replace(would_be, kind=Kind.CANCELLATION)


def _chance_of(result: ParseResult, scores: KindScores) -> float:
    if result.kind is Kind.CANCELLATION:
        return scores.cancellation
    return scores.payment


def _doubt(result: ParseResult, scores: KindScores, *, is_told: bool) -> ParseResult:
    """Doubt a booking, or ignore it as what it would have been."""
    is_told |= result.merchant_confidence is Confidence.SURE
    limit = MIN_VETO_OF_TOLD if is_told else MIN_VETO
    is_veto = scores.notice + scores.declined >= limit
    if is_veto or 1 - _chance_of(result, scores) >= MIN_DOUBT:
        result = replace(result, doubts=(Doubt.KIND, *result.doubts))
    if not is_veto:
        return result
    return ParseResult(
        recognized=False,
        reason=Reason.NO_PAYMENT,
        channel=result.channel,
        would_be=result,
    )


def _weigh_name(
    result: ParseResult, source: SourceText, opinion: Opinion
) -> ParseResult:
    """Return the name with its measured confidence, and the others that it may be."""
    names = opinion.names.find(source.normalized.text)
    chances = [
        NameChance(source.normalized.source_span(each.span), each.chance)
        for each in names.merchants
    ]
    own = result.spans.get("merchant") if result.merchant else None
    best = chances[0] if chances else None
    if best and _is_better(best, result, source):
        result, own = _renamed(result, best.span, source), best.span
        is_sure = False
    else:
        is_sure = _is_agreed(result, chances, source)
    result = _with_card(result, names.card, source)
    if is_sure:
        return replace(
            result,
            merchant_confidence=Confidence.SURE,
            doubts=(),
            candidates=(),
        )
    return replace(
        result,
        merchant_confidence=Confidence.GUESS if result.merchant else None,
        doubts=(Doubt.MERCHANT,),
        candidates=_list_candidates(own, chances, source),
    )


def _with_card(
    result: ParseResult, card: NameChance | None, source: SourceText
) -> ParseResult:
    """Take the name of a card that the grammar did not find."""
    if card is None or card.chance < MIN_CARD_NAME or result.card_hint is not None:
        return result
    hint = source.normalized.text[slice(*card.span)]
    span = source.normalized.source_span(card.span)
    merchant = result.spans.get("merchant", (0, 0))
    if _CARD_DIGITS.search(hint) or (span[0] < merchant[1] and merchant[0] < span[1]):
        return result
    spans = {**result.spans, "cardHint": span}
    return replace(result, card_hint=hint[:MAX_CARD_HINT_LENGTH], spans=spans)


def _is_agreed(
    result: ParseResult, chances: list[NameChance], source: SourceText
) -> bool:
    """Return True if both found one name, and none else is likely."""
    if result.merchant is None or not chances or chances[0].chance < MIN_SURE_NAME:
        return False
    if _squeeze(source.text[slice(*chances[0].span)]) != _squeeze(result.merchant):
        return False
    is_marked = result.merchant_confidence is Confidence.SURE
    return is_marked or len(chances) == 1 or chances[1].chance < MAX_RIVAL


def _is_better(best: NameChance, result: ParseResult, source: SourceText) -> bool:
    if best.chance < MIN_OTHER_NAME or result.is_merchant_cut:
        return False
    start = best.span[0]
    if _OTHER_LABEL.search(source.text, max(0, start - 12), start):
        return False
    if result.merchant is None:
        return not _crosses_fields(best.span, result)
    is_guess = result.merchant_confidence is Confidence.GUESS or not any(
        letter.isalpha() for letter in result.merchant
    )
    name = source.text[slice(*best.span)]
    if _REWARD.search(name):
        return False
    own = source.text[slice(*result.spans.get("merchant", (0, 0)))]
    rest = own[len(name) :] if own.startswith(name) else ""
    if rest and ("\n" in own or "   " in own or not _LETTER.search(rest)):
        # The branch on the next line, the town in its column, a bracket
        return False
    return (
        is_guess
        and _squeeze(name) != _squeeze(result.merchant)
        and not _crosses_fields(best.span, result)
    )


def _crosses_fields(span: Span, result: ParseResult) -> bool:
    """Return True for a name with the amount or the card in it."""
    return any(
        start < span[1] and span[0] < end
        for name, (start, end) in result.spans.items()
        if name in {"amount", "originalAmount", "cardHint", "occurredAt"}
    )


def _renamed(result: ParseResult, span: Span, source: SourceText) -> ParseResult:
    name = to_printed_text(source.text[slice(*span)])
    return replace(
        result,
        merchant=name,
        merchant_confidence=Confidence.GUESS,
        is_gateway=is_gateway_name(name),
        is_merchant_cut=is_cut_name(name),
        spans={**result.spans, "merchant": span},
    )


def _list_candidates(
    own: Span | None, chances: list[NameChance], source: SourceText
) -> tuple[NameCandidate, ...]:
    """Return the name that was chosen, then the others by their probability."""
    spans = [own] if own else []
    spans += [each.span for each in chances if each.span not in spans]
    return tuple(
        NameCandidate(to_printed_text(source.text[slice(*span)]), span)
        for span in spans[:MAX_CANDIDATES]
    )


def _squeeze(name: str | None) -> str:
    return _UNSEEN.sub("", name or "")
