"""The door for writes of a ledger: retry, transaction, lock and exchange rates."""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Concatenate, Generic, ParamSpec, TypeVar, final, overload

from django.db import connection, transaction

from accounts.models import Member
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import raise_on_constraint_violation
from ledger.base.operations import (
    RECORDS,
    Recording,
    find_recording,
    start_records,
    store_operation,
)
from ledger.currencies.rates import RateCache, retry_with_rates
from ledger.errors import LedgerFullError
from ledger.models.base import MAX_ENTRIES_CONSTRAINT

P = ParamSpec("P")
R = TypeVar("R")
_KEY = object()
_open_ledger: ContextVar["LockedLedger | None"] = ContextVar(
    "open_ledger", default=None
)
_precondition: ContextVar["Precondition | None"] = ContextVar(
    "precondition", default=None
)


class Precondition:
    """A check that a write runs under the lock of its ledger, and that may raise.

    Each attempt of a write runs it until a write has succeeded.
    """

    def __init__(self, check: Callable[[], object]) -> None:
        self._check = check
        self.is_fulfilled = False

    def check(self) -> None:
        if not self.is_fulfilled:
            self._check()


@contextmanager
def require(check: Callable[[], object]) -> Iterator[None]:
    """Let the first write in the block run `check` under its lock."""
    token = _precondition.set(Precondition(check))
    try:
        yield
    finally:
        _precondition.reset(token)


@final
class LockedLedger:
    """Proof that the open transaction holds the lock of a member's ledger.

    Writers of one ledger follow each other: categories and tags by their names, the
    kind of a wallet and the number of rows stay as read.
    """

    __slots__ = ("made_names", "member", "rates")

    def __init__(self, member: Member, rates: RateCache, *, key: object) -> None:
        if key is not _KEY:
            raise TypeError("Only ledger_write makes a LockedLedger.")
        self.member = member
        # How many categories and tags a name has made.
        self.made_names = 0
        # `rates.get` of an unknown rate rolls back, looks it up and starts again.
        self.rates = rates


def raise_on_full_ledger() -> AbstractContextManager[None]:
    return raise_on_constraint_violation(MAX_ENTRIES_CONSTRAINT, LedgerFullError())


@contextmanager
def open_to_writes(ledger: LockedLedger) -> Iterator[None]:
    """Let all writes of this ledger in the block be part of the open transaction."""
    token = _open_ledger.set(ledger)
    try:
        yield
    finally:
        _open_ledger.reset(token)


@final
class LedgerWrite(Generic[P, R]):
    def __init__(
        self,
        rule: Callable[Concatenate[LockedLedger, P], R],
        *,
        attempt: Callable[Concatenate[Member, P], R | None] | None,
        can_wait_for_rates: bool,
        lock_timeout: bool,
        is_recorded: bool,
    ) -> None:
        self._rule = rule
        self._attempt = attempt and retry_on_conflict(attempt)
        self._can_wait_for_rates = can_wait_for_rates
        self._lock_timeout = lock_timeout
        self._is_recorded = is_recorded
        functools.update_wrapper(self, rule)

    def __call__(self, member: Member, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the rule in a transaction under the member's lock.

        Within `open_to_writes` it is the open transaction, else a new one. Within
        `record` it is an operation.
        """
        precondition, ledger = _precondition.get(), _open_ledger.get()
        recording = find_recording() if self._is_recorded else None
        if self._attempt and precondition is None and recording is None:
            with raise_on_full_ledger():
                result = self._attempt(member, *args, **kwargs)
            if result is not None:
                return result
        if ledger is not None and ledger.member.pk == member.pk:
            if recording is not None:
                start_records()
            with raise_on_full_ledger():
                return self._run(recording, ledger, *args, **kwargs)

        @retry_on_conflict
        def write(rates: RateCache) -> R:
            with raise_on_full_ledger(), transaction.atomic():
                if not self._lock_timeout:
                    with connection.cursor() as cursor:
                        cursor.execute("SET LOCAL lock_timeout = 0")
                # No row is locked before.
                setting = RECORDS if recording is not None else ""
                advisory_xact_lock(AdvisoryLock.LEDGER, member.pk, setting)
                if precondition is not None:
                    precondition.check()
                ledger = LockedLedger(member, rates, key=_KEY)
                return self._run(recording, ledger, *args, **kwargs)

        # The log of conflicts names the rule.
        write.__qualname__ = self._rule.__qualname__
        result = retry_with_rates(write, can_wait=self._can_wait_for_rates)
        if precondition is not None:
            precondition.is_fulfilled = True
        return result

    def _run(
        self,
        recording: Recording | None,
        ledger: LockedLedger,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        if recording is None:
            return self._rule(ledger, *args, **kwargs)
        recording.restart()
        result = self._rule(ledger, *args, **kwargs)
        store_operation(ledger.member.pk, recording)
        return result

    def within(self, ledger: LockedLedger, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the rule in the transaction of another rule."""
        return self._rule(ledger, *args, **kwargs)


@overload
def ledger_write(
    rule: Callable[Concatenate[LockedLedger, P], R],
) -> LedgerWrite[P, R]: ...
@overload
def ledger_write(
    *,
    can_wait_for_rates: bool = True,
    lock_timeout: bool = True,
    is_recorded: bool = True,
) -> Callable[[Callable[Concatenate[LockedLedger, P], R]], LedgerWrite[P, R]]: ...
@overload
def ledger_write(
    *,
    attempt: Callable[Concatenate[Member, P], R | None],
    can_wait_for_rates: bool = True,
    lock_timeout: bool = True,
    is_recorded: bool = True,
) -> Callable[[Callable[Concatenate[LockedLedger, P], R]], LedgerWrite[P, R]]: ...
def ledger_write(
    rule: Callable[Concatenate[LockedLedger, P], R] | None = None,
    *,
    attempt: Callable[Concatenate[Member, P], R | None] | None = None,
    can_wait_for_rates: bool = True,
    lock_timeout: bool = True,
    is_recorded: bool = True,
) -> object:
    """Decorate a rule that writes rows of a ledger.

    `rule(member, …)` locks the ledger in a new transaction, which is repeated after a
    conflict or for a missing exchange rate. The rule must be safe to repeat, and does
    nothing outside the database.

    `attempt` is tried first, without the lock: one statement that takes the lock
    itself, or a case that needs none. If it returns None it has written nothing, and
    the rule runs.

    During too many look-ups of rates the write raises `ProviderBusyError` if the client
    `can_wait_for_rates`; if not, the rate counts as unavailable.

    Without `lock_timeout` a job waits for the ledger as long as it takes.

    Within `record` the write is an operation, unless it says that it `is_recorded`
    otherwise.
    """
    write = functools.partial(
        LedgerWrite,
        attempt=attempt,
        can_wait_for_rates=can_wait_for_rates,
        lock_timeout=lock_timeout,
        is_recorded=is_recorded,
    )
    return write if rule is None else write(rule)
