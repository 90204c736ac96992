"""Changes of labeled payments after which the right answer is still known.

A person reads the changed text as before. A change returns None where it does not apply.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from card_alerts import ParseResult, parse
from tests.support.alert_samples import RECEIVED_AT, squeeze

MARK = "[Web발신]\n"
WEEKDAYS = "월화수목금토일"


@dataclass(frozen=True)
class Payment:
    """A labeled payment that is parsed as labeled, and where its fields stand."""

    text: str
    title: str
    parsed: ParseResult

    @classmethod
    def of(cls, message: Any) -> "Payment | None":
        title = message.get("title", "")
        parsed = parse(message["text"], RECEIVED_AT, title=title)
        return cls(message["text"], title, parsed) if parsed.recognized else None

    def printed(self, field: str) -> str:
        """Return the text of a field, or nothing."""
        start, end = self.parsed.spans.get(field, (0, 0))
        return self.text[start:end]

    def with_field(self, field: str, text: str, more: str = "") -> str:
        """Return the text with another value of a field, and of `more` behind it."""
        start, end = self.parsed.spans[field]
        if more and self.text.startswith(more, end):
            end += len(more)
        return f"{self.text[:start]}{text}{self.text[end:]}"

    @property
    def body(self) -> str:
        return self.text.strip().replace("\r", "").removeprefix(MARK)


Change = Callable[[Payment], str | None]


def amount_as(template: str) -> Change:
    """Print the amount in another way."""

    def change(payment: Payment) -> str | None:
        printed = payment.printed("amount")
        amount = payment.parsed.amount
        if payment.parsed.currency or amount is None:
            return None
        if printed not in {f"{amount:,}", f"{amount:,}원"}:
            return None
        if "₩" in payment.text or "KRW" in payment.text:
            return None
        return payment.with_field("amount", template.format(amount), "원")

    return change


def time_as(template: str) -> Change:
    """Print the date and time in another way."""

    def change(payment: Payment) -> str | None:
        moment, printed = payment.parsed.occurred_at, payment.printed("occurredAt")
        if moment is None or not re.fullmatch(r"\d\d/\d\d \d\d:\d\d", printed):
            return None
        start = payment.parsed.spans["occurredAt"][0]
        gap = "" if payment.text[start - 1 : start] in {" ", "\n"} else " "
        half = "오전" if moment.hour < 12 else "오후"
        hour = (moment.hour - 1) % 12 + 1
        text = template.format(
            moment,
            day=WEEKDAYS[moment.weekday()],
            half=f"{half} {hour}:{moment:%M}",
        )
        return payment.with_field("occurredAt", gap + text)

    return change


def word_as(word: str, pattern: str) -> Change:
    """Print another word for the event."""

    def change(payment: Payment) -> str | None:
        if not re.fullmatch(pattern, payment.printed("kind")):
            return None
        end = payment.parsed.spans["kind"][1]
        # A word, a product or a name that is glued to the word would be cut.
        if re.match("[가-힣]", payment.text[end:]) or payment.text.count(MARK) > 1:
            return None
        if re.search("[A-Za-z가-힣]", payment.parsed.card_hint or ""):
            return None
        return payment.with_field("kind", word)

    return change


def fields_between(separator: str) -> Change:
    """Put the lines of a message on one line."""

    def change(payment: Payment) -> str | None:
        lines = payment.body.split("\n")
        is_printed = separator != " " and separator.strip() in payment.text
        if len(lines) < 4 or "" in lines or is_printed:
            return None
        # Labels and their values stand on lines of their own.
        if any(re.fullmatch("[가-힣]{2,4}", line) for line in lines):
            return None
        return MARK + separator.join(lines)

    return change


def marked_as(mark: str) -> Change:
    def change(payment: Payment) -> str | None:
        is_marked = payment.text.startswith(MARK) and payment.text.count(MARK) == 1
        return payment.text.replace(MARK, mark) if is_marked else None

    return change


def followed_by(line: str) -> Change:
    """Print a line below a message that names its merchant."""

    def change(payment: Payment) -> str | None:
        is_whole = payment.parsed.merchant and payment.parsed.card_hint
        return f"{payment.text.rstrip()}\n{line}" if is_whole else None

    return change


def ended_by(sentence: str) -> Change:
    """Print a sentence behind a message of one line."""

    def change(payment: Payment) -> str | None:
        is_whole = payment.parsed.merchant and payment.parsed.card_hint
        if "\n" in payment.body or not is_whole:
            return None
        return f"{payment.text.rstrip()} {sentence}"

    return change


def instead_of_total(label: str) -> Change:
    """Print something else in place of the running total."""

    def change(payment: Payment) -> str | None:
        printed = payment.printed("runningTotal")
        if not printed.startswith("누적") or "\n" in printed:
            return None
        start = payment.parsed.spans["runningTotal"][0]
        gap = "" if payment.text[start - 1] in " \n" else " "
        return payment.with_field("runningTotal", f"{gap}{label} 765,432원", "원")

    return change


def merchant_moved(position: int) -> Change:
    """Move the line of the merchant."""

    def change(payment: Payment) -> str | None:
        lines = payment.body.split("\n")
        name = squeeze(payment.parsed.merchant)
        found = [line for line in lines if squeeze(line) == name]
        has_product = bool((payment.parsed.card_hint or "").strip("0123456789*"))
        if len(found) != 1 or len(lines) < 4 or has_product or ":" in payment.body[:20]:
            return None
        if any(re.fullmatch("[가-힣]{2,4}", line) for line in lines):
            return None
        lines.remove(found[0])
        lines.insert(position, found[0])
        return MARK + "\n".join(lines)

    return change


APPROVED = "(?:정상)?승인|승인되었습니다|결제|사용|결제[ ]?완료|결제되었습니다"
CANCELED = "(?:승인)?취소"
SAME = {
    **{
        f"amount {each}": amount_as(each)
        for each in ("{:,} 원", "{}원", "₩{:,}", "KRW {:,}", "{:,} KRW", "{:,}원정")
    },
    **{
        f"time {each}": time_as(each)
        for each in (
            *("{0:%m.%d %H:%M}", "{0.month}월 {0.day}일 {0:%H:%M}", "{0:%m/%d} {half}"),
            *("{0:%Y-%m-%d %H:%M}:22", "{0:%m/%d}({day}) {0:%H:%M}"),
            *("{0:%Y%m%d %H:%M}", "{0:%m/%d} - {0:%H:%M}", "{0:%y.%m.%d %H:%M}"),
        )
    },
    **{
        f"word {each}": word_as(each, APPROVED)
        for each in (
            *(
                "승인완료",
                "승인되었습니다",
                "결제",
                "결제완료",
                "결제됐어요",
                "이용완료",
            ),
            *("사용하셨습니다", "결제가 완료되었습니다", "결제승인", "정상 승인"),
        )
    },
    **{
        f"word {each}": word_as(each, CANCELED)
        for each in ("취소완료", "승인 취소", "결제취소", "취소되었습니다", "취소승인")
    },
    **{
        f"fields {each!r}": fields_between(each)
        for each in (" ", " / ", " | ", ", ", " · ")
    },
    **{
        f"mark {each!r}": marked_as(each)
        for each in ("", "[Web발신] ", "Web발신\n", "[Web발신]\n[알림]\n", "💳 ")
    },
    **{
        f"line {each}": followed_by(each)
        for each in (
            "※ 해외 이용 시 수수료가 부과될 수 있습니다.",
            "지금 앱에서 혜택을 확인해 보세요!",
            "이용해 주셔서 감사합니다.",
            "이번 달 이용금액 532,100원",
            "이달 실적 320,000원",
            "할부 전환하기 >",
            "고객센터 1588-1234",
            "보유 12,340원",
            "보유 USD 100.20",
            "USD 100.20 남음",
            "이번달 사용 340,200원",
            "오늘 쓴 돈 45,600원",
            "실적까지 120,000원",
            "수수료 120원 별도",
        )
    },
    **{
        f"sentence {each}": ended_by(each)
        for each in (
            "자세한 내용은 앱에서 확인하세요.",
            "이용해 주셔서 감사합니다.",
            "지금 앱에서 혜택을 확인해 보세요!",
            "※ 해외 이용 시 수수료가 부과될 수 있습니다.",
        )
    },
    **{
        f"total {each}": instead_of_total(each)
        for each in (
            "잔액",
            "출금가능금액",
            "전월실적",
            "이번 달 사용 금액",
            "충전잔액",
            "1일 한도",
        )
    },
    **{f"merchant at {each}": merchant_moved(each) for each in (0, 1, 4)},
}
NOT_BOOKED = {
    each: word_as(each, APPROVED)
    for each in (
        *(
            "승인거절",
            "결제 실패",
            "승인불가",
            "승인오류",
            "결제가 거절되었습니다",
            "거래 불가",
        ),
        *(
            "결제 예정",
            "승인 대기",
            "결제 보류",
            "승인 요청",
            "결제됩니다",
            "결제 예약",
        ),
        *("결제 시도", "결제 취소 요청", "결제하세요", "결제 미완료", "결제할까요?"),
    )
}
