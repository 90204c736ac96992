"""Parse Japanese mails and pushes: labels and their values, columns or a sentence."""

import re
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from card_alerts.candidate import PaymentCandidate, SourceText, build_result
from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    ENGLISH,
    JAPANESE,
    compile_aliases,
    find_issuer,
    get_alias,
)
from card_alerts.japanese.labels import find_labeled_values, find_labels
from card_alerts.japanese.money import (
    YEN,
    find_amount,
    find_balance,
    find_months,
    mask_side_amounts,
)
from card_alerts.japanese.names import find_clocks_and_links, find_unlabeled_name
from card_alerts.japanese.refusals import (
    Told,
    find_cancellation,
    find_decline,
    find_reason,
    find_use,
    is_partial_refund,
    remove_notes,
)
from card_alerts.money import MoneyMatch
from card_alerts.patterns import pattern
from card_alerts.result import Doubt, Kind, ParseResult, Reason, Span, rejected
from card_alerts.times import TimestampMatch, find_timestamps

_ISSUER = pattern(
    rf"""
    (?:(?<![A-Za-z0-9])|(?=[ぁ-龯]))
    {compile_aliases((*JAPANESE, *ENGLISH)).pattern}(?![a-z])
    """,
    example="三井住友カード ご利用のお知らせ",
)
_MAX_ISSUERS = 20
_CARD_ENDS = ("カード", "銀行", "デビット", "Pay", "PAY", "ペイ", "払い", "WALLET")
# The words of a card behind its issuer: エポスゴールドカード, Sony Bank WALLET
_CARD_WORDS = pattern(
    r"""
    (?:[ァ-ヶー一-龯A-Za-z]{1,8}(?=カード|デビット))?
    (?:
        [ ]?
        (?:カード|ゴールド|プラチナ|銀行|デビット|クレジット|プリペイド|残高|アプリ|[Cc]ard|CARD|WALLET)
    ){0,4}
    (?:[ ]?\([^()\n\d]{1,12}\))?[ ]?:?
    """,
    example="ゴールドカード(NL)",
)
# イオン渋谷店 is a shop.
_NAME_GOES_ON = pattern(
    r"(?![のでがにをはかごお利決取購海明速通様株])[ぁ-んァ-ヶー一-龯]", example="渋谷店"
)
_CARD_DIGITS = pattern(
    r"""
    (?=[カ下末CデVMJA*•Xx(])(?:
        カード番号(?:[ ]?\([^()\n]{1,10}\)|の?(?:末尾|下)[ ]?[45][ ]?桁)?
        | (?:末尾|下)[ ]?(?:[45][ ]?桁|番号)? | Card | CARD | カード | デビット
        | (?:Visa|Mastercard|JCB|Amex)(?=-\d)-
        | (?<![*•XxA-Za-z0-9])(?=[*•Xx(])
    )
    [ ]?[】:\])(]{0,2}[ ]?\n?[ ]?(?:[*•Xx]{1,16}+(?:[ -][*•Xx]{1,16}+){0,3}[ -]?)?
    (?P<digits>\d{4,5})(?![\d/年.,-]|[ ]?円)
    """,
    example="カード番号(下4桁):1231",
)
_CARD_NAME = pattern(
    r"""
    (?=[カご対])(?:カード名称?|ご利用カード|対象カード)(?:[ ]?:[ ]?|[ ]?\n|】[ ]{0,3})
    (?P<name>[^\s\d◇■◆][^\n◇■◆]{1,39})
    | (?<=\n)(?P<subject>[^\s\d◇■◆][^\n◇■◆]{1,39}?)について(?=[ ]?カードの(?:ご)?利用)
    | \A【(?P<title>[^\n】]{4,30}カード)】ご利用
    | (?:\A|(?<=\n))(?![^\n]{0,20}(?:さま|様))
      (?:
          (?P<told>[^\n、。の]{3,24}(?:カード|WALLET))のご利用が
          | (?P<wallet>[^\n、。の]{3,24}WALLET)[ ]?をご利用いただき
      )
    """,
    example="ご利用カード:Olive/クレジット",
)
_KINDS_OF_CARDS = frozenset(
    {"デビットカード", "クレジットカード", "プリペイドカード", "カード"}
)
# JCB GOLD ••1004 で ¥2,990
_CARD_PAYS = pattern(
    r"(?P<name>[^\n•·]{2,40})[ ]?[•·]{1,4}[ ]?\d{4}[ ]?で[ ]",
    example="JCB GOLD ••1004 で ¥2,990",
)
# The title of a phone's wallet, whose pushes are of purchases only
_WALLET_TITLE = pattern(
    r"\A(?:Samsung|Apple|Google)[ ](?:Pay|Wallet|ウォレット)[ ]*(?=\n)",
    example="Samsung Pay\n¥532 ローソン",
)
# 11/30まで: the day of a condition
_NO_DAY_OF_USE = pattern(r"[ ]?(?:まで|から|以降|頃)", example="まで")


_YEN_AS_BACKSLASH = pattern(r"\\(?=[ ]?\d)", example="決済金額: \\3,200")
_CARDS = (
    *("カード", "Card", "CARD", "デビット", "WALLET", "Suica", "PASMO"),
    *("Samsung Pay", "Apple Pay", "Google Pay", "ウォレット", "Wallet"),
)


class _Issuers(NamedTuple):
    """The issuer, and the spans of the names of cards."""

    issuer: Issuer | None
    span: Span | None
    card_names: list[Span]


class _Merchant(NamedTuple):
    span: Span | None
    is_sure: bool = False
    is_alone: bool = False


class _Event(NamedTuple):
    kind: Kind
    span: Span | None


class _Fields(NamedTuple):
    labeled: dict[str, Span]
    money: MoneyMatch | None
    timestamps: list[TimestampMatch]
    issuers: _Issuers
    card: re.Match[str] | None
    merchant: _Merchant

    @property
    def has_time(self) -> bool:
        return bool(self.timestamps) and self.timestamps[0].has_printed_time

    @property
    def is_labeled(self) -> bool:
        if "amount" in self.labeled:
            return "merchant" in self.labeled or "date" in self.labeled
        return "date" in self.labeled and self.has_time and self.merchant.is_sure


def parse_japanese(source: SourceText) -> ParseResult:
    text = source.normalized.text
    if "\\" in text:
        # The yen sign of old encodings
        text = _YEN_AS_BACKSLASH.sub("¥", text)
    fields = _read_fields(text)
    is_card_push = fields.merchant.is_alone and _names_card(text, fields.issuers)
    # A guessed name must not hide the words of another message.
    reason = find_reason(
        remove_notes(source.text_without(fields.labeled.get("merchant"))),
        Told(
            by_labels=fields.is_labeled,
            name=fields.merchant.span is not None,
            day=bool(fields.timestamps),
            time=fields.has_time,
            all_fields=is_card_push,
        ),
    )
    rest = remove_notes(source.text_without(fields.merchant.span))
    decline = find_decline(rest)
    is_asked = source.is_weighed and reason is Reason.STATEMENT
    if reason and not is_asked and not (decline and fields.money):
        return rejected(reason)
    issuer = fields.issuers.issuer or _find_any_issuer(text, fields.merchant.span)
    issuer = issuer or source.sender_issuer
    is_told = bool(issuer and fields.merchant.span and fields.has_time)
    event = _find_event(rest, fields, is_told=is_told or is_card_push)
    if fields.money is None or event is None:
        return rejected(reason or Reason.NO_PAYMENT)
    candidate = _make_candidate(fields, event, issuer, rest)
    balance = find_balance(text)
    if balance is not None:
        currency = None if source.home_currency == YEN else YEN
        candidate = candidate._replace(balance=balance, balance_currency=currency)
    result = build_result(candidate, source)
    return result if reason is None or decline else _refuse(reason, result)


def _find_event(text: str, fields: _Fields, *, is_told: bool) -> _Event | None:
    """Return the event; complete payments need no word for it."""
    if decline := find_decline(text):
        return _Event(Kind.DECLINED, decline.span())
    if cancellation := find_cancellation(text):
        return _Event(Kind.CANCELLATION, cancellation.span())
    use = find_use(text)
    if use is None and not is_told:
        return None
    is_refund = fields.is_labeled and fields.money and fields.money.is_negative
    kind = Kind.CANCELLATION if is_refund else Kind.APPROVAL
    return _Event(kind, use.span() if use else None)


def _names_card(text: str, issuers: _Issuers) -> bool:
    """Return True for the name of a card, whose pushes are of purchases only."""
    names = (text[slice(*span)].rstrip(" :") for span in issuers.card_names)
    return any(name.endswith(_CARDS) for name in names)


def _read_fields(text: str) -> _Fields:
    labeled = find_labeled_values(text)
    masked = mask_side_amounts(text)
    money = find_amount(text, masked, labeled.get("amount"))
    timestamps = _find_days(text, labeled.get("date"))
    issuers = _find_issuers(text, labeled.get("merchant"))
    card = _find_card(text, labeled.get("merchant"))
    if "merchant" in labeled:
        merchant = _Merchant(labeled["merchant"], is_sure=True)
    else:
        others = [*issuers.card_names, *find_labels(text), *find_clocks_and_links(text)]
        others += [each.span for each in timestamps] + ([card.span()] if card else [])
        if "で" in text and (paying := _CARD_PAYS.search(text)):
            others.append(paying.span("name"))
        found = find_unlabeled_name(masked, money.span if money else None, others)
        merchant = _Merchant(None)
        if found:
            merchant = _Merchant(found.span, found.is_sure, found.is_alone)
    return _Fields(labeled, money, timestamps, issuers, card, merchant)


def _make_candidate(
    fields: _Fields, event: _Event, issuer: Issuer | None, text: str
) -> PaymentCandidate:
    card, months = fields.card, find_months(text)
    return PaymentCandidate(
        kind=event.kind,
        kind_span=event.span,
        issuer=issuer,
        issuer_span=fields.issuers.span,
        card_hint_span=card.span("digits") if card else _find_card_name(text),
        is_check_card=True if "デビット" in text else None,
        money=fields.money,
        merchant_span=fields.merchant.span,
        installment_months=months[0] if months else None,
        installment_months_span=months[1] if months else None,
        timestamp=fields.timestamps[0] if fields.timestamps else None,
        is_partial=event.kind is Kind.CANCELLATION and is_partial_refund(text),
        is_merchant_sure=fields.merchant.is_sure,
    )


def _refuse(reason: Reason, result: ParseResult) -> ParseResult:
    """Refuse a text for words of a statement, and tell what it would have been."""
    if not result.recognized:
        return rejected(reason)
    return replace(rejected(reason), would_be=replace(result, doubts=(Doubt.KIND,)))


def _find_days(text: str, labeled: Span | None) -> list[TimestampMatch]:
    """Return the days of use; labeled ones come first."""
    found = [
        each
        for each in find_timestamps(text)
        if not _NO_DAY_OF_USE.match(text, each.span[1])
    ]
    if labeled is None:
        return sorted(found, key=lambda each: not each.has_printed_time)
    start, end = labeled
    return [each for each in found if start <= each.span[0] < end] or found


def _find_issuers(text: str, merchant: Span | None) -> _Issuers:
    """Return the first issuer that is no part of a name."""
    first, card_names = None, []
    for match in islice(_ISSUER.finditer(text), _MAX_ISSUERS):
        if merchant and merchant[0] <= match.start() < merchant[1]:
            continue
        words = _CARD_WORDS.match(text, match.end())
        end = words.end() if words else match.end()
        is_closed = text[end - 1] == ":"
        words_end = match.start() + len(text[match.start() : end].rstrip(" "))
        goes_on = _NAME_GOES_ON.match(text, words_end)
        if merchant is None and not is_closed and goes_on:
            continue
        if first is None or end > match.end() or match[0].endswith(_CARD_ENDS):
            card_names.append((match.start(), end))
        first = first or match
    wallet = _WALLET_TITLE.match(text)
    if wallet:
        card_names.append(wallet.span())
    if first is None:
        return _Issuers(None, None, card_names)
    return _Issuers(get_alias(first[0]).issuer, first.span(), card_names)


def _find_any_issuer(text: str, merchant: Span | None) -> Issuer | None:
    """Return the first issuer outside the name, though letters follow it."""
    for match in islice(_ISSUER.finditer(text), _MAX_ISSUERS):
        if not (merchant and merchant[0] <= match.start() < merchant[1]):
            return get_alias(match[0]).issuer
    return None


def _find_card(text: str, merchant: Span | None) -> re.Match[str] | None:
    for match in islice(_CARD_DIGITS.finditer(text), _MAX_ISSUERS):
        if not (merchant and merchant[0] <= match.start() < merchant[1]):
            return match
    return None


def _find_card_name(text: str) -> Span | None:
    match = _CARD_NAME.search(text) if "カード" in text or "WALLET" in text else None
    if match is None:
        return None
    group = match.lastgroup or "name"
    issuer = find_issuer(match[group])
    # Neither the issuer's own name nor the kind of the card names a product.
    is_product = match[group].strip(" ") not in _KINDS_OF_CARDS and (
        issuer is None or match[group].strip() not in issuer.aliases
    )
    return match.span(group) if is_product else None
