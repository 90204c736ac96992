"""The readers of files by app and bank, and which of them a file is for.

A new source is a module here and a row of `_NAMED`; docs/import.md tells the steps.
"""

from collections.abc import Mapping, Sequence

from ledger.imports.records import Source, Table
from ledger.imports.sources.generic import TABLE_KINDS, GenericSource
from ledger.imports.sources.qif import QifSource
from ledger.imports.sources.statements import StatementSource

# Recognized by their headers, in this order; a file of none is a generic one.
_NAMED: tuple[Source, ...] = ()

_GENERIC: tuple[Source, ...] = (
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
