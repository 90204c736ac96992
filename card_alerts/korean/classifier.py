"""Stage 2, classify: decide the kind of a message."""

from dataclasses import dataclass, field

from card_alerts.issuer import Issuer
from card_alerts.korean import rejection_rules, ways_to_pay
from card_alerts.korean.merchant_names import (
    PRELIMINARY_PREFIX,
    PRELIMINARY_SUFFIX,
    MerchantSpan,
)
from card_alerts.korean.notices import without_notices
from card_alerts.korean.orders import (
    has_receipt_end,
    is_paid_order,
    is_told_as_refunded,
)
from card_alerts.korean.other_events import is_of_cash, is_other_event
from card_alerts.korean.status_keywords import (
    CERTAIN_DECLINE,
    PENDING,
    PRELIMINARY_APPROVAL,
    RANK_ADJACENT,
    RANK_ATTACHED,
    RANK_STANDALONE,
    StatusKeyword,
)
from card_alerts.korean.tokenizer import QUOTED, TokenizedMessage
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    BENEFIT,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    KEYWORD,
    LABEL,
    TIMESTAMP,
)
from card_alerts.money import MoneyMatch
from card_alerts.patterns import pattern
from card_alerts.result import Kind, Reason

# Adverts and statements use these words too.
_WEAK_PAYMENT_WORD = pattern(r"(?:사용|이용|결제)$", example="휴대폰결제")
_CARD_CANCEL = pattern(
    r"승인[ ]?취소|매[출입][ ]?취소|카드로[ ]취소", example="승인취소내역"
)
_CHECK_CARD_BOOKING = pattern(
    r"체크[ ]?(?:카드[ ]?)?(?:출금|취소)", example="[신한체크취소]"
)
_PAST_TENSE = pattern(r"했|하였|하셨|되었|됐|완료", example="취소처리되었습니다")
_RATE_NOTICE = pattern(
    r"환율[^\n\d]{0,30}금액[^\n\d]{0,30}(?:니다|요)(?![가-힣])",
    example="환율에 따라 청구금액이 달라질 수 있습니다",
)
# A receipt's line on the payment of the next month.
_NEXT_PAYMENT = pattern(
    r"""
    (?:(?<=\n)|(?<=[.!/])[ ])[ \-·]{0,3}(?:다음|이번[ ]?달)?[ ]?
    (?:결제|청구|출금)(?:[ ]?예정)?일(?:자|시|은)?[ ]?[:=]?[ ]?\d[^\n원]{0,40}(?=\n|$)
    """,
    example=",760원\n결제일시 : 2026.11.02 14:30",
)
# The title of a push: 65,005원 결제
_PAID_TITLE = pattern(
    rf"\A{AMOUNT}{{2,16}}[ ]{KEYWORD}{{2,8}}[ ]*\n[^\n]{{2,40}}[ ]\|[ ]",
    example=f"{AMOUNT * 7} {KEYWORD * 2}\n소리페이 | 바람식당",
)
_PAYMENT_DAYS = ("예정일", "결제일", "청구일", "출금일")
# [NH]홍*비님⏎51,200원 일시불⏎바람커피
_TERSE_APPROVAL = pattern(
    rf"""
    \[{ISSUER}{{1,12}}\][ ]?{HOLDER_NAME}{{1,12}}[ ]?\n{AMOUNT}{{1,20}}[ ]?
    {INSTALLMENT}{{1,12}}[ ]?\n(?:{TIMESTAMP}{{1,20}}[ ]?\n)?[^\n]{{1,40}}\s*$
    """,
    example=f"[{ISSUER}]{HOLDER_NAME}\n{AMOUNT}{INSTALLMENT}\n{TIMESTAMP}\n동백숯불갈비",
)
_NOT_APPROVED = pattern(
    r"""
    (?<![가-힣])(?:승인|결제|거래)?[ ]?(?:거절|실패)(?:[ ]?금액)?(?=[\s\])!.,:]|$|되|됐)
    | (?<![가-힣])(?:승인|결제|매출|전체|부분)?[ ]?취소(?:[ ]?완료|되었|됐)?
      (?=[\s\])!.,]|$|되|됐)
    """,
    example="취소) 취소 내",
    initials=" 거결매부승실전취",
)
_PAYMENT_WORD = pattern(r"승인|결제", example="결제취소")
_PAID_OUT = pattern(r"지급|받았어요", example="지급가능액4,760,000원")
_DASHED_LINE = pattern(r"(?:^|\n)[ ]?-", example="승인\n-5,000원")
_LABELS = pattern(rf"{LABEL}+", example=f"대금명세서\n{LABEL} {AMOUNT}")
_WALLET_APP = pattern(
    r"""
    (?:^|\n)\W{0,3}
    (?:(?:Apple|Google|Samsung)[ ]?(?:Pay|Wallet)|애플페이|구글페이|삼성(?:월렛|페이))
    """,
    example="[Samsung Pay]",
)
# A push message below the name of the card: 두꺼비슈퍼 · ₩21,390
_CARD_PUSH = pattern(
    rf"""
    {ISSUER}+[^\n]{{0,12}}\n[^\n{ANY_PLACEHOLDER}]{{2,30}}[ ]·[ ]{AMOUNT}+\s*$
    """,
    example=f"{ISSUER} ZERO\n수아네꽃다발 · {AMOUNT}",
)
# [Samsung Pay] 82,610원⏎산들보리밥
_WALLET_AMOUNT = pattern(
    rf"""
    \W{{0,3}}{ISSUER}+\]?[ ]?{AMOUNT}+[ ]?\n[^\n{ANY_PLACEHOLDER}]{{2,30}}$
    """,
    example=f"[{ISSUER}] {AMOUNT}\n산들보리밥",
)
_WALLETS = frozenset({"애플페이", "삼성월렛"})
# 달빛김밥⏎4,100원⏎삼성카드 4471, and nothing else
_CARD_BELOW = pattern(
    rf"""
    (?:{ISSUER}+[ ]?\n)?[^\n{ANY_PLACEHOLDER}]{{2,30}}\n{AMOUNT}+[ ]?\n{ISSUER}+[ ]?
    """,
    example=f"달빛김밥\n{AMOUNT}\n{ISSUER}",
)
# 소리페이로 7,000원을 결제했어요
_PAID_BY = pattern(
    rf"""
    (?:페이|머니|캐시|포인트|카드|Pay|PAY)(?:으로|로)[ ]
    {AMOUNT}+[을를이가]?[ ]?{KEYWORD}
    """,
    example=f"소리페이로 {AMOUNT}을 {KEYWORD}",
)
MAX_WALLET_NOTICE_LENGTH = 120
MIN_RECEIPT_LABELS = 3
# A longer name is rather a sentence.
MAX_IGNORED_NAME_LENGTH = 24


@dataclass(slots=True)
class MessageEvidence:
    message: TokenizedMessage
    money: MoneyMatch | None
    keyword: StatusKeyword | None
    merchant: MerchantSpan | None
    sender_issuer: Issuer | None
    keyword_text: str = field(init=False)
    has_printed_time: bool = field(init=False)
    has_installment_terms: bool = field(init=False)
    # A card and an amount with a date, a running total or installments.
    is_detailed: bool = field(init=False)
    has_strong_keyword: bool = field(init=False)
    # An amount was read, and no certain rule refuses the text.
    is_undecided: bool = field(init=False, default=False)
    # Words of other messages were read.
    is_unlikely: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        message, keyword = self.message, self.keyword
        self.keyword_text = message.text[slice(*keyword.span)] if keyword else ""
        self.has_printed_time = any(t.has_printed_time for t in message.timestamps)
        self.has_installment_terms = message.has_installment_terms
        self.is_detailed = self._is_detailed()
        self.has_strong_keyword = (
            self.money is not None
            and keyword is not None
            and (keyword.rank <= RANK_ADJACENT or self._is_past_tense())
        )

    @property
    def is_preliminary(self) -> bool:
        text, name = self.message.text, self.merchant
        if "승인" not in text:
            return False
        if name and PRELIMINARY_SUFFIX.match(text, name.end):
            return True
        prefix = PRELIMINARY_PREFIX.search(text, 0, name.start) if name else None
        if name and prefix and prefix.end() == name.start:
            return True
        return any(
            PRELIMINARY_APPROVAL.search(text, *each.span)
            for each in self.message.keywords
        )

    def _is_approved(self) -> bool:
        return "승인" in self.keyword_text or self._is_past_tense()

    def _is_past_tense(self) -> bool:
        return _PAST_TENSE.search(self.keyword_text) is not None

    def _has_past_tense(self) -> bool:
        spans = (keyword.span for keyword in self.message.keywords)
        return any(
            _PAST_TENSE.search(self.message.text[slice(*span)]) for span in spans
        )

    def _is_detailed(self) -> bool:
        message = self.message
        if self.money is None:
            return False
        has_total = bool(message.running_total or self.has_installment_terms)
        if message.card_digits is not None:
            return has_total or bool(message.timestamps)
        if message.issuer_match is None or not message.timestamps:
            return False
        if message.issuer_match.is_unambiguous and has_total:
            return True
        labels = _LABELS.findall(message.masked.text)
        return self.has_printed_time and len(labels) >= MIN_RECEIPT_LABELS

    def _is_conclusive(self) -> bool:
        message = self.message
        if self.money is None or self.keyword is None:
            return False
        if message.is_card_withdrawal or _CHECK_CARD_BOOKING.search(message.text):
            return True
        is_weak_word = _WEAK_PAYMENT_WORD.search(self.keyword_text)
        if self.keyword.rank > RANK_ATTACHED or is_weak_word:
            return False
        if message.card_digits is not None:
            return True
        has_details = bool(
            message.timestamps or message.running_total or self.has_installment_terms
        )
        return message.issuer_match is not None and has_details

    def _text_for_rules(self) -> str:
        text, name = self.message.text, self.merchant
        has_clear_keyword = self.keyword is not None and not self.keyword.is_weak
        if "환율" in text:
            text = _RATE_NOTICE.sub("", text)
        if self.has_strong_keyword or (has_clear_keyword and self.is_detailed):
            text = without_notices(text)
            is_told = self.has_printed_time or self._is_approved()
            if is_told and any(word in text for word in _PAYMENT_DAYS):
                text = _NEXT_PAYMENT.sub("", text)
        elif self.has_printed_time:
            text = _NEXT_PAYMENT.sub("", text) if "다음" in text else text
            text = without_notices(text) if has_clear_keyword else text
        if "교통" in text and self._is_approved():
            text = ways_to_pay.TRANSIT_MONTH.sub("", text)
        text = self._without_means(text)
        issuer = self.message.issuer_match
        is_proven = (
            self.is_detailed
            or self.has_strong_keyword
            or (
                self.has_printed_time
                and (has_clear_keyword or self.has_installment_terms)
            )
            or (has_clear_keyword and issuer is not None and issuer.is_unambiguous)
        )
        if name and is_proven and name.end - name.start <= MAX_IGNORED_NAME_LENGTH:
            text = name.remove_from(text)
        return QUOTED.sub("", text) if "'" in text else text

    def _without_means(self, text: str) -> str:
        """Return the text without the ways in which a payment was paid or rewarded."""
        if self.has_strong_keyword and "에서 출금" in text:
            text = ways_to_pay.PAID_OUT_OF.sub("", text)
        if "kWh" in text:
            text = rejection_rules.CHARGED_CAR.sub("", text)
        is_cancelled = self.keyword_text.endswith("취소")
        text = ways_to_pay.without_settlement(text, is_cancelled=is_cancelled)
        if self.message.has_other_payer and "청구" in text:
            text = rejection_rules.BILLED_BY_PHONE.sub("", text)
        if self.is_withdrawn_abroad():
            text = ways_to_pay.WITHDRAWN.sub("", text)
        if self.message.card_digits and "출금" in text:
            text = ways_to_pay.DEBIT_ACCOUNT.sub("", text)
        if self.has_strong_keyword and self.message.card_digits:
            text = ways_to_pay.BILLED_LATER.sub("", text) if "청구" in text else text
            is_debit = self._is_approved() and self.keyword_text.startswith("출금")
            text = text.replace(self.keyword_text, "") if is_debit else text
        if self.keyword and _PAID_OUT.search(text):
            text = self._without_paid_benefits(text)
        return text

    def is_withdrawn_abroad(self) -> bool:
        message = self.message
        has_both = message.foreign_amounts and message.won_amounts
        return bool(has_both) and "해외" in self.keyword_text

    def _without_paid_benefits(self, text: str) -> str:
        masked = self.message.masked.text
        return _PAID_OUT.sub(
            lambda match: "  " if masked[match.start()] == BENEFIT else match[0], text
        )

    def rejection_reason(self) -> Reason | None:
        """Return None for a payment or a decline."""
        reason = self._find_rejection_reason()
        if reason is None and is_of_cash(self.message.text) and not self._is_decline():
            return Reason.BANK_TRANSFER
        return reason

    def _find_rejection_reason(self) -> Reason | None:
        is_conclusive = self._is_conclusive()
        reason = self._definite_rejection_reason(is_conclusive=is_conclusive)
        if reason:
            return reason
        if is_conclusive or self._is_decline() or self._is_receipt():
            return None
        if self._is_paid_order():
            return None
        text = self._text_for_rules()
        is_password = rejection_rules.PASSWORD.search(text)
        if is_password and not (self.is_detailed and self.keyword):
            return Reason.ONE_TIME_PASSWORD
        is_done = self.has_strong_keyword and (
            self._has_past_tense() or _PAID_TITLE.match(self.message.masked.text)
        )
        reason = rejection_rules.weak_rejection_reason(
            text,
            is_detailed=self.is_detailed or bool(is_done),
            is_approved="승인" in self.keyword_text
            or self.keyword_text.startswith("정상"),
        )
        if reason:
            is_open = reason is not Reason.ADVERT and not PENDING.search(text)
            self.is_undecided = is_open and self._may_be_payment()
            self.is_unlikely = True
            return reason
        if self._tells_total():
            return Reason.NO_PAYMENT
        if self._is_pending():
            return Reason.NO_PAYMENT
        if self._is_payment():
            return None
        self.is_undecided = self._may_be_payment() and not self._is_other_message()
        return Reason.NO_PAYMENT

    def _tells_total(self) -> bool:
        """Return True for the total of a week or month without a payment beside it."""
        total = rejection_rules.PERIOD_TOTAL.search(self.message.masked.text)
        if total is None or self.money is None:
            return total is not None
        is_payment = self.is_detailed or self.keyword is not None
        return not is_payment or total.start() <= self.money.span[0] < total.end()

    def _may_be_payment(self) -> bool:
        is_from_abroad = rejection_rules.is_sent_from_abroad(self.message.text)
        return self.money is not None and not is_from_abroad

    def _is_other_message(self) -> bool:
        """Return True for what did not happen, the words of a person, and for bait."""
        if self.keyword and self._is_expected_refund(self.keyword.kind):
            return True
        text = self.message.text
        if CERTAIN_DECLINE.search(text) or PENDING.search(text):
            return True
        if rejection_rules.PAID_EARLY.search(text):
            return True
        return rejection_rules.is_chat(text) or rejection_rules.is_bait(text)

    def _is_paid_order(self) -> bool:
        text, keyword = self.message.text, self.keyword
        if keyword is None or self.money is None or keyword.kind is not Kind.APPROVAL:
            return False
        if not is_paid_order(text) or "발신]" in text.partition("Web")[0]:
            return False
        return not (rejection_rules.is_chat(text) or rejection_rules.is_bait(text))

    def _is_receipt(self) -> bool:
        """Return True if labels tell the shop, the time and the amount of a payment.

        A notice below it may have the words of a statement.
        """
        message, masked = self.message, self.message.masked.text
        is_complete = (
            self.money is not None
            and self.has_printed_time
            and message.labeled_merchant is not None
            and message.card_digits is not None
            and len(_LABELS.findall(masked)) >= MIN_RECEIPT_LABELS
        )
        if not is_complete:
            return False
        receipt = without_notices(message.text[: masked.rfind(LABEL)])
        return not (_NOT_APPROVED.search(receipt) or PENDING.search(receipt))

    def _is_pending(self) -> bool:
        """Return True if a payment is announced, requested or held back.

        토스머니 사용 does not outweigh a word beside the amount.
        """
        text, masked = self.message.text, self.message.masked.text
        if self.keyword is None:
            text = _NEXT_PAYMENT.sub("", without_notices(text))
            return PENDING.search(text) is not None
        if not _WEAK_PAYMENT_WORD.search(self.keyword_text):
            return False
        is_abroad = self.is_withdrawn_abroad()
        return any(
            AMOUNT in masked[max(0, each.start() - 4) : each.end() + 6]
            for each in PENDING.finditer(text)
            if not (is_abroad and each[0].startswith("출금"))
        )

    def _definite_rejection_reason(self, *, is_conclusive: bool) -> Reason | None:
        """Return a reason that nothing else outweighs."""
        text = self.message.text
        is_complete = self.is_detailed and self.has_printed_time
        if not is_complete and rejection_rules.ADVERT_MARK.match(text):
            return Reason.ADVERT
        if rejection_rules.has_opt_out(text) and rejection_rules.OPT_OUT.search(
            self._text_for_rules() if is_conclusive or is_complete else text
        ):
            return Reason.ADVERT
        if is_other_event(text, is_payment=is_complete) or self._is_announced():
            return Reason.NO_PAYMENT
        if "취소" in text and rejection_rules.FAILED_CANCELLATION.search(
            self._text_for_rules() if is_complete else text
        ):
            return Reason.NO_PAYMENT
        if ("대금" in text or "카드값" in text) and rejection_rules.SETTLED_BILL.search(
            text
        ):
            return Reason.STATEMENT
        if not (self.is_detailed or self.has_printed_time) and (
            ("월" in text or "달" in text)
            and rejection_rules.MONTHLY_STATEMENT.search(text)
        ):
            return Reason.STATEMENT
        if "출금" in text and rejection_rules.WITHDRAWN_BILL.search(text):
            return Reason.BANK_TRANSFER
        if rejection_rules.may_have_code(text) and rejection_rules.ONE_TIME_CODE.search(
            text
        ):
            return Reason.ONE_TIME_PASSWORD
        if rejection_rules.may_be_grant(text):
            return rejection_rules.grant_rejection_reason(
                self._text_for_rules() if is_complete else without_notices(text)
            )
        return None

    def _is_announced(self) -> bool:
        text = self.message.text
        is_told = "될" in text and rejection_rules.ANNOUNCED.search(text) is not None
        return is_told and not (self.is_detailed or self._has_past_tense())

    def _is_decline(self) -> bool:
        keyword = self.keyword
        if keyword is None or keyword.kind is not Kind.DECLINED:
            return False
        if self.money is not None:
            return True
        if rejection_rules.CARD_SERVICE.search(self.message.text):
            return False
        # A time turns the word into an event: 11/12 14:46 바람커피 승인거절.
        rank = RANK_STANDALONE if self.has_printed_time else RANK_ADJACENT
        return bool(self.message.issuer_match and keyword.rank <= rank)

    def _is_payment(self) -> bool:
        message, keyword = self.message, self.keyword
        if keyword is None and self._is_unlikely_purchase():
            self.is_unlikely = True
            return False
        if self.money is None or keyword is None:
            return (
                self.is_detailed
                or self._is_wallet_notice()
                or _TERSE_APPROVAL.search(message.masked.text) is not None
                or self._is_card_below()
            )
        if self._is_expected_refund(keyword.kind):
            return False
        has_card = bool(
            message.issuer_match or message.card_digits or message.has_other_payer
        )
        if message.is_currency_missing and not has_card:
            return False
        if not self.is_detailed and rejection_rules.is_sent_from_abroad(message.text):
            return False
        is_told = message.card_digits is not None or self.has_printed_time
        if not is_told and rejection_rules.is_bait_or_asked(message.text):
            self.is_unlikely = True
            return False
        if message.issuer_match is not None:
            return True
        if has_card or self.sender_issuer:
            return True
        return self._is_payment_without_card(keyword)

    def _is_paid_by_wallet(self, keyword: StatusKeyword) -> bool:
        """Return True for what a wallet paid or refunded, and for a whole receipt."""
        masked = self.message.masked.text
        text = self.message.text
        if keyword.kind is Kind.CANCELLATION:
            is_told = is_told_as_refunded(text, masked, self.keyword_text)
            return self._is_past_tense() and is_told
        if keyword.kind is Kind.DECLINED:
            return False
        is_paid = self._is_past_tense() and _PAID_BY.search(masked) is not None
        return is_paid or has_receipt_end(text)

    def _is_card_below(self) -> bool:
        """Return True for a name, an amount and a card with digits on a line each."""
        message = self.message
        has_card = message.card_digits is not None and message.issuer_match is not None
        return has_card and _CARD_BELOW.fullmatch(message.masked.text) is not None

    def _is_payment_without_card(self, keyword: StatusKeyword) -> bool:
        """Return False for the message of a shop, an office or a person."""
        text = self.message.text
        if self._is_paid_by_wallet(keyword):
            return not rejection_rules.is_chat(text)
        is_told = self.has_printed_time and self.has_installment_terms
        rest = self._text_for_rules() if is_told else text
        if (
            rejection_rules.is_order_or_chat(rest)
            or rejection_rules.is_bait(text)
            or rejection_rules.is_office_approval(text, self._text_for_rules())
        ):
            self.is_unlikely = True
            return False
        if keyword.kind is Kind.CANCELLATION:
            is_card_cancel = _CARD_CANCEL.search(text)
            return bool(is_card_cancel) or keyword.rank <= RANK_ADJACENT
        return True

    def _is_expected_refund(self, kind: Kind) -> bool:
        return (
            kind is Kind.CANCELLATION
            and ("환불" in self.message.text or "영업일" in self.message.text)
            and not _PAYMENT_WORD.search(self.keyword_text)
            and rejection_rules.EXPECTED_REFUND.search(self.message.text) is not None
        )

    def _is_unlikely_purchase(self) -> bool:
        message = self.message
        if _NOT_APPROVED.search(message.text):
            # An unknown cancellation or decline is no approval.
            return True
        is_sure = (
            message.running_total is not None
            or "일시불" in message.text
            or message.labeled_merchant is not None
        )
        if is_sure:
            return False
        return rejection_rules.UNLIKELY_PURCHASE.search(message.masked.text) is not None

    def _is_wallet_notice(self) -> bool:
        """Return True for Apple Pay 바람커피, ₩7,200, 현대카드 M."""
        text = self.message.text
        return (
            len(text) <= MAX_WALLET_NOTICE_LENGTH
            and self.money is not None
            and (
                text[slice(*self.money.span)].startswith("₩")
                or _WALLET_AMOUNT.match(self.message.masked.text) is not None
                or self._has_card_and_time()
            )
            and (
                _WALLET_APP.search(text) is not None
                or self._is_sent_by_wallet()
                or _CARD_PUSH.match(self.message.masked.text) is not None
            )
            and not rejection_rules.is_order_or_chat(text)
        )

    def _has_card_and_time(self) -> bool:
        message = self.message
        return message.card_digits is not None and message.standalone_time is not None

    def _is_sent_by_wallet(self) -> bool:
        sender = self.sender_issuer
        return sender is not None and sender.name in _WALLETS

    @property
    def kind(self) -> Kind:
        """Treat the approval of a negative amount as a cancellation.

        But the minus may show the direction of a booking (출금 -5,000) or begin a list.
        """
        message, money = self.message, self.money
        kind = self.keyword.kind if self.keyword else Kind.APPROVAL
        if kind is not Kind.APPROVAL or money is None or not money.is_negative:
            return kind
        if len(_DASHED_LINE.findall(message.text)) > 1:
            return kind
        is_card = message.issuer_match is not None and not message.issuer_match.is_app
        is_booking = not is_card or message.is_check_card or message.balance is not None
        is_approved = "승인" in self.keyword_text
        return Kind.CANCELLATION if is_approved and not is_booking else kind

    def has_usage_keyword(self) -> bool:
        """Return True if the date is the payment's (09/12 사용 57,000원 취소)."""
        keyword = self.keyword
        if keyword is None or self.has_printed_time:
            return False
        return any(
            each.kind is Kind.APPROVAL and each.span < keyword.span and not each.is_weak
            for each in self.message.keywords
        )
