"""The feed of changes, from which a client keeps a copy of a ledger (spec 3.26).

Rows come in the order of (version, kind, id). A version is the revision that wrote the
row, and revisions are given in the order of the commits (`ledger/sql/versions.sql`):
what a later page has was written later, and no row is skipped. One statement reads a
page and the revision that it is of.
"""

from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar

import orjson
from django.utils import timezone

from accounts.models import Member
from core.api.exception_handler import AuthenticationRequiredError
from core.db.rows import fetch_all, fetch_one
from ledger.base.encryption import DecryptionError
from ledger.changes.cursors import LAST_KIND, Cursor
from ledger.changes.kinds import list_kinds
from ledger.entries.json_fields import select_fields
from ledger.errors import CursorExpiredError
from ledger.models import RowKind, Wallet
from ledger.wallets.valuations import moved_since_sql
from ledger.wallets.wallets import (
    decrypt_account_number,
    log_undecryptable_number,
)

Row = TypeVar("Row")
MAX_ID = 2**63 - 1
# A new copy needs no deletion from before it began.
NEWEST = MAX_ID
_STATE = """
    SELECT revision, oldest_cursor FROM account_ledger WHERE member_id = %(member)s
"""
# The balances as `select_wallets` has them, in the statement of a page without rows.
_STATE_AND_BALANCES = """
    SELECT revision, oldest_cursor, (
        SELECT coalesce(json_agg(json_build_object(
            'walletId', w.id,
            'balance', w.opening_balance + coalesce(total.balance, 0),
            'currentValue', CASE WHEN w.manual_valuation AND w.current_value IS NOT NULL
                THEN w.current_value + {moved_since} END
        ) ORDER BY w.sort_order, w.id), '[]')::text
        FROM account w LEFT JOIN account_wallet_total total
            ON total.member_id = w.member_id AND total.wallet_id = w.id
        WHERE w.member_id = %(member)s
    ) AS balances
    FROM account_ledger WHERE member_id = %(member)s
""".format(moved_since=moved_since_sql("w.id"))  # noqa: S608 - constants
# For each kind a place of its own: rows of the last version that were not read yet.
_ROWS_OF_KIND = """(
    SELECT {version} AS version, '{name}' AS kind, {id} AS id, false AS deleted
    FROM {table} r
    WHERE r.member_id = %(member)s
        AND ({version}, {id}) > (%(version)s, %(after_{name})s)
    ORDER BY {version}, {id} LIMIT {limit}
)"""
_DELETED_ROWS = """(
    SELECT version, kind, row_id AS id, true AS deleted
    FROM account_tombstone
    WHERE member_id = %(member)s AND version > %(base)s
        AND (version, kind COLLATE "C", row_id) > (%(version)s, %(kind)s, %(id)s)
        AND kind = ANY(%(kinds)s)
    ORDER BY version, kind COLLATE "C", row_id LIMIT {limit}
)"""
_DATA_OF_KIND = """
    WHEN '{name}' THEN (
        SELECT row_to_json(data)::text FROM (
            SELECT {fields} FROM {table} r
            WHERE r.member_id = %(member)s {and_id}
        ) data
    )"""
_PAGE = """
    WITH page AS MATERIALIZED (
        SELECT version, kind, id, deleted FROM ({rows}) found
        ORDER BY version, kind COLLATE "C", id LIMIT {limit}
    )
    SELECT state.revision, state.oldest_cursor, page.version, page.kind, page.id,
        page.deleted,
        CASE WHEN NOT page.deleted THEN CASE page.kind {data} END END AS data
    FROM ({state}) state LEFT JOIN page ON true
    ORDER BY page.version, page.kind COLLATE "C", page.id
"""
# A sum of numbers of 60 bits, one for each row.
_DIGEST_OF_KIND = """
    SELECT '{name}' AS kind, count(*) AS row_count,
        mod(coalesce(sum(
            ('x' || left(md5('{name}:' || {id} || ':' || {version}), 15)
            )::bit(60)::bigint
        ), 0), 1152921504606846976)::text AS digest
    FROM {table} r WHERE r.member_id = %(member)s
"""
_DIGEST = """
    SELECT state.revision, kinds.kind, kinds.row_count, kinds.digest
    FROM ({state}) state, ({kinds}) kinds
"""


class State(NamedTuple):
    """`balances` are the JSON of a list."""

    revision: int
    oldest_cursor: int
    balances: str


class PageRow(NamedTuple):
    """A row of a page; an empty page is one row without a version."""

    revision: int
    oldest_cursor: int
    version: int | None
    kind: str
    id: int
    deleted: bool
    data: str | None


class DigestRow(NamedTuple):
    revision: int
    kind: str
    row_count: int
    digest: str


@dataclass(frozen=True, slots=True)
class ChangePage:
    """`balances` come with the last page only."""

    changes: list[dict[str, Any]]
    cursor: Cursor
    has_more: bool
    balances: orjson.Fragment | None


@dataclass(frozen=True, slots=True)
class Digest:
    cursor: Cursor
    kinds: dict[str, dict[str, Any]]


def read_changes(
    member: Member, since: Cursor | None, size: int, *, has_paid_kinds: bool
) -> ChangePage:
    """Return the rows after a cursor, of a whole copy without one.

    Raises `CursorExpiredError` if the ledger was replaced since.
    """
    today = timezone.localdate()
    if since is not None and since.is_at_end:
        state = _read_state(member)
        if since.version == state.revision and since.base >= state.oldest_cursor:
            cursor = since._replace(base_day=today)
            return ChangePage(
                [], cursor, has_more=False, balances=orjson.Fragment(state.balances)
            )
    start = since or Cursor(0, "", 0, NEWEST, today, has_paid_kinds)
    rows = _read_rows(member, start, size + 1)
    if since is None:
        start = start._replace(base=rows[0].revision)
    # A database that was recovered to an earlier time does not know a later place.
    if start.base < rows[0].oldest_cursor or start.version > rows[0].revision:
        raise CursorExpiredError
    found = [row for row in rows[:size] if row.version is not None]
    changes = [_describe(member, row) for row in found]
    if len(rows) > size:
        last = found[-1]
        version = last.version or 0
        cursor = start._replace(version=version, kind=last.kind, id=last.id)
        return ChangePage(changes, cursor, has_more=True, balances=None)
    cursor = _end_of(rows[0].revision, today, has_paid_kinds=has_paid_kinds)
    balances = orjson.Fragment(_read_state(member).balances)
    return ChangePage(changes, cursor, has_more=False, balances=balances)


def _read_state(member: Member) -> State:
    state = fetch_one(_STATE_AND_BALANCES, {"member": member.pk}, State)
    if state is None:
        raise AuthenticationRequiredError
    return state


def _end_of(revision: int, today: date, *, has_paid_kinds: bool) -> Cursor:
    return Cursor(revision, LAST_KIND, 0, revision, today, has_paid_kinds)


def _read_rows(member: Member, since: Cursor, limit: int) -> list[PageRow]:
    kinds = list_kinds(is_paid=since.has_paid_kinds)
    params: dict[str, Any] = {
        "member": member.pk,
        "version": since.version,
        "kind": since.kind,
        "id": since.id,
        "base": since.base,
        "kinds": [kind.name.value for kind in kinds],
    }
    for kind in kinds:
        name = kind.name.value
        after = (
            since.id if name == since.kind else (-1 if name > since.kind else MAX_ID)
        )
        params[f"after_{name}"] = after
    statement = _make_page_statement(is_paid=since.has_paid_kinds, limit=limit)
    return _require_ledger(fetch_all(statement, params, PageRow))


def _require_ledger(rows: list[Row]) -> list[Row]:
    """Raise `AuthenticationRequiredError` if the account was deleted meanwhile."""
    if not rows:
        raise AuthenticationRequiredError
    return rows


@lru_cache(maxsize=16)
def _make_page_statement(*, is_paid: bool, limit: int) -> str:
    kinds = list_kinds(is_paid=is_paid)
    parts = [
        _ROWS_OF_KIND.format(
            name=kind.name.value,
            table=kind.table,
            id=kind.id,
            version=kind.version,
            limit=limit,
        )
        for kind in kinds
    ]
    data = "".join(
        _DATA_OF_KIND.format(
            name=kind.name.value,
            table=kind.table,
            fields=select_fields(kind.fields),
            and_id="AND r.id = page.id" if kind.id == "r.id" else "",
        )
        for kind in kinds
    )
    rows = " UNION ALL ".join([*parts, _DELETED_ROWS.format(limit=limit)])
    return _PAGE.format(rows=rows, data=data, state=_STATE, limit=limit)


def _describe(member: Member, row: PageRow) -> dict[str, Any]:
    data: Any = None
    if row.data is not None:
        is_wallet = row.kind == RowKind.WALLET
        data = _decrypt(member, row.data) if is_wallet else orjson.Fragment(row.data)
    return {
        "kind": row.kind,
        "id": row.id,
        "version": row.version,
        "deleted": row.deleted,
        "data": data,
    }


def _decrypt(member: Member, text: str) -> dict[str, Any]:
    """Return the data of a wallet with its account number as the API has it."""
    data: dict[str, Any] = orjson.loads(text)
    wallet = Wallet(member=member, encrypted_account_number=data["accountNumber"])
    try:
        data["accountNumber"] = decrypt_account_number(wallet)
    except DecryptionError:
        log_undecryptable_number(wallet)
        data["accountNumber"] = None
    return data


def compute_digest(member: Member, *, has_paid_kinds: bool) -> Digest:
    """Return a count and a sum of all rows by kind, and the cursor that they are of."""
    statement = _make_digest_statement(is_paid=has_paid_kinds)
    params = {"member": member.pk}
    rows = _require_ledger(fetch_all(statement, params, DigestRow))
    cursor = _end_of(
        rows[0].revision, timezone.localdate(), has_paid_kinds=has_paid_kinds
    )
    return Digest(
        cursor,
        {row.kind: {"count": row.row_count, "digest": row.digest} for row in rows},
    )


@cache
def _make_digest_statement(*, is_paid: bool) -> str:
    parts = [
        _DIGEST_OF_KIND.format(
            name=kind.name.value, table=kind.table, id=kind.id, version=kind.version
        )
        for kind in list_kinds(is_paid=is_paid)
    ]
    return _DIGEST.format(state=_STATE, kinds=" UNION ALL ".join(parts))
