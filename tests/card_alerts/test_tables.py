"""The files of card_alerts/data: a wrong row is named when it is read."""

import re
from pathlib import Path

import pytest

from card_alerts.tables import (
    DATA,
    TableError,
    alternatives,
    read_currencies,
    read_issuers,
    read_products,
    read_words,
)

FILE = "table.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / FILE).write_text(text, encoding="utf-8")


def test_every_file_is_read() -> None:
    names = {path.name for path in DATA.iterdir()}

    assert names == {
        "card_names.toml",
        "currencies.toml",
        "english_issuers.toml",
        "japanese_issuers.toml",
        "korean_issuers.toml",
        "products.toml",
        "words.toml",
    }


def test_issuer_without_names_is_named_as_its_row(folder: Path) -> None:
    write(folder, 'Chase = { packages = ["chase"] }\nTD = { aliases = ["TD Bank"] }\n')

    one, other = read_issuers(FILE, folder)

    assert (one.name, one.aliases, one.packages) == ("Chase", ("Chase",), ("chase",))
    assert (other.name, other.aliases) == ("TD", ("TD Bank",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('TD = { alias = ["TD"] }', "TD: alias: unknown key"),
        ('TD = { name = "TD" }', "TD: name: unknown key"),
        ('TD = { aliases = "TD" }', "TD: aliases: 'TD' is no list"),
        ("TD = { aliases = [1] }", "TD: aliases: 1 is no word"),
        ('TD = { aliases = [""] }', "TD: aliases: '' is no word"),
        ('TD = { aliases = [" TD"] }', "TD: aliases: ' TD' is no word"),
        ('TD = { aliases = ["A", "A"] }', "TD: aliases: 'A' is there twice"),
        (
            'TD = { aliases = ["A"], app_aliases = ["A"] }',
            "TD: app_aliases: 'A' is of TD",
        ),
        ('A = { aliases = ["T D"] }\nTD = {}', "TD: aliases: 'TD' is of A"),
        (
            'A = { senders = ["15"] }\nTD = { senders = ["15"] }',
            "TD: senders: '15' is of A",
        ),
        ("TD = { is_day_first = 1 }", "TD: is_day_first: 1 is no bool"),
        ('TD = { dollar_currency = "" }', "TD: dollar_currency: '' is no str"),
        ("TD = 1", "TD: is no table"),
        ('"" = {}', "a row has no name"),
        ("TD = {}\nTD = {}", "Cannot overwrite a value"),
    ],
)
def test_wrong_issuer_is_named(folder: Path, text: str, message: str) -> None:
    write(folder, text)

    with pytest.raises(TableError, match=re.escape(f"{FILE}: {message}")):
        read_issuers(FILE, folder)


def test_wrong_product_is_named(folder: Path) -> None:
    write(folder, 'A = { product = ["B"] }')

    with pytest.raises(TableError, match=f"{FILE}: A: product: unknown key"):
        read_products(FILE, folder)


def test_wrong_word_is_named(folder: Path) -> None:
    write(folder, 'adverts = ["a", "a"]')

    with pytest.raises(TableError, match=f"{FILE}: adverts: 'a' is there twice"):
        read_words(FILE, folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('codes = ["USD"]\nsigns = {}\nletters = {}', "words: unknown or missing key"),
        (
            'codes = ["USD"]\nsigns = {}\nwords = {}\nletters = {}\na = 1',
            "a: unknown or missing key",
        ),
        (
            'codes = ["USD"]\nsigns = {"€" = "EUR"}\nwords = {}\nletters = {}',
            "signs: €: 'EUR' is no code",
        ),
        (
            'codes = "USD"\nsigns = {}\nwords = {}\nletters = {}',
            "codes: 'USD' is no list",
        ),
        ('codes = ["USD"]\nsigns = {}\nletters = {}\nwords = 1', "words: is no table"),
    ],
)
def test_wrong_currency_is_named(folder: Path, text: str, message: str) -> None:
    write(folder, text)

    with pytest.raises(TableError, match=re.escape(f"{FILE}: {message}")):
        read_currencies(FILE, folder)


def test_blank_in_a_word_may_be_left_out() -> None:
    pattern = re.compile(alternatives(("현금 영수증", "(주)")))

    assert [pattern.fullmatch(text) is not None for text in ("현금영수증", "(주)")] == [
        True,
        True,
    ]
    assert pattern.fullmatch("현금 영수증")
    assert not pattern.fullmatch("주")
