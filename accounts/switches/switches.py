"""Switches that administrators turn (spec 7.11).

A request asks what its process has read a moment ago. Who writes asks again in the
transaction of the write, so that nothing is written after a switch was turned off.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction

from accounts.errors import SwitchedOffError
from accounts.models import ApplicationSetting, Member
from accounts.security.audit_log import CHANGE, log_admin_action
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import DomainError, ReadOnlyError

Switch = ApplicationSetting.Name

# Both are one round trip; the second statement sees what was committed before the lock.
_LOCK_AND_READ = """
    SELECT pg_advisory_xact_lock_shared(%s, 0);
    SELECT enabled FROM application_setting WHERE name = %s
"""


@dataclass(frozen=True, slots=True)
class Switches:
    """The switches; the defaults are those of a setting that was never written."""

    signup: bool = True
    posting: bool = True
    images: bool = True
    identity_providers: bool = True
    read_only: bool = False


# The field of each setting.
FIELDS: Mapping[Switch, str] = {
    Switch.SIGNUP_ENABLED: "signup",
    Switch.POSTING: "posting",
    Switch.IMAGES: "images",
    Switch.IDENTITY_PROVIDERS: "identity_providers",
    Switch.READ_ONLY: "read_only",
}
DEFAULTS: Mapping[Switch, bool] = {
    name: getattr(Switches(), field) for name, field in FIELDS.items()
}


class KnownSwitches:
    """The switches as this process has read them a moment ago."""

    def __init__(self) -> None:
        self.read_at: float | None = None
        self.switches = Switches()

    def get(self) -> Switches:
        now, read_at = time.monotonic(), self.read_at
        if read_at is None or now - read_at > settings.SWITCH_CACHE_SECONDS:
            # Without the database the request fails where it uses it.
            with suppress(OperationalError, InterfaceError):
                self.switches, self.read_at = read_switches(), now
        return self.switches

    def forget(self) -> None:
        self.read_at = None


KNOWN = KnownSwitches()


def read_switches() -> Switches:
    rows = dict(ApplicationSetting.objects.values_list("name", "enabled"))
    return Switches(
        **{field: rows.get(name, DEFAULTS[name]) for name, field in FIELDS.items()}
    )


def add_missing_settings() -> None:
    """Write the settings that were never changed, for a list of all of them."""
    ApplicationSetting.objects.bulk_create(
        [ApplicationSetting(name=name, enabled=DEFAULTS[name]) for name in FIELDS],
        ignore_conflicts=True,
    )


def require_switch(name: Switch) -> None:
    """Raise `SwitchedOffError` before a request is looked at."""
    if not getattr(KNOWN.get(), FIELDS[name]):
        raise SwitchedOffError


def lock_switch(name: Switch, refusal: type[DomainError] = SwitchedOffError) -> None:
    """Keep a switch on until the end of the transaction; raise the refusal if off."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_AND_READ, [AdvisoryLock.SWITCHES, name])
        cursor.nextset()
        row = cursor.fetchone()
    if not (DEFAULTS[name] if row is None else row[0]):
        raise refusal


def require_writable() -> None:
    if KNOWN.get().read_only:
        raise ReadOnlyError


def set_switches(wanted: Switches, by: Member) -> None:
    """Turn switches, and log those that change.

    It waits for the writes that depend on a switch: none follows its return.
    """
    set_settings({name: getattr(wanted, FIELDS[name]) for name in FIELDS}, by)


@retry_on_conflict
def set_settings(values: Mapping[Switch, bool], by: Member | None) -> None:
    """Write settings of switches; without a member nothing is logged."""
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.SWITCHES)
        known = dict(ApplicationSetting.objects.values_list("name", "enabled"))
        for name, enabled in values.items():
            if known.get(name, DEFAULTS[name]) == enabled:
                continue
            setting, _ = ApplicationSetting.objects.update_or_create(
                name=name, defaults={"enabled": enabled}
            )
            if by is not None:
                text = f"Enabled {str(enabled).lower()}."
                log_admin_action(by, setting, CHANGE, text)
        # A page of Django admin has a transaction around this one.
        transaction.on_commit(KNOWN.forget)
    KNOWN.forget()
