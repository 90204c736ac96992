"""The readers of files by app and bank, and which of them a file is for.

A new source is a module here and a row of `_NAMED`; docs/import.md tells the steps.
"""

from collections.abc import Mapping, Sequence

from ledger.imports.records import Source, Table
from ledger.imports.sources.actual import ActualSource
from ledger.imports.sources.banksalad import BankSaladSource
from ledger.imports.sources.easymoney import EasyMoneySource
from ledger.imports.sources.ezbookkeeping import EzBookkeepingSource
from ledger.imports.sources.firefly import FireflySource
from ledger.imports.sources.generic import TABLE_KINDS, GenericSource
from ledger.imports.sources.hyundaicard import HYUNDAICARD
from ledger.imports.sources.ibk import IBK
from ledger.imports.sources.kakaobank import KAKAOBANK
from ledger.imports.sources.kbbank import KBBANK
from ledger.imports.sources.kbcard import KBCARD
from ledger.imports.sources.own import OwnSource
from ledger.imports.sources.qif import QifSource
from ledger.imports.sources.samsungcard import SAMSUNGCARD
from ledger.imports.sources.shinhanbank import SHINHANBANK
from ledger.imports.sources.shinhancard import SHINHANCARD
from ledger.imports.sources.statements import StatementSource
from ledger.imports.sources.tossbank import TOSSBANK
from ledger.imports.sources.wooricard import WOORICARD
from ledger.imports.sources.ynab import YnabSource

# Recognized by their headers, in this order; a file of none is a generic one.
_NAMED: tuple[Source, ...] = (
    *(EasyMoneySource(), BankSaladSource()),
    *(TOSSBANK, KAKAOBANK, KBBANK, SHINHANBANK, IBK),
    *(SAMSUNGCARD, SHINHANCARD, KBCARD, HYUNDAICARD, WOORICARD),
    *(FireflySource(), EzBookkeepingSource(), YnabSource(), ActualSource()),
)

_GENERIC: tuple[Source, ...] = (
    OwnSource(),
    *map(StatementSource, ("ofx", "camt053", "mt940")),
    QifSource(),
    *map(GenericSource, TABLE_KINDS),
)

SOURCES: Mapping[str, Source] = {source.name: source for source in (*_NAMED, *_GENERIC)}


def recognize(tables: Sequence[Table]) -> Source | None:
    """Return the first source that the file is one of, None for a file of none."""
    for source in SOURCES.values():
        if source.recognizes(tables):
            return source
    return None
