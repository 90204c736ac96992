"""Find the wallet of a card notification (spec 4.7)."""

from accounts.models import Member
from card_alerts import Issuer, ParseResult, find_issuer, normalize_card_name
from core.db.rows import fetch_all
from ledger.card_notifications.deduplication import can_be_same_card, card_token
from ledger.encryption import DecryptionError
from ledger.models import Wallet
from ledger.wallets import decrypt_account_number

_CARDS = """
    SELECT id, member_id, name, kind, institution, memo,
        account_number AS encrypted_account_number
    FROM account
    WHERE member_id = %s AND kind IN ('CARD', 'CHECK_CARD') AND NOT archived
    ORDER BY sort_order, id
"""
# Shorter names are not searched for in others.
MIN_NAME_LENGTH = 2


def match_wallet(
    member: Member, parsed: ParseResult, given: Wallet | None = None
) -> Wallet | None:
    """Return the card of the notification, or the given wallet unless it is cash.

    The member's only card is returned whatever the text says. Of several, the one
    whose name or institution has the longest overlap with the text; then its digits
    decide, then credit or check card. Without a single match, return `given`.
    """
    if given is not None and given.kind != Wallet.Kind.CASH:
        return given
    cards = fetch_all(_CARDS, [member.pk], Wallet)
    if len(cards) == 1:
        return cards[0]
    company = parsed.card_company
    issuer = find_issuer(company) if company is not None else None
    overlaps = [_name_overlap(card, parsed, issuer) for card in cards]
    longest = max(overlaps, default=0)
    if not longest and company is not None:
        return given
    alike = [
        card
        for card, overlap in zip(cards, overlaps, strict=True)
        if overlap == longest
    ]
    if longest and len(alike) == 1:
        return alike[0]
    with_digits = [card for card in alike if _has_matching_digits(card, parsed)]
    if len(with_digits) == 1:
        return with_digits[0]
    if not longest or parsed.is_check_card is None:
        return given
    kind = Wallet.Kind.CHECK_CARD if parsed.is_check_card else Wallet.Kind.CARD
    of_kind = [card for card in with_digits or alike if card.kind == kind]
    return of_kind[0] if len(of_kind) == 1 else given


def _name_overlap(card: Wallet, parsed: ParseResult, issuer: Issuer | None) -> int:
    """Return the length of the longest name that the card and the text share."""
    longest = 0
    for own_name in (card.name, card.institution):
        mentioned = [name for name in (parsed.card_hint, parsed.card_company) if name]
        # The wallet may have another name of the same company.
        if issuer is not None and find_issuer(own_name) is issuer:
            mentioned += issuer.aliases
        for name in mentioned:
            pair = normalize_card_name(own_name), normalize_card_name(name)
            shorter, longer = sorted(pair, key=len)
            if len(shorter) >= MIN_NAME_LENGTH and shorter in longer:
                longest = max(longest, len(shorter))
    return longest


def _has_matching_digits(card: Wallet, parsed: ParseResult) -> bool:
    """Return True if the card's name, memo or number ends in the printed digits."""
    token = card_token(parsed.card_hint)
    if not token:
        return False
    try:
        account_number = decrypt_account_number(card)
    except DecryptionError:
        account_number = None
    for text in (card.name, card.memo, account_number or ""):
        digits = "".join(letter for letter in text if letter.isdigit() or letter == "*")
        if len(digits) >= len(token) and can_be_same_card(digits, token):
            return True
    return False
