"""More texts than there are samples: each layout with other names, amounts and noise."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from card_alerts import Span
from card_alerts.opinion.kinds import PAYMENT
from tests.support.alert_samples import REFUSED, RULES
from tests.support.alert_texts import (
    BRANCHES,
    FOREIGN_OWNERS,
    FOREIGN_TRADES,
    OWNERS,
    TRADES,
)
from tests.support.alert_training.labeled import Labeled

SEED = 2026
# Files of texts that are generated already.
MADE = (RULES.stem, REFUSED.stem)
# fmt: off
CHAINS = (
    "스타벅스", "이마트24", "GS25", "CU", "세븐일레븐", "올리브영", "다이소", "쿠팡", "배달의민족",
    "카카오T", "파리바게뜨", "롯데마트", "홈플러스", "맥도날드", "교보문고", "컬리", "지마켓", "11번가",
    "메가MGC커피", "투썸플레이스", "SK주유소", "한국전력", "코레일", "티머니", "넷플릭스", "무신사",
)
PLACES = (
    "강남", "역삼", "성수", "판교", "해운대", "수원", "대전", "제주", "홍대입구", "일산", "동탄", "광주",
)
SYLLABLES = (
    "가나다라마바사아자차하고노도로모보소오조호구누두루무부수우주후기니디리미비시이지치강남담란"
    "만반산안장찬한공농동롱몽봉송옹종총홍건선연정진명영원온은현솔별달꽃숲봄빛결길"
)
ENDINGS = (
    "식당", "점", "마트", "의원", "학원", "치과", "주유소", "카페", "정육", "편의점", "김밥", "베이커리",
    "한의원", "세차장", "미용실", "수산", "국밥", "포차", "스튜디오", "피트니스", "",
)
FOREIGN_ENDINGS = (" INC", "*SUB", ".COM", " LTD", " LLC", " 1042", "")
JAPANESE = ("カゼコーヒー", "ほしぞらマート", "みどり書店", "ヤマト薬局", "ローソン渋谷", "さくら屋")
# fmt: on
# Issuers print these lines below payments and below notices.
FOOTERS = {
    "H": (
        "앱에서 더 많은 소식을 만나보세요",
        "이용해 주셔서 감사합니다.",
        "▶ 자세히 보기",
        "※ 실제 청구금액과 다를 수 있습니다.",
        "문의 1588-0000",
        "할부 전환은 앱에서 가능합니다.",
        "※ 본 메시지는 발신전용입니다.",
        "본인이 이용하지 않으셨다면 고객센터로 연락 주세요.",
        "오늘도 행복한 하루 보내세요!",
        "포인트 적립 내역은 홈페이지에서 확인해 주세요",
        "수신거부는 앱 설정에서 변경할 수 있어요",
        "이번 달 이벤트도 놓치지 마세요",
        "※ 해외 이용 시 수수료가 발생할 수 있습니다.",
    ),
    "L": (
        "Not you? Call the number on the back of your card.",
        "Manage alerts in the app.",
        "Thank you for banking with us.",
        "Reply STOP to end these messages.",
        "Rewards are posted within 3 days.",
        "See your offers in the app.",
    ),
    "J": (
        "詳しくはアプリでご確認ください。",
        "※ご請求金額と異なる場合がございます。",
        "本メールは送信専用です。",
        "お得なキャンペーンはこちら",
        "ご不明な点はお問い合わせください。",
    ),
}
# And these below payments alone.
REWARDS = {
    "H": (
        "포인트 120원 적립 예정",
        "캐시백 예정 414원",
        "포인트 85원이 적립됐어요.",
        "적립 예정 포인트 37P",
    ),
    "L": ("You earned 12 points.", "You'll get $0.40 cash back on this purchase."),
    "J": ("ポイント 12pt 進呈予定", "1%還元 8ポイント付与予定"),
}
SHARE_OF_REWARDS = 0.2
MIN_FOOTER_LENGTH = 10
# Lines with the words of a field or of another event, and lines of one word
_NO_FOOTER = re.compile(
    r"^\S*$|\d|:|취소|환불|거절|실패|사유|결제[ ]?(?:수단|방법|되었|됐)|取消|返金|理由|支払|"
    r"(?i:refund|declin|method|balance)"
)
_DIGIT = re.compile("[0-9]")
_HANGUL, _KANA = re.compile("[가-힣]"), re.compile("[ぁ-ヿ]")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
MARK = "[Web발신]\n"


def invent_name(source: random.Random, old: str) -> str:
    """Return a name in the script of the old one."""
    if re.search("[ぁ-ヿ]", old):
        return source.choice(JAPANESE)
    if not re.search("[가-힣]", old):
        name = f"{source.choice(FOREIGN_OWNERS)} {source.choice(FOREIGN_TRADES)}"
        return name + source.choice(FOREIGN_ENDINGS)
    return source.choice((_combine, _branch, _syllables, _legal))(source)


def _combine(source: random.Random) -> str:
    return (
        source.choice(OWNERS) + source.choice(TRADES) + source.choice(BRANCHES)
    ).strip()


def _branch(source: random.Random) -> str:
    chain, place = source.choice(CHAINS), source.choice(PLACES)
    return source.choice((f"{chain} {place}점", f"{chain}{place}", chain))


def _syllables(source: random.Random) -> str:
    length = source.randint(2, 4)
    name = "".join(source.choice(SYLLABLES) for _ in range(length))
    return name + source.choice(ENDINGS)


def _legal(source: random.Random) -> str:
    return source.choice(("(주){}", "{}(주)", "주식회사 {}")).format(_syllables(source))


def change_number(source: random.Random, text: str) -> str:
    """Return another number of a similar length, with commas where they were."""

    def other(match: re.Match[str]) -> str:
        digits = len(match[0].replace(",", ""))
        if "," not in match[0]:
            first = match[0][0]
            return first + _DIGIT.sub(lambda _: str(source.randint(0, 9)), match[0][1:])
        digits = max(4, digits + source.randint(-1, 1))
        return f"{source.randint(10 ** (digits - 1), 10**digits - 1):,}"

    return _NUMBER.sub(other, text)


def with_parts(
    labeled: Labeled, change: Callable[[str, str], str], *, outside: bool = False
) -> Labeled:
    """Return the text with other parts, which stay marked.

    `change` is called with each part and its mark. `outside` also calls it with what
    lies between the parts, and an empty mark.
    """
    pieces: list[str] = []
    parts: list[tuple[Span, str]] = []
    length, last = 0, 0
    for (start, end), mark in (*labeled.parts, ((len(labeled.text),) * 2, "")):
        between = labeled.text[last:start]
        pieces.append(change(between, "") if outside else between)
        length += len(pieces[-1])
        if mark:
            pieces.append(change(labeled.text[start:end], mark))
            parts.append(((length, length + len(pieces[-1])), mark))
            length += len(pieces[-1])
        last = end
    return replace(labeled, text="".join(pieces), parts=tuple(parts))


def rewrite(source: random.Random, labeled: Labeled) -> Labeled:
    """Return a text of the same layout with other names, amounts and digits."""

    def change(part: str, mark: str) -> str:
        if mark == "M":
            return invent_name(source, part)
        if mark == "T":
            return part
        return change_number(source, part) if mark in {"A", "K", ""} else part

    return with_parts(labeled, change, outside=True)


def add_noise(
    source: random.Random, labeled: Labeled, footers: dict[str, list[str]]
) -> Labeled:
    """Print the text in another way: on one line, with other blanks, with a footer."""
    noise = source.choice(NOISE)
    if noise is None:
        return _with_footer(source, labeled, footers)
    return noise(labeled)


def _on_one_line(labeled: Labeled) -> Labeled:
    return _translate(labeled, "\n", " ")


def _with_bars(labeled: Labeled) -> Labeled:
    return _translate(labeled, "\n", " | ")


def _with_breaks(labeled: Labeled) -> Labeled:
    return _translate(labeled, " ", "\n") if labeled.text.count(" ") < 9 else labeled


def _translate(labeled: Labeled, old: str, new: str) -> Labeled:
    return with_parts(
        labeled,
        lambda part, mark: part if mark else part.replace(old, new),
        outside=True,
    )


def _toggle_mark(labeled: Labeled) -> Labeled:
    if labeled.text.startswith(MARK):
        return _shifted(labeled, labeled.text.removeprefix(MARK), -len(MARK))
    return _shifted(labeled, MARK + labeled.text, len(MARK))


def _shifted(labeled: Labeled, text: str, by: int) -> Labeled:
    parts = tuple(
        ((start + by, end + by), mark)
        for (start, end), mark in labeled.parts
        if start + by >= 0
    )
    return replace(labeled, text=text, parts=parts)


def collect_footers(samples: list[Labeled]) -> dict[str, list[str]]:
    """Return the sentences below payments, by script: they tell nothing of the kind."""
    found = {script: set(footers) for script, footers in FOOTERS.items()}
    for sample in samples:
        if sample.kind != PAYMENT or sample.file in MADE:
            continue
        end = max((span[1] for span, _ in sample.parts), default=len(sample.text))
        for line in sample.text[end:].split("\n")[1:]:
            line = line.strip()
            if len(line) >= MIN_FOOTER_LENGTH and not _NO_FOOTER.search(line):
                found[_script_of(line)].add(line)
    return {script: sorted(footers) for script, footers in found.items()}


def _with_footer(
    source: random.Random, labeled: Labeled, footers: dict[str, list[str]]
) -> Labeled:
    """Add a footer, or a reward for a payment."""
    script = _script_of(labeled.text)
    if labeled.kind == PAYMENT and source.random() < SHARE_OF_REWARDS:
        footer = source.choice(REWARDS[script])
    else:
        footer = source.choice(footers[script])
    return replace(labeled, text=f"{labeled.text}\n{footer}")


def _script_of(text: str) -> str:
    return "H" if _HANGUL.search(text) else "J" if _KANA.search(text) else "L"


def _unchanged(labeled: Labeled) -> Labeled:
    return labeled


# None: a footer.
NOISE = (
    *(_on_one_line, _with_bars, _with_breaks, _toggle_mark),
    *(None, None, None, None),
    *(_unchanged, _unchanged, _unchanged),
)


def generate(samples: list[Labeled], copies: int) -> Iterator[Labeled]:
    """Yield each sample and so many texts of its layout; the same ones at each call."""
    source = random.Random(SEED)
    footers = collect_footers(samples)
    for sample in samples:
        yield sample
        if sample.file in MADE:
            continue
        for _ in range(copies):
            yield add_noise(source, rewrite(source, sample), footers)
