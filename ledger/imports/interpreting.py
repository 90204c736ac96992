"""From the tables of a file to judged rows, without writing anything."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.utils.translation import gettext

from accounts.models import Member
from ledger.cards.existing_payments import read_bills_of_cards
from ledger.entry_shape import MAX_MEMO_LENGTH
from ledger.imports.choices import Choices, OwnWallet
from ledger.imports.errors import UnreadableFileError
from ledger.imports.judging import JudgedRow, entry_type, judge
from ledger.imports.known import load_known
from ledger.imports.preparing import PreparedRows, RowChoice, prepare_rows
from ledger.imports.records import (
    FileReading,
    ReadContext,
    RecordKind,
    Source,
    Table,
)
from ledger.imports.sources import SOURCES, recognize
from ledger.models import Wallet
from ledger.notifications.category_suggestion import suggest_category

# Texts whose category is looked up, the most frequent ones first.
MAX_LEARNED_TEXTS = 500


@dataclass(slots=True)
class Interpretation:
    """A file as the ledger would take it now."""

    reading: FileReading
    prepared: PreparedRows
    # Learned categories by the number of the row.
    learned: dict[int, str]

    @property
    def rows(self) -> list[JudgedRow]:
        return self.prepared.rows


def interpret(
    member: Member,
    tables: Sequence[Table],
    choices: Choices,
    row_choices: Mapping[int, RowChoice],
    today: date,
) -> Interpretation:
    """Read the tables by the choices, and judge the rows beside the ledger as it is."""
    context = ReadContext(today, settings.HOME_CURRENCY)
    source = find_source(tables, choices.source)
    reading = source.read(tables, choices.mapping, context)
    own = list_own_wallets(member)
    prepared = prepare_rows(reading.records, choices, own, row_choices)
    judge(prepared.rows, load_known(member, prepared.rows))
    return Interpretation(reading, prepared, learn_categories(member, prepared.rows))


def find_source(tables: Sequence[Table], name: str | None) -> Source:
    """Return the source that the member names, or that the header shows.

    Raises `UnreadableFileError` for a file of none.
    """
    source = recognize(tables) if name is None else SOURCES[name]
    if source is None:
        raise UnreadableFileError(gettext("The file has no header that is known."))
    return source


def list_own_wallets(member: Member) -> list[OwnWallet]:
    rows = Wallet.objects.owned_by(member).order_by("sort_order", "id")
    columns = rows.values_list("id", "name", "kind", "institution")
    mains = read_bills_of_cards(member).mains
    return [
        OwnWallet(*values)._replace(main_id=mains.get(values[0])) for values in columns
    ]


def learn_categories(member: Member, rows: Sequence[JudgedRow]) -> dict[int, str]:
    """Return the categories of earlier entries with such memos, by row."""
    texts = {
        row.record.row: (entry_type(row.record), row.record.memo[:MAX_MEMO_LENGTH])
        for row in rows
        if row.is_open
        and row.record.kind is RecordKind.FLOW
        and row.record.memo
        and not row.record.category
        and not row.record.lines
    }
    frequent = Counter(texts.values()).most_common(MAX_LEARNED_TEXTS)
    found = {text: suggest_category(member, *text) for text, _ in frequent}
    return {
        number: category
        for number, text in texts.items()
        if (category := found.get(text)) is not None
    }
