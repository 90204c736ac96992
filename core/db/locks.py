"""All PostgreSQL advisory locks, in the order of `docs/architecture.md`."""

from enum import IntEnum

from django.db import connection

# Ids beyond 31 bits share keys, which costs a wait.
KEY_RANGE = 2**31


class AdvisoryLock(IntEnum):
    """First halves of the keys; comments name the second half."""

    LEGAL_DOCUMENTS = 0x4C44  # none: publications; sign-ups share it
    ACCOUNT_DELETION = 0x424F4152  # none: one for the service
    LEDGER = 0x4C45  # member
    ANNOUNCEMENTS = 0x414E  # none: writers of announcements
    SWITCHES = 0x5357  # none: changes of switches; who depends on one shares it
    PURCHASE_TOKEN = 0x4249  # hash of the token


def advisory_xact_lock(
    lock: AdvisoryLock,
    object_id: int = 0,
    setting: str = "",
    *,
    is_shared: bool = False,
) -> None:
    """Keep the lock, and a setting such as `ledger.records`, until the end.

    The setting is a constant, which is turned on.
    """
    function = f"pg_advisory_xact_lock{'_shared' if is_shared else ''}"
    with connection.cursor() as cursor:
        if setting:
            # Citus sends the whole text of a SET to the workers.
            cursor.execute(f"SET LOCAL {setting} = 'on'")
        cursor.execute(
            f"SELECT {function}(%s, %s)",
            [lock, object_id % KEY_RANGE],
        )


def make_lock_key(object_id: int) -> int:
    return object_id % KEY_RANGE
