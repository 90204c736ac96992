"""Issuers by names of wallets, senders and apps."""

from collections import defaultdict

import pytest

from card_alerts import find_issuer, find_issuer_by_sender, normalize_card_name
from card_alerts.issuers import ISSUERS


@pytest.mark.parametrize(
    ("name", "issuer"),
    [
        ("신한", "신한"),
        ("신한 체크카드", "신한"),
        ("국민", "KB국민"),
        ("KB 국민카드", "KB국민"),
        ("ＫＢ국민", "KB국민"),
        ("현대카드 M", "현대"),
        ("현대 ZERO", "현대"),
        ("스마일카드", "현대"),
        ("LOCA LIKIT", "롯데"),
        ("로카 365", "롯데"),
        ("NH농협카드", "NH농협"),
        ("농협BC", "NH농협"),
        ("우리BC", "우리"),
        ("BC바로", "BC"),
        ("MG체크카드", "새마을금고"),
        ("JB카드", "전북"),
        ("기업은행", "IBK기업"),
        ("SC제일은행", "SC제일"),
        ("토스뱅크", "토스뱅크"),
        ("토스", "토스"),
        ("삼성월렛", "삼성월렛"),
        ("Chase", "Chase"),
        ("楽天カード", "楽天"),
    ],
)
def test_name_identifies_its_issuer(name: str, issuer: str) -> None:
    found = find_issuer(name)

    assert found is not None
    assert found.name == issuer


@pytest.mark.parametrize(
    "name",
    [
        "우리집 생활비",
        "하나뿐인 통장",
        "현대백화점 상품권",
        "국민연금",
        "School",
        "Schedule",
        "NHN",
        "KBS",
        "Wisely",
        "Upstairs",
        "카드",
        "",
        " ",
    ],
)
def test_everyday_word_identifies_no_issuer(name: str) -> None:
    assert find_issuer(name) is None


@pytest.mark.parametrize(
    ("sender", "issuer"),
    [
        ("15447200", "신한"),
        ("1588-1688", "KB국민"),
        ("+82 1588-8900", "삼성"),
        ("하나카드", "하나"),
        ("com.kbcard.cxh.appcard", "KB국민"),
        ("viva.republica.toss", "토스"),
        ("com.nh.cashcardapp", "NH농협"),
        ("com.wf.wellsfargomobile", "Wells Fargo"),
        ("com.csam.icici.bank.imobile", "ICICI"),
        ("jp.ne.paypay.android.app", "PayPay"),
        ("no.reply.alerts@chase.com", "Chase"),
        ("capitalone@notification.capitalone.com", "Capital One"),
        ("alerts@hdfcbank.net", "HDFC"),
        ("ADCBAlert", "ADCB"),
        ("VM-HDFCBK-S", "HDFC"),
    ],
)
def test_sender_identifies_its_issuer(sender: str, issuer: str) -> None:
    found = find_issuer_by_sender(sender)

    assert found is not None
    assert found.name == issuer


def test_unknown_sender_identifies_no_issuer() -> None:
    assert find_issuer_by_sender("01000000000") is None
    assert find_issuer_by_sender("com.google.android.apps.messaging") is None
    assert find_issuer_by_sender("no-reply@shop.example.com") is None
    assert find_issuer_by_sender("") is None


def test_names_are_normalized_without_spaces_case_and_card_words() -> None:
    assert normalize_card_name("ＫＢ 국민 카드") == normalize_card_name("kb국민")
    assert normalize_card_name("카드") == "카드"


def test_no_name_or_sender_belongs_to_two_issuers() -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for issuer in ISSUERS:
        for name in (*issuer.aliases, *issuer.ambiguous_aliases, *issuer.app_aliases):
            owners[name.replace(" ", "").lower()].add(issuer.name)
        for number in issuer.senders:
            owners[number].add(issuer.name)

    assert {key: names for key, names in owners.items() if len(names) > 1} == {}
