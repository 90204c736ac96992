"""Read the tables of words, products, currencies and issuers: the files of `data/`.

A table is checked as it is read; its README describes the keys.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from card_alerts.issuer import Issuer

DATA = Path(__file__).resolve().parent / "data"


# No two issuers share a name or a number.
_UNIQUE_KEYS = ("aliases", "ambiguous_aliases", "app_aliases", "senders")


class TableError(ValueError):
    """A table is wrong; the message names its file, row and key."""


@dataclass(frozen=True, slots=True)
class Products:
    """The cards whose messages do not name their issuer; `name` is an alias of it."""

    name: str
    products: tuple[str, ...] = ()
    # Edition2 may follow the name.
    edition_products: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        named = "|".join(map(re.escape, self.products))
        editions = "|".join(map(re.escape, self.edition_products))
        if not editions:
            return named
        return rf"{named}|(?:{editions})(?:[ ]Edition[ ]?\d?)?"


@dataclass(frozen=True, slots=True)
class Currencies:
    codes: tuple[str, ...]
    code_by_word: dict[str, str]
    code_by_sign: dict[str, str]
    code_by_letters: dict[str, str]


def read_issuers(file: str, folder: Path = DATA) -> tuple[Issuer, ...]:
    """Read the rows of a file; an issuer without names is named as its row."""
    issuers = []
    seen: dict[str, str] = {}
    for row, values in _read_rows(file, folder):
        checked = _check(Issuer, values, f"{file}: {row}")
        if not checked.keys() & {"aliases", "ambiguous_aliases", "app_aliases"}:
            checked["aliases"] = (row,)
        issuer = Issuer(name=row, **checked)
        own: set[str] = set()
        for key in _UNIQUE_KEYS:
            for name in getattr(issuer, key):
                other = seen.setdefault("".join(name.split()).lower(), row)
                if other != row or name in own:
                    raise TableError(f"{file}: {row}: {key}: {name!r} is of {other}")
                own.add(name)
        issuers.append(issuer)
    return tuple(issuers)


def read_products(file: str, folder: Path = DATA) -> tuple[Products, ...]:
    return tuple(
        Products(name=row, **_check(Products, values, f"{file}: {row}"))
        for row, values in _read_rows(file, folder)
    )


@cache
def read_words(file: str, folder: Path = DATA) -> dict[str, tuple[str, ...]]:
    """Return the lists of words by their names."""
    table = _read(file, folder)
    return {row: _words(words, f"{file}: {row}") for row, words in table.items()}


def read_currencies(file: str, folder: Path = DATA) -> Currencies:
    table = _read(file, folder)
    unknown = table.keys() ^ {"codes", "words", "signs", "letters"}
    if unknown:
        raise TableError(f"{file}: {min(unknown)}: unknown or missing key")
    codes = _words(table["codes"], f"{file}: codes")
    for row in ("words", "signs", "letters"):
        for key, code in _check_row(table[row], f"{file}: {row}").items():
            if not key or code not in codes:
                raise TableError(f"{file}: {row}: {key}: {code!r} is no code")
    return Currencies(codes, table["words"], table["signs"], table["letters"])


def alternatives(words: tuple[str, ...]) -> str:
    """Return the pattern of one of the words; a blank in a word may be left out.

    The pattern is for `re.VERBOSE`, too.
    """
    return "|".join("[ ]?".join(map(re.escape, word.split(" "))) for word in words)


def _read(file: str, folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((folder / file).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{file}: {error}") from error


def _read_rows(file: str, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for row, values in _read(file, folder).items():
        if not row.strip():
            raise TableError(f"{file}: a row has no name")
        yield row, _check_row(values, f"{file}: {row}")


def _check_row(values: object, place: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise TableError(f"{place}: is no table")
    return values


def _check(
    row_type: type[Issuer] | type[Products], values: Mapping[str, object], place: str
) -> dict[str, Any]:
    """Compare values with the fields of a row: the type of a default is the field's."""
    known: dict[str, Field[Any]] = {
        field.name: field for field in fields(row_type) if field.default is not MISSING
    }
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise TableError(f"{place}: {key}: unknown key")
        wanted = type(known[key].default)
        if wanted is tuple:
            checked[key] = _words(value, f"{place}: {key}")
        elif type(value) is wanted and value != "":
            checked[key] = value
        else:
            raise TableError(f"{place}: {key}: {value!r} is no {wanted.__name__}")
    return checked


def _words(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TableError(f"{place}: {value!r} is no list")
    for word in value:
        if not isinstance(word, str) or not word.strip() or word != word.strip(" "):
            raise TableError(f"{place}: {word!r} is no word")
        if value.count(word) > 1:
            raise TableError(f"{place}: {word!r} is there twice")
    return tuple(value)
