"""Choose the name of the paying card, and mask names of issuers."""

from card_alerts.korean.issuer_match import IssuerMatch
from card_alerts.masked_text import AMOUNT, INSTALLMENT, ISSUER, TIMESTAMP, MaskedText
from card_alerts.patterns import pattern

_REPEATED_PRODUCT = pattern(
    rf"[ ][A-Za-z0-9 ]{{1,20}}(?=[{INSTALLMENT}])",
    example=f"현대카드 M{INSTALLMENT}, {TIMESTAMP}",
)


def choose_issuer_match(matches: list[IssuerMatch], text: str) -> IssuerMatch | None:
    """Prefer a card to an app.

    After the amount only an unambiguous name is an issuer.
    """
    amount = text.find(AMOUNT)
    limit = amount if amount >= 0 else len(text)
    if (
        len(matches) == 1
        and (only := matches[0]).span[0] < limit
        and not (only.is_app or only.has_following_word)
    ):
        # Most messages name one card, before the amount.
        return only
    matches = [match for match in matches if not match.is_merchant_after_amount]
    certain = [match for match in matches if not match.has_following_word]
    uncertain = [
        match
        for match in matches
        if match.has_following_word and not match.opens_merchant_line
    ]
    chosen = _choose_among(certain, limit) or _choose_among(uncertain, limit)
    if chosen is None:
        return None
    same = [match for match in matches if match.issuer is chosen.issuer]
    with_digits = [match for match in same if match.digits]
    with_keyword = [match for match in same if match.has_keyword]
    with_product = [match for match in same if match.product]
    return (with_digits or with_product or with_keyword or [chosen])[0]


def _choose_among(matches: list[IssuerMatch], limit: int) -> IssuerMatch | None:
    cards = [match for match in matches if not match.is_app]
    early = [match for match in cards if match.span[0] < limit]
    likeliest = (
        [match for match in early if match.digits or match.has_keyword]
        or [match for match in cards if match.digits]
        or [match for match in early if match.is_unambiguous]
        or [match for match in cards if match.is_unambiguous]
        or early
        or [
            match
            for match in matches
            if match.is_app and (match.span[0] < limit or match.is_voucher)
        ]
    )
    return likeliest[0] if likeliest else None


def mask_issuer_matches(
    masked: MaskedText, matches: list[IssuerMatch], chosen: IssuerMatch
) -> None:
    spans = []
    for match in matches:
        is_heading = match.end <= chosen.span[0] and match.is_heading
        is_same_card = match.repeats(chosen) or (
            match.issuer is chosen.issuer and match.has_keyword
        )
        if match is chosen or match.digits or is_heading or is_same_card:
            start = match.span[0]
            if match is chosen:
                start = match.start_with_product
            product = _REPEATED_PRODUCT.match(masked.text, match.end)
            spans.append((start, product.end() if product else match.end))
    masked.mask_spans(spans, ISSUER)


def find_heading_above(
    matches: list[IssuerMatch], chosen: IssuerMatch, text: str
) -> IssuerMatch | None:
    """Return a name on a line of its own above the chosen one (네이버페이)."""
    for match in matches:
        rest = text[match.end :].lstrip(" ")
        if match is not chosen and not match.digits and rest.startswith("\n"):
            return match if match.end <= chosen.span[0] else None
    return None
