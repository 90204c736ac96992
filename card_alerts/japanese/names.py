"""Find the name of the shop that no label names: in a sentence, or by its place."""

from dataclasses import dataclass
from itertools import islice

from card_alerts.japanese.labels import unwrap_name
from card_alerts.japanese.money import MASK, find_yen
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

MAX_SCAN_LENGTH = 1000
_MAX_FIELDS = 60
_MAX_NAME_LENGTH = 60

_NAMED_ABOVE_AMOUNT = pattern(
    r"""
    (?:^|(?<=\n))[ ]?(?P<value>[^\n]{1,60}?)[ ]?\((?:買物|利用|支払い?)\)[ ]?\n
    (?=[ ]?[\d,]{1,16}[ ]?円)
    """,
    example="ほしぞらマート(買物)\n19,546円",
)
# たぬき食堂の領収書です, たぬき食堂への自動支払いを行いました
_RECEIPT_OF = pattern(
    r"""
    (?:^|(?<=\n))(?P<value>[^\n]{2,40}?)
    (?:(?:から)?[ ]?の領収書(?:です|を)|への自動支払いを行いました)
    """,
    example="たぬき食堂の領収書です",
)
_BETWEEN_MARKS = pattern(
    r"""
    (?=[iQA])(?:iD|QP|QUICPay\+?|Apple[ ]?Pay)[ ]?/[ ]?(?P<value>[^/\n|]{1,60}?)[ ]?
    (?:/[ ]?(?:iD|QP|QUICPay\+?)|(?=\n|$))
    """,
    example="iD/たぬき書店/iD",
)
# たぬき書店での決済 1,200円
_BEFORE_AMOUNT = pattern(
    r"""
    [」』"]?[ ]?(?:様?(?:で|にて|において)|から|より|に|へ)の?[ ,、]{0,2}
    (?:
        (?:
            お?支払い?|ご?利用|お?買い?物|お?取引|決済|合計|計|約|金額|額|の|は|が
            |iD|QUICPay|カード|コード|しました|されました
        )[ :]?
    ){0,4}
    [ (]{0,2}$
    """,
    example="たぬき書店での決済",
)
# 1,200円をたぬき書店で支払いました
_BEHIND_AMOUNT = pattern(
    r"""
    (?:\([^()\n]{1,10}\))?[をが、, ]{1,3}(?P<value>[^\n。、|\x1f]{1,60}?)[ ]?
    (?:で|にて|において|に|へ)[ ]?(?=お?支払|決済|ご?利用|使|購入|お?買い?物)
    """,
    example="を とんぼ文庫で支払いました",
)
# Remains of the part before: au PAYでたぬき書店に
_REMAINS = pattern(
    r"""
    [ 」』)]?の?(?:カード|デビット)?
    (?:で|にて|から|に|の|は|を使って|を利用して|より)?[ 、,]{0,2}
    """,
    example="で",
)
# Times and addresses of pages are no names.
_CLOCK_OR_LINK = pattern(
    r"""
    (?=h)https?://[^\s]{1,200}
    | (?=[\d本昨])(?:本日|昨日)?[ ]?(?<!\d)
    \d{1,2}(?::\d{2}(?::\d{2})?|時\d{1,2}分)(?:頃|に)?
    """,
    example="本日13:20",
)
# たぬき書店での|お支払い
_PARTICLE_BEHIND = pattern(
    r"[ ]?様?(?:にて|で)の?[ 、,]{0,2}$", example="たぬき書店での"
)
_MAX_CLOCKS = 10
_PERSON = pattern(r"(?:さん|様|さま|くん|ちゃん)[」』\"]?[ ]?$", example="山田様")
_WORDS = read_words("words.toml")
_EVENT = r"""
    (?:カード|デビット|クレジット|アプリ|コード|海外|国内|ショッピング)?の?
    (?:ご?(?:利用|購入|請求)|お?(?:支払い?|買い?物|買い?上げ?|取引)|決済|承認|取り?消し?|キャンセル|返金|返品)
"""
_STATUS = pattern(
    rf"""
    (?=[のをがにカデクアコ海国シご利購請お支買取決承キ返])[のをがに]?
    (?:{_EVENT}){{1,3}}
    (?:
        [ぁ-ん]{{0,10}}
        (?:完了|知らせ|速報版?|通知|内容|案内|確認|確定|成功|処理|致|頂|受付|明細|メール|取消|返金|不可)
    ){{0,3}}
    [ぁ-ん]{{0,12}}[。!]?
    """,
    example="のお支払いが完了しました",
)
_MEANS = pattern(
    rf"^(?:{alternatives(_WORDS['japanese_no_names'])})$", example="Apple Pay"
)
_NO_NAME = pattern(
    rf"""
    {_MEANS.pattern} | {alternatives(_WORDS["japanese_other_fields"])} | {_EVENT}
    | (?:です|は|[ ]?様|払い?|カード|デビット)$ | https?: | www\. | [月者][ ]?:
    | ^[ぁ-ん]{{1,2}}$ | ^を | ^分[とのをで]? | ^\d{{1,2}}回
    | (?:カード|Card|CARD)[ ]?[\d*]{{4,16}}
    | ^[(]?(?:末尾|下)?4?桁?[ ]?\d{{4}}[)]?$
    """,
    example="支払方法:1回",
)
_FIELD = pattern(r"[^\n|\x1f]{1,200}", example="たぬき書店")
_BLANKS = pattern(r"[ ]{2,}|[ ]/[ ]|[「」『』【】:]", example="たぬき書店 / 東京")
_LETTER = pattern(r"[^\W\d_]", example="たぬき書店")
# 💳 たぬき書店
_SIGNS = pattern(r"^[^\w(「『&+@'\"]{1,10}", example="💳 たぬき書店")
_AROUND = ' ・:/-、,。[]>→*▼▶!…"〜~#='


@dataclass(frozen=True, slots=True)
class FoundName:
    span: Span
    is_sure: bool
    # There is no other field but those that are known.
    is_alone: bool = False


def find_unlabeled_name(
    text: str, amount: Span | None, others: list[Span]
) -> FoundName | None:
    """Return the name at its place; `others` are spans of other fields."""
    above = _NAMED_ABOVE_AMOUNT.search(text) if "円" in text else None
    receipt = _RECEIPT_OF.search(text, 0, MAX_SCAN_LENGTH) if "領収書" in text else None
    marked = above or receipt or _BETWEEN_MARKS.search(text, 0, MAX_SCAN_LENGTH)
    if marked:
        return FoundName(unwrap_name(text, marked.span("value")), is_sure=True)
    if amount is None or amount[0] >= MAX_SCAN_LENGTH:
        return None
    yen = (money.span for money in find_yen(text))
    masked = _mask(text[:MAX_SCAN_LENGTH], [*others, *yen, amount])
    span = _find_before(masked, amount) or _find_behind(masked, amount)
    if span:
        return FoundName(span, is_sure=True)
    return _find_field(masked, amount)


def find_clocks_and_links(text: str) -> list[Span]:
    """Return the spans of times without a day, and of addresses of pages."""
    return [
        match.span() for match in islice(_CLOCK_OR_LINK.finditer(text), _MAX_CLOCKS)
    ]


def _mask(text: str, spans: list[Span]) -> str:
    letters = list(text)
    for start, end in spans:
        end = min(end, len(letters))
        letters[start:end] = MASK * max(0, end - start)
    return "".join(letters)


def _find_before(masked: str, amount: Span) -> Span | None:
    """Return the name before で, にて or に and the amount."""
    first = max(0, amount[0] - 100)
    before = masked[first : amount[0]]
    particle = _BEFORE_AMOUNT.search(before)
    if particle is None:
        return None
    end = first + particle.start()
    start = max(masked.rfind(mark, first, end) for mark in f"{MASK}\n|。!:「『】、") + 1
    if start == 0 and first:
        return None
    return _check(masked, (_skip_remains(masked, start, end), end))


def _skip_remains(masked: str, start: int, end: int) -> int:
    """Return the start of a name behind another field and a particle."""
    if not start or masked[start - 1] != MASK:
        return start
    remains = _REMAINS.match(masked, start, end)
    return remains.end() if remains else start


def _find_behind(masked: str, amount: Span) -> Span | None:
    match = _BEHIND_AMOUNT.match(masked, amount[1])
    return _check(masked, match.span("value")) if match else None


def _find_field(masked: str, amount: Span) -> FoundName | None:
    """Return the field before a particle, or the field nearest to the amount."""
    cleared = _STATUS.sub(lambda match: MASK * len(match[0]), masked)
    found: list[tuple[bool, int, Span]] = []
    parts = 0
    for field in islice(_FIELD.finditer(cleared), _MAX_FIELDS):
        parts += _is_unknown(field[0].strip(_AROUND))
        start = _skip_remains(cleared, field.start(), field.end())
        for blank in (*_BLANKS.finditer(cleared, *field.span()), None):
            end = blank.start() if blank else field.end()
            particle = _PARTICLE_BEHIND.search(cleared[start:end])
            name_end = start + particle.start() if particle else end
            span = _check(cleared, (start, name_end))
            if span:
                is_marked = particle is not None and cleared[end : end + 1] == MASK
                found.append((not is_marked, _distance(span, amount), span))
            start = blank.end() if blank else end
    if not found:
        return None
    is_unmarked, _, nearest = min(found)
    is_sure = len(found) == 1 or not is_unmarked
    return FoundName(nearest, is_sure, is_alone=len(found) == parts == 1)


def _is_unknown(field: str) -> bool:
    """Return True for a field with letters that is no means of payment."""
    return _LETTER.search(field) is not None and not _MEANS.match(field)


def _distance(span: Span, amount: Span) -> int:
    return max(amount[0] - span[1], span[0] - amount[1], 0)


def _check(text: str, span: Span) -> Span | None:
    """Return the name without the marks around it; None for what names no shop."""
    value = text[slice(*span)]
    start = span[0] + len(value) - len(value.lstrip(_AROUND))
    name = value.strip(_AROUND)
    signs = _SIGNS.match(name)
    if signs:
        start, name = start + signs.end(), name[signs.end() :]
    is_first_odd = name.startswith("(") and name.count("(") > name.count(")")
    if is_first_odd or (name.startswith("(") and name.endswith(")")):
        start, name = start + 1, name[1:]
    if name.endswith(")") and name.count(")") > name.count("("):
        name = name[:-1]
    if not 1 < len(name) <= _MAX_NAME_LENGTH or not _LETTER.search(name):
        return None
    if _NO_NAME.search(name) or _PERSON.search(name):
        return None
    return start, start + len(name)
