"""The wallet of a notification: the only card, or the card that the text names."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind, ParseResult
from ledger.models import Wallet
from ledger.notifications.wallets import match_wallet
from ledger.wallets.wallets import create_wallet
from tests.support.factories import make_wallet

pytestmark = pytest.mark.django_db


def parsed_text(
    company: Any = None, hint: Any = None, *, is_check_card: Any = None
) -> Any:
    return ParseResult(
        recognized=True,
        kind=Kind.APPROVAL,
        amount=100,
        card_company=company,
        card_hint=hint,
        is_check_card=is_check_card,
    )


@pytest.fixture
def card(free_member: Member) -> Any:
    return lambda name, institution="", kind="CARD", **fields: make_wallet(
        free_member, name=name, institution=institution, kind=kind, **fields
    )


@pytest.fixture
def match(free_member: Member) -> Any:
    def find(*words: Any, given: Any = None, **fields: Any) -> Any:
        wallet = match_wallet(free_member, parsed_text(*words, **fields), given)
        return wallet and wallet.name

    return find


def test_only_card_is_used_whatever_the_text_says(
    card: Any, match: Any, free_member: Member
) -> None:
    make_wallet(free_member, kind="BANK", name="신한은행")
    card("내 카드", "현대")
    card("옛 카드", "신한", archived=True)
    assert match("신한") == "내 카드"
    assert match() == "내 카드"


def test_only_check_card_is_a_card(card: Any, match: Any) -> None:
    card("체크", kind="CHECK_CARD")
    assert match("KB국민") == "체크"


@pytest.mark.parametrize(
    ("name", "institution", "company", "hint"),
    [
        ("신한카드", "", "신한", None),
        ("신한", "", "신한", "1309"),
        ("생활비", "신한카드", "신한", None),
        ("국민 체크", "", "KB국민", None),
        ("KB", "", "KB국민", None),
        ("로카", "", "롯데", None),
        ("LOCA LIKIT", "", "롯데", "LOCA LIKIT 2.0"),
        ("농협", "", "NH농협", None),
        ("기업은행 카드", "", "IBK기업", None),
        ("MX Black", "", "현대", "현대 MX Black"),
        ("chase sapphire", "", "Chase", None),
    ],
)
def test_card_is_found_by_containment_in_either_direction(
    card: Any, match: Any, name: str, institution: str, company: str, hint: str | None
) -> None:
    card(name, institution)
    card("삼성 iD", "삼성카드")
    assert match(company, hint) == name


def test_text_that_names_no_card_matches_none(card: Any, match: Any) -> None:
    card("신한카드")
    card("삼성카드")
    assert match("현대") is None
    assert match() is None


def test_longest_match_wins(card: Any, match: Any) -> None:
    card("현대카드")
    card("현대카드 MX Black")
    assert match("현대", "현대 MX Black") == "현대카드 MX Black"
    card("토스")
    card("토스뱅크 체크")
    assert match("토스뱅크") == "토스뱅크 체크"


def test_digits_distinguish_two_cards_of_one_company(
    match: Any, free_member: Member, settings: Any
) -> None:
    for name, number in (("첫 신한", "5555-1309"), ("둘째 신한", "5555-2222")):
        values = {"name": name, "kind": "CARD", "account_number": number}
        create_wallet(free_member, values, timezone.now())
    assert match("신한", "1309") == "첫 신한"
    assert match("신한", "2*2*") == "둘째 신한"
    assert match("신한", "7777") is None
    assert match("신한") is None


def test_digits_in_the_name_match(card: Any, match: Any) -> None:
    card("신한 1309")
    card("신한 2222")
    assert match("신한", "2222") == "신한 2222"
    assert match(None, "1309") == "신한 1309"


def test_type_of_the_card_is_compared_last(card: Any, match: Any) -> None:
    card("국민카드")
    card("국민체크", kind="CHECK_CARD")
    assert match("KB국민", is_check_card=True) == "국민체크"
    assert match("KB국민", is_check_card=False) == "국민카드"
    assert match("KB국민") is None


@pytest.mark.parametrize("name", ["카드", "은행 카드", "K", "-"])
def test_name_of_card_words_matches_nothing(card: Any, match: Any, name: str) -> None:
    card(name)
    card("삼성카드")
    assert match("현대") is None


def test_given_cash_is_replaced_by_the_card(
    card: Any, match: Any, free_member: Member
) -> None:
    cash = make_wallet(free_member, name="현금", kind="CASH")
    assert match("신한", given=cash) == "현금"
    card("신한카드")
    assert match("신한", given=cash) == "신한카드"
    card("삼성카드")
    assert match("현대", given=cash) == "현금"


def test_other_given_wallet_is_kept(card: Any, match: Any, free_member: Member) -> None:
    card("신한카드")
    bank = make_wallet(free_member, name="통장", kind="BANK")
    assert match("신한", given=bank) == "통장"


def test_cards_of_other_members_do_not_match(match: Any, other_member: Member) -> None:
    make_wallet(other_member, kind="CARD", name="신한카드")
    assert match("신한") is None
    assert Wallet.objects.count() == 1


def test_undecryptable_account_number_is_ignored(card: Any, match: Any) -> None:
    card("신한 하나", encrypted_account_number="aes256gcm:broken")
    card("신한 둘")
    assert match("신한", "1309") is None
