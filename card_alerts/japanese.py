"""Parse Japanese mails of card companies: labels and their values."""

from dataclasses import replace

from card_alerts.candidate import PaymentCandidate, SourceText, build_result
from card_alerts.issuers import ENGLISH, JAPANESE, compile_aliases, get_alias
from card_alerts.money import MoneyMatch, find_foreign_amounts, parse_number
from card_alerts.patterns import pattern
from card_alerts.result import Doubt, Kind, ParseResult, Reason, Span, rejected
from card_alerts.tables import alternatives, read_words
from card_alerts.times import find_timestamps

_YEN = pattern(
    r"""
    (?<![\d,.])-?[ ]?(?P<number>\d{1,3}(?:,\d{3}){1,4}|\d{1,12})[ ]?円
    """,
    example="◇利用金額:684円",
)
_ISSUER = compile_aliases((*JAPANESE, *ENGLISH))
_VALUE = r"""
    (?:[ ]?[(][^()\n]{0,20}[)])?(?:[ ]?[】:\]][ ]?[】:]?[ ]?\n?[ ]?|[ ]{1,3})
    (?P<value>[^\n◇■◆●・【]{1,600})
"""
_LABELED = {
    name: pattern(rf"(?:{label}){_VALUE}", example=example)
    for name, label, example in (
        (
            "merchant",
            r"""
            ご?(?:利用|使用|支払い?)(?:先|店舗|店名|加盟店|場所|店)名?(?:など|等)?
            | ショップ名? | 加盟店名? | 店舗名? | お店
            """,
            "ご利用先: たぬき書店",
        ),
        (
            "date",
            r"ご?(?:利用|使用|取引|決済|承認)(?:日時?|年月日)|日時|日付",
            "ご利用日時: 2026/11/20",
        ),
        (
            "amount",
            r"""
            ご?(?:利用|使用|取引|決済|返金|取消|引落)?金額
            | ご?利用額 | 決済総額
            """,
            "ご利用金額: 1,200円",
        ),
    )
}
_MERCHANT_IN_SENTENCE = pattern(
    r"""
    (?P<value>[^\n、。「」\s]{1,60})(?:にて|で)[^\n]{0,12}\d[\d,]{0,14}[ ]?円
    """,
    example="たぬき書店にて1,200円",
)
MAX_SENTENCE_SCAN_LENGTH = 1000
_DATE_IN_SENTENCE = pattern(r"\d{1,4}[/年月.-]\d{1,2}", example="11月20日")

_CARD_NUMBER = pattern(
    r"""
    カード番号(?:[ ]?\([^()\n]{1,10}\))?[ ]?[】:\]]{0,2}[ ]?\n?[ ]?[*Xx-]{0,16}
    (?P<digits>\d{4})(?!\d)
    """,
    example="カード番号(下4桁):1231",
)

_WORDS = read_words("words.toml")
_PASSWORD = pattern(
    alternatives(_WORDS["japanese_passwords"]), example="JCB ワンタイム"
)
_STATEMENT = pattern(
    r"""
    お?支払い?(?:金額|日|予定|期限)
    | 引き?落とし | ご?請求 | 明細 | 振替 | お支払い?のご案内
    """,
    example="お支払い金額のお知らせ",
)
_BANK_TRANSFER = pattern(
    alternatives(_WORDS["japanese_transfers"]), example="振込入金のお知ら"
)
_ADVERT = pattern(alternatives(_WORDS["japanese_adverts"]), example="上のご利用で最大")
_DECLINED = pattern(
    r"""
    (?:いただ|頂)けませんでした
    | できませんでした | 承認されませんでした | 否決 | 利用不可 | ご利用になれません
    | エラー | 失敗
    """,
    example="頂けませんでした",
)
_CANCELLED = pattern(r"取消|取り消し|キャンセル|返金|返品", example="取消のお知らせ\n")
_PARTIAL = pattern(r"一部|部分", example="一部返金 ご利用")
_USED = pattern(r"利用|使用|決済|支払い?|買物|承認", example="ご利用のお知らせ")


# "Not a bill yet": ご請求を確定するものではございません。
_NOT_A_BILL = pattern(
    r"[^\n。]{0,60}確定するものでは(?:ございません|ありません)",
    example="ご請求を確定するものではございません",
)
_NAMED_ABOVE_AMOUNT = pattern(
    r"""
    (?:^|(?<=\n))[ ]?(?P<value>[^\n]{1,60}?)[ ]?\((?:買物|利用|支払い?)\)[ ]?\n
    (?=[ ]?[\d,]{1,16}[ ]?円)
    """,
    example="ほしぞらマート(買物)\n19,546円",
)
_BELOW_STATUS = pattern(
    r"""
    円[ ]?(?:を)?(?:お?支払い?|決済)(?:ました|完了(?:しました)?)[。.!]?[ ]?\n
    (?P<value>[^\n:]{1,60})(?:\n|$)
    """,
    example="1,200円 支払いました\nローソン",
)
# 利用金額(円):1,200
_YEN_IN_LABEL = pattern(r"金額[ ]?\((?P<yen>円)\)", example="利用金額(円):1,200")
# 引落通貨：JPY
_YEN_AS_CURRENCY = pattern(r"通貨[ ]?:[ ]?(?P<yen>JPY)", example="引落通貨:JPY")
_BARE_NUMBER = pattern(
    r"[\d,]{1,16}(?:\.00)?(?=[ ]*(?:\n|$))", example="引落金額:7,920.00"
)


def parse_japanese(source: SourceText) -> ParseResult:
    text = source.normalized.text
    labeled: dict[str, Span] = {}
    for name, rule in _LABELED.items():
        match = rule.search(text)
        value = match["value"].rstrip(" ") if match else ""
        if match and value:
            start = match.start("value")
            labeled[name] = start, start + len(value)
    merchant, date = labeled.get("merchant"), labeled.get("date")
    is_labeled = "amount" in labeled and bool(merchant or date)
    money = _find_amount(text, labeled.get("amount"))
    if merchant is None:
        above = _NAMED_ABOVE_AMOUNT.search(text) if "円" in text else None
        is_labeled = is_labeled or bool(above and date)
        below = _BELOW_STATUS.search(text) if above is None else None
        named = above or below
        merchant = named.span("value") if named else _find_name_in_sentence(text)

    rest = source.text_without(merchant)
    decline = _DECLINED.search(rest)
    reason = _rejection_reason(rest, is_labeled=is_labeled)
    is_asked = source.is_weighed and reason is Reason.STATEMENT
    if reason and not is_asked and not (decline and money):
        return rejected(reason)
    cancellation = None if decline else _CANCELLED.search(rest)
    keyword = decline or cancellation or _USED.search(rest)
    if money is None or keyword is None:
        return rejected(reason or Reason.NO_PAYMENT)
    kind = Kind.CANCELLATION if cancellation else Kind.APPROVAL

    issuer, issuer_span = source.sender_issuer, None
    for match in _ISSUER.finditer(text):
        # A merchant's name may contain an issuer's.
        if not (merchant and merchant[0] <= match.start() < merchant[1]):
            issuer, issuer_span = get_alias(match[0]).issuer, match.span()
            break
    card_number = _CARD_NUMBER.search(text)
    timestamps = find_timestamps(text)
    if date:
        in_label = [t for t in timestamps if date[0] <= t.span[0] < date[1]]
        timestamps = in_label or timestamps
    result = build_result(
        PaymentCandidate(
            kind=Kind.DECLINED if decline else kind,
            kind_span=keyword.span(),
            issuer=issuer,
            issuer_span=issuer_span,
            card_hint_span=card_number.span("digits") if card_number else None,
            money=money,
            merchant_span=merchant,
            timestamp=timestamps[0] if timestamps else None,
            is_partial=cancellation is not None and bool(_PARTIAL.search(rest)),
        ),
        source,
    )
    return result if reason is None or decline else _refuse(reason, result)


def _refuse(reason: Reason, result: ParseResult) -> ParseResult:
    """Refuse a text for words of a statement, and tell what it would have been."""
    if not result.recognized:
        return rejected(reason)
    return replace(rejected(reason), would_be=replace(result, doubts=(Doubt.KIND,)))


def _find_name_in_sentence(text: str) -> Span | None:
    if "で" not in text and "にて" not in text:
        return None
    match = _MERCHANT_IN_SENTENCE.search(text, 0, MAX_SENTENCE_SCAN_LENGTH)
    if match is None or _DATE_IN_SENTENCE.search(match["value"]):
        return None
    return match.span("value")


def _find_amount(text: str, labeled: Span | None) -> MoneyMatch | None:
    for start, end in ([labeled] if labeled else []) + [(0, len(text))]:
        match = _YEN.search(text, start, end)
        if match:
            yen_sign = (match.end() - 1, match.end())
            value = parse_number(match["number"])
            return MoneyMatch(value, "JPY", match.span(), yen_sign)
        sign = _YEN_IN_LABEL.search(text) if labeled else None
        sign = sign or _YEN_AS_CURRENCY.search(text)
        number = _BARE_NUMBER.match(text, start, end) if sign else None
        if sign and number:
            yen_sign = sign.span("yen")
            value = parse_number(number[0])
            return MoneyMatch(value, "JPY", number.span(), yen_sign)
        for money in find_foreign_amounts(text):
            if start <= money.span[0] < end:
                return money
    return None


def _rejection_reason(text: str, *, is_labeled: bool) -> Reason | None:
    if _PASSWORD.search(text):
        return Reason.ONE_TIME_PASSWORD
    if is_labeled:
        return None
    if _STATEMENT.search(_NOT_A_BILL.sub("", text)):
        return Reason.STATEMENT
    if _ADVERT.search(text):
        return Reason.ADVERT
    return Reason.BANK_TRANSFER if _BANK_TRANSFER.search(text) else None
