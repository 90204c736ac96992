"""Find labels with their values, in lines, in a row or as a table."""

import re
from itertools import islice

from card_alerts.patterns import pattern
from card_alerts.result import Span

_USE = r"ご?(?:利用|使用|購入)|お?支払い?"
_MERCHANT = rf"""
    (?:{_USE})(?:先|店舗|店名|加盟店|場所|店)名?(?:など|等)?
    | ショップ名? | 加盟店名? | 店舗名? | 店名 | お店 | (?<![一-龯ぁ-んァ-ヶ])場所
"""
_DATE = r"""
    ご?(?:利用|使用|取引|決済|承認|購入|取消|返金|返品)(?:日時?|年月日) | お?支払い?日時
    | 日時 | 日付
"""
_AMOUNT = r"""
    (?<![今先当]月の)(?<![今先当]月のご)
    (?:ご?(?:利用|使用|取引|決済|返金|取消|引落|購入)|お?支払い?)(?:金額|代金)
    | (?<![一-龯ぁ-んァ-ヶ])金額
    | (?<![今先当]月の)(?<![今先当]月のご)ご?利用額
    | 返金額 | 決済総額 | お?支払い?総額 | 引き?落とし?金額
"""
# Labels begin with one of these characters.
_INITIALS = "ご利使購お支シ加店場取決承返日金引"
_ANY = rf"(?:{_MERCHANT}|{_DATE}|{_AMOUNT})"
_SIGN = r"""
    (?:[ ]?[(][^()\n]{0,20}[)])?
    (?:[ ]{0,12}[】:\]][ ]?[】:]?[ ]?\n?[ ]?|[ ]{1,12})
"""
_VALUE = r"(?P<value>[^\s◇■◆【|][^\n◇■◆【|]{0,599})"
_NAMED = (
    ("merchant", _MERCHANT, "ご利用先: たぬき書店", "ご利用先\nたぬき書店"),
    ("date", _DATE, "ご利用日時: 2026/11/20", "ご利用日時\n2026/11/20"),
    ("amount", _AMOUNT, "ご利用金額: 1,200円", "ご利用金額\n1,200円"),
)
_LABELED = {
    name: pattern(
        rf"(?=[{_INITIALS}])(?:{label}){_SIGN}(?!{_ANY}){_VALUE}", example=example
    )
    for name, label, example, _ in _NAMED
}
# The label fills a line, and the value the line below.
_ABOVE_VALUE = {
    name: pattern(
        rf"""
        (?:^|(?<=\n))(?=[ ■◆◇▼・*{_INITIALS}])[ ■◆◇▼・*]{{0,3}}(?:{label})[ ]?\n[ ]?
        (?!{_ANY}){_VALUE}
        """,
        example=example,
    )
    for name, label, _, example in _NAMED
}
# Another label ends a value: トリノ食堂 ご利用金額: 15,500円
_NEXT_LABEL = pattern(
    rf"""
    [ ][/・▼*-]{{0,2}}[ ]?(?:{_ANY}|お?支払い?(?:方法|区分|回数)|ご?利用取引|承認番号)
    (?=[ :(】])
    | [ ](?=[一-龯]{{2,8}}[ ]?:)
    | 。 | [ ]/[ ] | [ ]?▼ | [ ](?=\d{{1,2}}/\d{{1,2}}[ ]\d{{1,2}}:\d\d)
    | [ ](?=¥?[ ]?\d[\d,]{{0,12}}[ ]?円)
    """,
    example="食堂 ご利用金額: 15,500円",
)
_LABEL = pattern(
    rf"(?=[{_INITIALS}]){_ANY}(?:[ ]?[(][^()\n]{{0,20}}[)])?[ ]?[】:\]]?",
    example="ご利用先:",
)
_MAX_LABELS = 40
# Ways of paying stand around a name, the trade behind it.
_WRAPPED = pattern(
    r"""
    ^(?:(?:iD|QP|QUICPay\+?|Apple[ ]?Pay|Google[ ]?Pay|AP)[ ]?/[ ]?)?
    (?P<name>[^\n]{1,200}?)
    (?:[ ]?/[ ]?(?:iD|QP|QUICPay\+?|Apple[ ]?Pay|Google[ ]?Pay|NFC))?
    (?:[ ]?\((?:買物|利用|支払い?|取消)\))?[ ]*$
    """,
    example="iD/たぬき書店/iD",
)
_MAX_WRAPPED_LENGTH = 200
_CELL_END = r"(?:[ ]{2,}|[ ]?\|[ ]?)"
# ご利用日  ご利用先  ご利用金額: the names of columns
_HEADER = pattern(
    rf"""
    (?:^|(?<=\n))[ |]{{0,4}}(?=[{_INITIALS}])
    (?P<header>[^\s\d|:]{{1,12}}(?:{_CELL_END}[^\s\d|:]{{1,12}}){{1,6}})[ |]{{0,4}}\n
    """,
    example="ご利用日  ご利用先  ご利用金額\n",
)
_CELL = pattern(r"(?:(?![ ]{2}|[ ]?\|)[^\n]){1,100}", example="たぬき書店  1,200円")
_COLUMNS = {
    name: pattern(rf"^(?:{label})$", example=example)
    for name, label, example in (
        ("merchant", rf"(?:{_MERCHANT})", "ご利用先"),
        ("date", rf"(?:{_DATE})", "ご利用日"),
        ("amount", rf"(?:{_AMOUNT})", "ご利用金額"),
    )
}
_ROW = pattern(
    r"\s{0,40}(?P<row>[^\s\d]{0,2}\d[^\n]{2,300})", example="\n\n2026/11/20  たぬき書店"
)
_AMOUNT_CELL = pattern(r"^[ ¥-]{0,3}\d[\d,]{0,15}[ ]?円?", example="1,200円")


def find_labeled_values(text: str) -> dict[str, Span]:
    """Return the spans of merchant, date and amount that a label names."""
    found = _read_table(text)
    if found:
        return found
    for name, _, _, _ in _NAMED:
        match = _LABELED[name].search(text) or _ABOVE_VALUE[name].search(text)
        if match is None:
            continue
        span = _cut_value(text, match.span("value"))
        if name == "merchant":
            span = unwrap_name(text, span)
        if any(letter.isalnum() for letter in text[slice(*span)]):
            found[name] = span
    return found


def find_labels(text: str) -> list[Span]:
    """Return the spans of labels, without their values."""
    return [match.span() for match in islice(_LABEL.finditer(text), _MAX_LABELS)]


def unwrap_name(text: str, span: Span) -> Span:
    """Leave out the way of paying around a name: iD/たぬき書店/iD."""
    if span[1] - span[0] > _MAX_WRAPPED_LENGTH:
        return span
    match = _WRAPPED.search(text[span[0] : span[1]])
    if match is None:
        return span
    return span[0] + match.start("name"), span[0] + match.end("name")


def _cut_value(text: str, span: Span) -> Span:
    start, end = span
    following = _NEXT_LABEL.search(text, start, end)
    value = text[start : following.start() if following else end].rstrip(" ")
    return start, start + len(value)


def _read_table(text: str) -> dict[str, Span]:
    """Return the cells of the first row below the names of columns."""
    header = _HEADER.search(text) if "\n" in text else None
    if header is None:
        return {}
    columns = [text[slice(*span)] for span in _split_cells(text, header, "header")]
    names = {
        name: number
        for name, rule in _COLUMNS.items()
        for number, column in enumerate(columns)
        if rule.match(column)
    }
    row = _ROW.match(text, header.end())
    if row is None or not names.keys() >= {"merchant", "amount"}:
        return {}
    cells = _split_cells(text, row, "row")
    if len(cells) < len(columns):
        return {}
    found = {name: cells[number] for name, number in names.items()}
    has_amount = _AMOUNT_CELL.match(text[slice(*found["amount"])])
    return found if has_amount else {}


def _split_cells(text: str, match: re.Match[str], group: str) -> list[Span]:
    start, end = match.span(group)
    cells = islice(_CELL.finditer(text, start, end), 20)
    spans = [_strip(text, cell.span()) for cell in cells]
    return [span for span in spans if span[0] < span[1]]


def _strip(text: str, span: Span) -> Span:
    value = text[slice(*span)]
    start = span[0] + len(value) - len(value.lstrip(" |"))
    return start, start + len(value.strip(" |"))
