"""Whether a Korean message tells of a payment, and if not, the reason why."""

import re
from dataclasses import dataclass, field

from card_alerts import rejection_rules
from card_alerts.issuers import issuer_of_sender
from card_alerts.masked_text import LABEL
from card_alerts.merchants import Run
from card_alerts.money import Money
from card_alerts.result import Kind, Reason
from card_alerts.status_keywords import BESIDE_RANK, GLUED_RANK, Signal
from card_alerts.tokenizer import QUOTED, Reading

_PAYS_AND_SO_ON = re.compile("(?:사용|이용|결제)$")
_CARD_CANCEL = re.compile("승인[ ]?취소|매[출입][ ]?취소")
_BOOKING = re.compile("체크[ ]?카드[ ]?출금")
_DONE = re.compile("했|하였|하셨|되었|됐|완료")
_LABELS = re.compile(f"{LABEL}+")
LONGEST_NAME = 24
"""Letters of a name whose words decide nothing; a longer stretch is a sentence."""


@dataclass(slots=True)
class Case:
    """A message that was read, what was chosen of it, and how much that tells."""

    reading: Reading
    money: Money | None
    signal: Signal | None
    run: Run | None
    sender: str
    word: str = field(init=False)
    """The deciding word as printed; empty without one."""
    has_clock: bool = field(init=False)
    has_months: bool = field(init=False)
    is_detailed: bool = field(init=False)
    is_told: bool = field(init=False)

    def __post_init__(self) -> None:
        reading, signal = self.reading, self.signal
        self.word = reading.source[slice(*signal.span)] if signal else ""
        self.has_clock = any(moment.has_clock for moment in reading.moments)
        self.has_months = reading.has_months
        self.is_detailed = self._is_detailed()
        self.is_told = self._is_told()

    def _is_detailed(self) -> bool:
        """Whether a card, an amount and a day, a total or months stand together."""
        reading = self.reading
        if self.money is None:
            return False
        if reading.digits is not None:
            return bool(reading.moments or reading.total or self.has_months)
        if reading.head is None or not reading.moments:
            return False
        if reading.head.is_firm and (reading.total or self.has_months):
            return True
        return self.has_clock and is_receipt(reading)

    def _is_told(self) -> bool:
        """Whether a signal beside the amount, or a done deed, tells of a payment."""
        if self.money is None or self.signal is None:
            return False
        return self.signal.rank <= BESIDE_RANK or bool(_DONE.search(self.word))

    def is_settled(self) -> bool:
        """Whether a signal glued to a head, an amount and one more part are sure."""
        if self.money is None or self.signal is None:
            return False
        reading = self.reading
        if _BOOKING.search(reading.source):
            return True
        if self.signal.rank > GLUED_RANK or _PAYS_AND_SO_ON.search(self.word):
            return False
        if reading.digits is not None:
            return True
        return reading.head is not None and bool(
            reading.moments or reading.total or self.has_months
        )

    def words(self) -> str:
        """What is searched for words of refusal: no shop's name, nor what it sold."""
        source = self.reading.source
        run = self.run
        signal = self.signal is not None and not self.signal.is_loose
        firm = self.reading.head is not None and self.reading.head.is_firm
        timed = self.has_clock and (signal or self.has_months)
        sure = self.is_detailed or self.is_told or timed or (signal and firm)
        if run is not None and sure and run.end - run.start <= LONGEST_NAME:
            source = run.cut_from(source)
        return QUOTED.sub("", source) if "'" in source else source


def is_receipt(reading: Reading) -> bool:
    """Whether labels name the fields: a pay app's receipt needs no signal."""
    return len(_LABELS.findall(reading.skeleton.text)) >= 3


def find_refusal(case: Case) -> Reason | None:
    """The reason why nothing is recorded, or None for a payment or a decline."""
    settled = case.is_settled()
    sure = _find_sure(case, settled)
    if sure:
        return sure
    if settled or is_decline(case):
        return None
    words = case.words()
    if rejection_rules.PASSWORD.search(words) and not (
        case.is_detailed and case.signal
    ):
        return Reason.ONE_TIME_PASSWORD
    done = case.is_told and bool(_DONE.search(case.word))
    weak = rejection_rules.refuse_weak(
        words,
        is_detailed=case.is_detailed or done,
        is_approved="승인" in case.word,
    )
    if weak or case.money is None:
        return weak or Reason.NO_PAYMENT
    return None if _is_payment(case) else Reason.NO_PAYMENT


def _find_sure(case: Case, settled: bool) -> Reason | None:
    """A reason that holds whatever else the message says."""
    text = case.reading.source
    full = case.is_detailed and case.has_clock
    if not full and rejection_rules.ADVERT_MARK.match(text):
        return Reason.ADVERT
    if rejection_rules.has_opt_out(text) and rejection_rules.OPT_OUT.search(
        case.words() if settled or full else text
    ):
        return Reason.ADVERT
    if rejection_rules.HAS_CODE.search(text) and rejection_rules.CODE.search(text):
        return Reason.ONE_TIME_PASSWORD
    if "한도" in text and rejection_rules.LIMIT.search(case.words() if full else text):
        return Reason.NO_PAYMENT
    return None


def is_decline(case: Case) -> bool:
    """Whether a decline is told of an amount, or at least beside a card."""
    signal = case.signal
    if signal is None or signal.kind is not Kind.DECLINED:
        return False
    if case.money is not None:
        return True
    return bool(case.reading.head and signal.rank <= BESIDE_RANK)


def _is_payment(case: Case) -> bool:
    reading, signal, text = case.reading, case.signal, case.reading.source
    if signal is None or (reading.is_bare and not (reading.head or reading.digits)):
        return case.is_detailed and signal is None
    if reading.head is not None:
        return True
    if rejection_rules.ABROAD_SENDER.search(text):
        return False
    if reading.digits is not None or issuer_of_sender(case.sender):
        return True
    if rejection_rules.LINK.search(text) or rejection_rules.ORDER.search(text):
        return False
    if rejection_rules.CHAT.search(text):
        return False
    if signal.kind is Kind.CANCELLATION:
        return bool(_CARD_CANCEL.search(text)) or signal.rank <= BESIDE_RANK
    return True
