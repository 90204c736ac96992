"""Keys of imported rows: what tells a row apart from all others of its wallet. Pure.

A key is the digest of date, time, signed amount and text, and of the number among equal
rows of the file: two equal coffees of one day are two rows, and the same file read
twice has the same keys. The wallet stands beside the digest, since the member may move
it. A bank's own id makes a second key: banks change their ids (spec 3.29).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from ledger.imports.records import Direction, Record
from ledger.imports.texts import normalize_text
from ledger.models.imports import DIGEST_BYTES

# The wallet that a row is booked on: an id, the name of a new one, or none.
WalletRef = int | str | None


def signed_amount(record: Record) -> int:
    """Return what the row adds to its wallet; 0 where only another currency is told."""
    amount = record.amount or 0
    return -amount if record.direction is Direction.OUT else amount


def number_rows(
    records: Iterable[tuple[Record, WalletRef]],
) -> Iterator[tuple[bytes, ...]]:
    """Yield the digests of each row, in order: its own, and that of the bank's id."""
    seen: Counter[tuple[WalletRef, str]] = Counter()
    for record, wallet in records:
        content = describe(record)
        number = seen[wallet, content]
        seen[wallet, content] += 1
        digests = [make_digest(f"{content}|{number}")]
        if record.external_id:
            digests.append(make_digest(f"id|{normalize_text(record.external_id)}"))
        yield tuple(digests)


def describe(record: Record) -> str:
    original = record.original_amount
    return "|".join(
        (
            record.date.isoformat(),
            record.time.isoformat("seconds") if record.time else "",
            str(signed_amount(record)),
            "" if original is None else f"{record.direction}{original.normalize():f}",
            normalize_text(record.text or record.memo),
        )
    )


def make_digest(content: str) -> bytes:
    return hashlib.blake2b(content.encode(), digest_size=DIGEST_BYTES).digest()
