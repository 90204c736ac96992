"""Whether a Korean message tells of a payment, and if not, the reason why."""

import re
from dataclasses import dataclass, field

from card_alerts.issuers import find_issuer_by_sender
from card_alerts.korean import rejection_rules
from card_alerts.korean.merchants import MerchantSpan
from card_alerts.korean.status_keywords import (
    RANK_ADJACENT,
    RANK_ATTACHED,
    StatusKeyword,
)
from card_alerts.korean.tokenizer import QUOTED, TokenizedMessage
from card_alerts.masked_text import LABEL
from card_alerts.money import MoneyMatch
from card_alerts.result import Kind, Reason

_WEAK_PAYMENT_WORD = re.compile("(?:사용|이용|결제)$")
_CARD_CANCEL = re.compile("승인[ ]?취소|매[출입][ ]?취소")
_CHECK_CARD_WITHDRAWAL = re.compile("체크[ ]?카드[ ]?출금")
_PAST_TENSE = re.compile("했|하였|하셨|되었|됐|완료")
_LABELS = re.compile(f"{LABEL}+")
# Letters of a name whose words decide nothing; a longer stretch is a sentence.
MAX_IGNORED_NAME_LENGTH = 24


@dataclass(slots=True)
class MessageEvidence:
    """A message that was read, what was chosen of it, and how much that tells."""

    message: TokenizedMessage
    money: MoneyMatch | None
    keyword: StatusKeyword | None
    merchant: MerchantSpan | None
    sender: str
    # The deciding word as printed; empty without one.
    keyword_text: str = field(init=False)
    has_printed_time: bool = field(init=False)
    has_installment_terms: bool = field(init=False)
    is_detailed: bool = field(init=False)
    has_strong_keyword: bool = field(init=False)

    def __post_init__(self) -> None:
        reading, signal = self.message, self.keyword
        self.keyword_text = reading.text[slice(*signal.span)] if signal else ""
        self.has_printed_time = any(
            moment.has_printed_time for moment in reading.timestamps
        )
        self.has_installment_terms = reading.has_installment_terms
        self.is_detailed = self._is_detailed()
        self.has_strong_keyword = self._has_strong_keyword()

    def _is_detailed(self) -> bool:
        """Whether a card, an amount and a day, a total or months stand together."""
        reading = self.message
        if self.money is None:
            return False
        if reading.digits is not None:
            return bool(
                reading.timestamps
                or reading.running_total
                or self.has_installment_terms
            )
        if reading.issuer_match is None or not reading.timestamps:
            return False
        if reading.issuer_match.is_unambiguous and (
            reading.running_total or self.has_installment_terms
        ):
            return True
        return self.has_printed_time and has_labeled_fields(reading)

    def _has_strong_keyword(self) -> bool:
        """Whether a signal beside the amount, or a done deed, tells of a payment."""
        if self.money is None or self.keyword is None:
            return False
        return self.keyword.rank <= RANK_ADJACENT or bool(
            _PAST_TENSE.search(self.keyword_text)
        )

    def is_conclusive(self) -> bool:
        """Whether a signal glued to a head, an amount and one more part are sure."""
        if self.money is None or self.keyword is None:
            return False
        reading = self.message
        if _CHECK_CARD_WITHDRAWAL.search(reading.text):
            return True
        if self.keyword.rank > RANK_ATTACHED or _WEAK_PAYMENT_WORD.search(
            self.keyword_text
        ):
            return False
        if reading.digits is not None:
            return True
        return reading.issuer_match is not None and bool(
            reading.timestamps or reading.running_total or self.has_installment_terms
        )

    def text_for_rules(self) -> str:
        """What is searched for words of refusal: no shop's name, nor what it sold."""
        source = self.message.text
        run = self.merchant
        signal = self.keyword is not None and not self.keyword.is_weak
        firm = (
            self.message.issuer_match is not None
            and self.message.issuer_match.is_unambiguous
        )
        timed = self.has_printed_time and (signal or self.has_installment_terms)
        sure = self.is_detailed or self.has_strong_keyword or timed or (signal and firm)
        if run is not None and sure and run.end - run.start <= MAX_IGNORED_NAME_LENGTH:
            source = run.remove_from(source)
        return QUOTED.sub("", source) if "'" in source else source


def has_labeled_fields(reading: TokenizedMessage) -> bool:
    """Whether labels name the fields: a pay app's receipt needs no signal."""
    return len(_LABELS.findall(reading.masked.text)) >= 3


def rejection_reason(case: MessageEvidence) -> Reason | None:
    """The reason why nothing is recorded, or None for a payment or a decline."""
    settled = case.is_conclusive()
    sure = _definite_rejection_reason(case, settled)
    if sure:
        return sure
    if settled or is_decline(case):
        return None
    words = case.text_for_rules()
    if rejection_rules.PASSWORD.search(words) and not (
        case.is_detailed and case.keyword
    ):
        return Reason.ONE_TIME_PASSWORD
    done = case.has_strong_keyword and bool(_PAST_TENSE.search(case.keyword_text))
    weak = rejection_rules.weak_rejection_reason(
        words,
        is_detailed=case.is_detailed or done,
        is_approved="승인" in case.keyword_text,
    )
    if weak or case.money is None:
        return weak or Reason.NO_PAYMENT
    return None if _is_payment(case) else Reason.NO_PAYMENT


def _definite_rejection_reason(case: MessageEvidence, settled: bool) -> Reason | None:
    """A reason that holds whatever else the message says."""
    text = case.message.text
    full = case.is_detailed and case.has_printed_time
    if not full and rejection_rules.ADVERT_MARK.match(text):
        return Reason.ADVERT
    if rejection_rules.has_opt_out(text) and rejection_rules.OPT_OUT.search(
        case.text_for_rules() if settled or full else text
    ):
        return Reason.ADVERT
    if rejection_rules.HAS_CODE.search(text) and rejection_rules.ONE_TIME_CODE.search(
        text
    ):
        return Reason.ONE_TIME_PASSWORD
    if "한도" in text and rejection_rules.LIMIT_CHANGE.search(
        case.text_for_rules() if full else text
    ):
        return Reason.NO_PAYMENT
    return None


def is_decline(case: MessageEvidence) -> bool:
    """Whether a decline is told of an amount, or at least beside a card."""
    signal = case.keyword
    if signal is None or signal.kind is not Kind.DECLINED:
        return False
    if case.money is not None:
        return True
    return bool(case.message.issuer_match and signal.rank <= RANK_ADJACENT)


def _is_payment(case: MessageEvidence) -> bool:
    reading, signal, text = case.message, case.keyword, case.message.text
    if signal is None or (
        reading.is_currency_missing and not (reading.issuer_match or reading.digits)
    ):
        return case.is_detailed and signal is None
    if reading.issuer_match is not None:
        return True
    if rejection_rules.INTERNATIONAL_SENDER.search(text):
        return False
    if reading.digits is not None or find_issuer_by_sender(case.sender):
        return True
    if rejection_rules.LINK.search(text) or rejection_rules.ORDER_NOTICE.search(text):
        return False
    if rejection_rules.CHAT_PHRASES.search(text):
        return False
    if signal.kind is Kind.CANCELLATION:
        return bool(_CARD_CANCEL.search(text)) or signal.rank <= RANK_ADJACENT
    return True
