"""A whole ledger as JSON, from which an equal one can be made (spec 3.28)."""

from collections.abc import Iterator, Mapping
from typing import IO

import orjson
from django.conf import settings

from accounts.models import Member
from ledger.backup.export import decrypt_number
from ledger.entries.json_fields import select_fields
from ledger.export.json_shape import (
    FORMAT,
    LISTS,
    SETTINGS,
    SETTINGS_FIELDS,
    VERSION,
    ExportList,
)
from ledger.export.scope import Export, fetch_batches

# Finished by PostgreSQL: in Python it takes three times as long.
_ROWS = """
    SELECT json_strip_nulls(row_to_json(data))::text FROM (
        SELECT {fields} FROM {table} r WHERE r.member_id = %(member)s {order}
    ) data
"""


def write_json(export: Export, file: IO[bytes]) -> None:
    """Write a head, the settings, and each list, one row a line.

    A field that is null, false or empty is left out.
    """
    member = export.member
    (((own_settings,),),) = fetch_batches(
        _select(SETTINGS_FIELDS, "account_ledger"), {"member": member.pk}
    )
    head = {
        "format": FORMAT,
        "version": VERSION,
        "exportedAt": export.made_at.isoformat(),
        "service": settings.VERSION,
        "homeCurrency": settings.HOME_CURRENCY,
        "timeZone": settings.TIME_ZONE,
        SETTINGS: orjson.Fragment(own_settings),
    }
    file.write(orjson.dumps(head).removesuffix(b"}"))
    for each in LISTS:
        file.write(f',\n"{each.name}":['.encode())
        separator = "\n"
        for rows in _fetch_rows(member, each):
            file.write((separator + ",\n".join(rows)).encode())
            separator = ",\n"
        file.write(b"]")
    file.write(b"}\n")


def _fetch_rows(member: Member, each: ExportList) -> Iterator[list[str]]:
    sql = _select(each.all_fields, each.table, f"ORDER BY {each.order_by}")
    for batch in fetch_batches(sql, {"member": member.pk}):
        rows = [text for (text,) in batch]
        if each.encrypted:
            rows = [_decrypt(member, each, text) for text in rows]
        yield rows


def _select(fields: Mapping[str, str], table: str, order: str = "") -> str:
    return _ROWS.format(fields=select_fields(fields), table=table, order=order)


def _decrypt(member: Member, each: ExportList, text: str) -> str:
    row = orjson.loads(text)
    for name in each.encrypted & row.keys():
        row[name] = decrypt_number(member, row[name])
    return orjson.dumps({k: v for k, v in row.items() if v is not None}).decode()
