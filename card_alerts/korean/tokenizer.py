"""Stage 1, tokenize: find the parts of a Korean message, and mask each."""

import re
from dataclasses import dataclass, field
from datetime import time
from decimal import Decimal
from itertools import islice

from card_alerts.english.money import RUNNING_TOTAL as LATIN_RUNNING_TOTAL
from card_alerts.issuers import find_issuer
from card_alerts.korean import side_patterns
from card_alerts.korean.card_numbers import (
    MAY_HAVE_CARD_NUMBER,
    STANDALONE_CARD_NUMBER,
)
from card_alerts.korean.implied_keywords import find_implied_keyword
from card_alerts.korean.installments import find_installments
from card_alerts.korean.issuer_choice import choose_issuer_match, mask_issuer_matches
from card_alerts.korean.issuer_match import (
    IssuerMatch,
    find_issuer_matches,
    local_currency_match,
)
from card_alerts.korean.local_currencies import (
    find_local_currencies,
    is_generic_local_currency,
)
from card_alerts.korean.merchant_labels import find_labeled_merchant
from card_alerts.korean.notices import mask_notices
from card_alerts.korean.partner_cards import find_partner_card
from card_alerts.korean.status_keywords import (
    NOTICE_HEADING,
    StatusKeyword,
    find_keywords,
)
from card_alerts.masked_text import (
    AMOUNT,
    BALANCE,
    BENEFIT,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    KEYWORD,
    LABEL,
    MERCHANT,
    NOISE,
    ORIGINAL_DATE,
    RUNNING_TOTAL,
    TIMESTAMP,
    MaskedText,
)
from card_alerts.money import (
    BALANCE_PATTERN,
    RUNNING_TOTAL_PATTERN,
    WON,
    MoneyMatch,
    find_amounts_without_currency,
    find_foreign_amounts,
    find_foreign_balances,
    find_glued_amounts,
    find_paid_without_currency,
    find_won_amounts,
    is_balance,
    is_plausible_total,
    parse_number,
)
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.times import TimestampMatch, find_standalone_time, find_timestamps

MAX_ROOM_HEADINGS = 3
QUOTED = pattern(r"(?<=[ \n])'[^'\n]{0,200}(?:'|$|(?=\n))", example=" '월간 이용권'")
# Cheap checks before the patterns.
_HAS_BALANCE = pattern(
    r"잔[액고여]|한도|남은|가[능용]|실적|달|월(?<=[당금전]월)",
    example="가용액1,298,000원",
)
_HAS_BENEFIT = pattern(
    r"""
    % | 할인 | 캐시백 | 페이백 | 리워드 | 적립 | 인센티브 | 포인트 | POINT | 마일
    | 봉사료 | 부가세 | TOP | 원[^()\n]{0,12}\)
    """,
    example=f"{NOISE}인센티브 200원",
)
_HAS_RECEIPT_NOISE = pattern(
    r"""
    번호 | 건(?<=\d건) | 금액 | 접수 | \(매[월달주년] | 원[ ]?(?:승인|거래|결제|매출)
    | 기간 | 미등록 | 불가 | 초과 | 부족 | 오류 | 거절 | 정지 | 제한 | 차단
    """,
    example="버스지하철22건",
)
_AMOUNT = pattern(r"\d[ ]?원|[A-Z]{3}[ ]?\d|[$€£¥₩]\d", example="해외/승인/KRW 8")
_HAS_LABELS = pattern(
    r"""
    금액 | 일[시자] | 시[각간] | 날짜 | 명 | 이름 | 카드 | 구분 | 번호 | 할부 | 수단
    | 용자 | 사유
    """,
    example="결제금액",
)
_HAS_COMPANY_LINE = pattern(r"[A-Z][ ]\d{4}[ ]", example="OTP 7728 11/20")
_HAS_DEPARTMENT = pattern(
    rf"[팀부과실터][ ]{HOLDER_NAME}", example=f"경영지원팀 {HOLDER_NAME}"
)
_HAS_ACCOUNT = pattern(r"\d-[\d*]", example="351-****-22004")


@dataclass(slots=True)
class TokenizedMessage:
    text: str
    masked: MaskedText = field(init=False)
    running_total: re.Match[str] | None = None
    balance: re.Match[str] | None = None
    balance_currency: str = WON
    foreign_amounts: list[MoneyMatch] = field(default_factory=list)
    won_amounts: list[MoneyMatch] = field(default_factory=list)
    # The amounts have no currency and count as won.
    is_currency_missing: bool = False
    timestamps: list[TimestampMatch] = field(default_factory=list)
    standalone_time: time | None = None
    installments: re.Match[str] | None = None
    issuer_matches: list[IssuerMatch] = field(default_factory=list)
    issuer_match: IssuerMatch | None = None
    card_digits: Span | None = None
    card_product: Span | None = None
    card_nickname: Span | None = None
    is_check_card: bool | None = None
    # A purchase reported as a withdrawal.
    is_card_withdrawal: bool = False
    keywords: list[StatusKeyword] = field(default_factory=list)
    labeled_merchant: Span | None = None
    # A local currency, a phone bill or a company's card pays.
    has_other_payer: bool = False
    local_currency: Span | None = None

    def __post_init__(self) -> None:
        # The next steps cannot mistake a running total for the amount, a date for
        # digits or a holder for the merchant.
        self.masked = masked = MaskedText(self.text)
        if "발신" in self.text:
            masked.mask_all(side_patterns.SENT_FROM_WEB, NOISE)
        if side_patterns.FORWARDED.match(self.text):
            masked.mask_all(side_patterns.FORWARDED, NOISE)
        if "." in self.text and side_patterns.HAS_LINK.search(self.text):
            masked.mask_all(side_patterns.LINK, NOISE)
        if "차단" in self.text and "승인" in self.text:
            masked.mask_all(side_patterns.OFFERED_LOCK, NOISE)
        self._mask_room_heading()
        self._mask_labeled_merchant()
        mask_notices(masked)
        self._mask_other_payers()
        self._mask_totals_and_benefits()
        self.foreign_amounts = list(find_foreign_amounts(masked.text))
        masked.mask_spans([money.span for money in self.foreign_amounts], AMOUNT)
        self._mask_timestamps()
        self._mask_installments()
        has_dash = "-" in masked.text and _HAS_ACCOUNT.search(masked.text)
        if has_dash or "**" in masked.text:
            masked.mask_all(side_patterns.ACCOUNT_NUMBER, NOISE)
            masked.mask_all(side_patterns.FOOTER_PHONE_NUMBER, NOISE)
        self.won_amounts = find_won_amounts(masked.text)
        if not self.won_amounts and not self.foreign_amounts:
            self.won_amounts = find_glued_amounts(masked.text)
        if not self.won_amounts and not self.foreign_amounts:
            self.won_amounts = find_amounts_without_currency(masked.text)
            self.is_currency_missing = True
        else:
            self._add_paid_above_others()
        masked.mask_spans([money.span for money in self.won_amounts], AMOUNT)
        if "완료" in masked.text:
            masked.mask_all(side_patterns.COMPLETED_AFTER_AMOUNT, NOISE)
        self._mask_card()
        self._mask_labels_and_keywords()

    def _add_paid_above_others(self) -> None:
        amounts = (*self.won_amounts, *self.foreign_amounts)
        first = min((each.span[0] for each in amounts), default=0)
        if "," not in self.masked.text[:first]:
            return
        paid = find_paid_without_currency(self.masked.text, first)
        if paid:
            self.won_amounts.insert(0, paid)

    @property
    def has_installment_terms(self) -> bool:
        return INSTALLMENT in self.masked.text

    def _mask_labeled_merchant(self) -> None:
        self.labeled_merchant = find_labeled_merchant(self.masked.text)
        if self.labeled_merchant and self._is_card(self.labeled_merchant):
            self.labeled_merchant = None
        if self.labeled_merchant:
            self.masked.mask(*self.labeled_merchant, MERCHANT)
        if "'" in self.text:
            self.masked.mask_all(QUOTED, NOISE)
        nickname = (
            side_patterns.CARD_NICKNAME.search(self.text)
            if "님의" in self.text
            else None
        )
        if nickname:
            self.card_nickname = nickname.span("part")
            self.masked.mask(*nickname.span(), HOLDER_NAME)

    def _is_card(self, span: Span) -> bool:
        """Return True for the digits of 우리카드 · 2718."""
        name = self.text[slice(*span)].strip()
        is_behind_dot = self.text[: span[0]].rstrip(" ").endswith("·")
        return is_behind_dot and len(name) == 4 and name.isdigit()

    def _mask_room_heading(self) -> None:
        if not ("] [" in self.text or ", " in self.text):
            return
        for match in islice(
            side_patterns.ROOM_HEADING.finditer(self.text), MAX_ROOM_HEADINGS
        ):
            name, self_end = match.lastgroup or "", match.end()
            is_issuer = find_issuer(match[name]) is not None
            self.masked.mask(match.start(), match.start(name), NOISE)
            if not is_issuer:
                self.masked.mask(*match.span(name), NOISE)
            self.masked.mask(match.end(name), self_end, NOISE)

    def _mask_other_payers(self) -> None:
        masked = self.masked
        currencies = find_local_currencies(masked.text)
        if currencies:
            masked.mask_spans(currencies, NOISE)
            self.has_other_payer = True
            self.local_currency = next(
                (
                    s
                    for s in currencies
                    if is_generic_local_currency(self.text[slice(*s)])
                ),
                None,
            )
        is_billed = "결제" in masked.text or "합산" in masked.text
        if is_billed and side_patterns.PHONE_BILLING.search(masked.text):
            masked.mask_all(side_patterns.PHONE_BILLING_HEADING, NOISE)
            masked.mask_all(side_patterns.PHONE_NUMBER_IN_BRACKETS, NOISE)
            self.has_other_payer = True
        if _HAS_COMPANY_LINE.search(masked.text) and (
            line := side_patterns.COMPANY_LINE.search(masked.text)
        ):
            self.card_digits, self.has_other_payer = line.span("digits"), True
            masked.mask(*line.span("part"), ISSUER)
        if "]" in masked.text:
            number = side_patterns.COMPANY_CARD_NUMBER.search(masked.text)
            if number and side_patterns.COMPANY_HEADING.search(masked.text):
                self.card_digits = number.span("part")
                masked.mask(*self.card_digits, NOISE)
                masked.mask_all(side_patterns.COMPANY_HEADING, NOISE)
                self.has_other_payer = True

    def _mask_totals_and_benefits(self) -> None:
        masked = self.masked
        self._mask_cut_total()
        if "누" in masked.text:
            found = _mask_totals(masked, RUNNING_TOTAL_PATTERN, RUNNING_TOTAL)
            self.running_total = next(iter(found), None)
        if "ccum" in masked.text or "otal" in masked.text:
            # An English text with a line in Korean.
            masked.mask_all(LATIN_RUNNING_TOTAL, RUNNING_TOTAL)
        if _HAS_BALANCE.search(masked.text):
            self._mask_foreign_balances()
            found = _mask_totals(masked, BALANCE_PATTERN, BALANCE)
            if self.balance is None:
                self.balance = next(filter(is_balance, found), None)
        # The only amount is no fee.
        if "수수료" in masked.text and _AMOUNT.search(
            side_patterns.FEE.sub("", masked.text)
        ):
            masked.mask_all(side_patterns.FEE, BENEFIT)
        if _HAS_BENEFIT.search(masked.text):
            if any(
                word in masked.text for word in ("포인트", "POINT", "머니 ", "캐시 ")
            ):
                masked.mask_all(side_patterns.POINTS_NAME, NOISE)
            for match in side_patterns.TRAILING_BENEFIT.finditer(masked.text):
                # The smaller amount is the benefit.
                if parse_number(match["benefit"]) < parse_number(match["paid"]):
                    masked.mask(*match.span("part"), BENEFIT)
            masked.mask_all(side_patterns.BENEFITS, BENEFIT)

    def _mask_cut_total(self) -> None:
        if "…" in self.text or ".." in self.text:
            self.masked.mask_all(side_patterns.CUT_TOTAL, RUNNING_TOTAL)

    def _mask_foreign_balances(self) -> None:
        for match, currency, start in find_foreign_balances(self.masked.text):
            self.masked.mask(start, match.end(), BALANCE)
            if self.balance is None:
                self.balance, self.balance_currency = match, currency

    @property
    def balance_amount(self) -> Decimal | None:
        if self.balance is None:
            return None
        return parse_number(self.balance["number"], self.balance_currency)

    def foreign_balance_currency(self, home_currency: str) -> str | None:
        is_home = self.balance is None or self.balance_currency == home_currency
        return None if is_home else self.balance_currency

    def _mask_timestamps(self) -> None:
        masked = self.masked
        if "~" in masked.text or "∼" in masked.text:
            masked.mask_all(side_patterns.DATE_RANGE, NOISE)
        self.timestamps = find_timestamps(masked.text)
        for placeholder, is_original in ((TIMESTAMP, False), (ORIGINAL_DATE, True)):
            spans = [t.span for t in self.timestamps if t.is_original is is_original]
            masked.mask_spans(spans, placeholder)
        if ":" in masked.text or "시" in masked.text:
            standalone = find_standalone_time(masked.text)
            if standalone:
                span, self.standalone_time = standalone
                masked.mask(*span, TIMESTAMP)

    def _mask_installments(self) -> None:
        matches = find_installments(self.masked.text)
        if matches:
            self.installments = next((m for m in matches if m.lastgroup), None)
            self.masked.mask_spans([match.span() for match in matches], INSTALLMENT)

    def _mask_card(self) -> None:
        masked = self.masked
        if _HAS_RECEIPT_NOISE.search(masked.text):
            masked.mask_all(side_patterns.RECEIPT_NOISE, NOISE)
        self.issuer_matches = find_issuer_matches(masked.text)
        chosen = choose_issuer_match(self.issuer_matches, masked.text)
        if self.local_currency and (chosen is None or chosen.has_following_word):
            chosen = local_currency_match(self.text, self.local_currency)
        self.issuer_match = chosen
        if chosen:
            self.card_digits = chosen.digits or self.card_digits
            self.is_check_card = chosen.is_check_card
            self.card_product = chosen.find_product()
            mask_issuer_matches(masked, self.issuer_matches, chosen)
            if f" {ISSUER}" in masked.text:
                masked.mask_all(side_patterns.HOLDER_NAME_BEFORE_ISSUER, HOLDER_NAME)
        self._mask_partner_product()
        text = masked.text
        if "내역" in text or "알림" in text or "안내" in text:
            masked.mask_all(NOTICE_HEADING, NOISE)
        if not ("*" in masked.text or "님" in masked.text):
            masked.mask_all(side_patterns.HOLDER_BEHIND_STATUS, HOLDER_NAME)
            masked.mask_all(side_patterns.HOLDER_ABOVE_DAY, HOLDER_NAME)
        if not self.card_digits and MAY_HAVE_CARD_NUMBER.search(masked.text):
            self._mask_card_number()
        if "*" in masked.text or "님" in masked.text:
            masked.mask_all(side_patterns.HOLDER_NAMES, HOLDER_NAME)
            if _HAS_DEPARTMENT.search(masked.text):
                masked.mask_all(side_patterns.DEPARTMENT, NOISE)

    def _mask_card_number(self) -> None:
        number = STANDALONE_CARD_NUMBER.search(self.masked.text)
        if number:
            self.card_digits = number.span(number.lastgroup or 0)
            start, end = number.span("f" if number["f"] else 0)
            named = side_patterns.CARD_NAME_BEFORE.search(self.masked.text, 0, start)
            if named and number[0].startswith("카드"):
                start = named.start("part")
            self.masked.mask(start, end, ISSUER)

    def _mask_partner_product(self) -> None:
        if self.card_digits or self.card_product:
            return
        card = find_partner_card(self.masked.text, self.issuer_match)
        if card:
            self.card_product, self.issuer_match = card.span, card.issuer_match
            self.has_other_payer = self.has_other_payer or card.is_payer
            self.masked.mask(*card.span, ISSUER)

    def _mask_labels_and_keywords(self) -> None:
        masked = self.masked
        if _HAS_LABELS.search(masked.text):
            masked.mask_all(side_patterns.LABELED_HOLDER_NAME, HOLDER_NAME)
            masked.mask_all(side_patterns.LABELS, LABEL)
        has_kind = "체크" in masked.text or "신용" in masked.text
        card_kind = side_patterns.CARD_KIND.search(masked.text) if has_kind else None
        if card_kind:
            if self.is_check_card is None:
                self.is_check_card = card_kind["part"].startswith("체크")
            masked.mask_all(side_patterns.CARD_KIND, NOISE)
        self.keywords = find_keywords(masked)
        if not self.keywords:
            self._find_implied_keyword()
        masked.mask_spans([keyword.span for keyword in self.keywords], KEYWORD)

    def _find_implied_keyword(self) -> None:
        match, has_amount = self.issuer_match, self.won_amounts or self.foreign_amounts
        has_time = any(each.has_printed_time for each in self.timestamps)
        implied = find_implied_keyword(
            self.text,
            self.masked.text,
            match.issuer.name if match else "",
            is_check_card=bool(self.is_check_card),
            has_card=bool(match and not match.is_app and has_amount),
            has_other_payer=self.has_other_payer,
            has_details=bool(match and has_time and has_amount),
            has_time_and_balance=bool(has_time and has_amount and self.balance),
        )
        if implied and implied.is_withdrawal:
            self.is_check_card = self.is_card_withdrawal = True
        if implied and implied.noise:
            self.masked.mask(*implied.noise, NOISE)
        self.keywords = [implied.keyword] if implied else []


def _mask_totals(
    masked: MaskedText, rule: re.Pattern[str], placeholder: str
) -> list[re.Match[str]]:
    matches = [
        match for match in rule.finditer(masked.text) if is_plausible_total(match)
    ]
    masked.mask_spans([match.span() for match in matches], placeholder)
    return matches
