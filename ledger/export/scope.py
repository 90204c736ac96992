"""Which part of a ledger an export has, and how its rows are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db import connection

from accounts.models import Member

# Rows per batch: memory stays constant.
BATCH_SIZE = 2_000
_TOUCHES_WALLET = """(
    r.wallet_id = %(wallet)s OR r.to_wallet_id = %(wallet)s OR r.id IN (
        SELECT touched.entry_id FROM account_entry_line touched
        WHERE touched.member_id = %(member)s AND touched.wallet_id = %(wallet)s
    )
)"""


@dataclass(frozen=True, slots=True)
class Scope:
    """The entries of an export: days are inclusive, None is open.

    An entry is of a wallet if it moves its money, from either side.
    """

    start: date | None = None
    end: date | None = None
    wallet_id: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.start is None and self.end is None and self.wallet_id is None

    @property
    def params(self) -> dict[str, Any]:
        return {"start": self.start, "end": self.end, "wallet": self.wallet_id}

    def conditions(self) -> str:
        """Return SQL over an entry `r`, which has no pending start of a write."""
        parts = ["r.line_count IS NOT NULL"]
        if self.start is not None:
            parts.append("r.date >= %(start)s")
        if self.end is not None:
            parts.append("r.date <= %(end)s")
        if self.wallet_id is not None:
            parts.append(_TOUCHES_WALLET)
        return " AND ".join(parts)


@dataclass(frozen=True, slots=True)
class Export:
    """One export of a member's ledger, made at a moment."""

    member: Member
    scope: Scope
    made_at: datetime


def fetch_batches(
    sql: str, params: Mapping[str, Any]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query in batches, by a cursor of the server."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, params)
        while batch := cursor.fetchmany(BATCH_SIZE):
            yield batch
