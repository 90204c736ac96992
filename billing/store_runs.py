"""Runs of jobs that ask the store about many rows."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from django.db.models import Model, QuerySet

from core.errors import ProviderUnavailableError
from core.progress import SILENT_PROGRESS, Progress

BATCH_SIZE = 1_000
MAX_CONSECUTIVE_FAILURES = 3

Row = TypeVar("Row", bound=Model)


class StoreRun(NamedTuple):
    """Numbers of processed rows and of rows without a response."""

    processed: int = 0
    failed: int = 0


def ask_store(
    rows: QuerySet[Row], ask: Callable[[Row], int], progress: Progress = SILENT_PROGRESS
) -> StoreRun:
    """Call `ask` for each row, which returns how many rows it has processed.

    Ends after several `ProviderUnavailableError` in a row.
    """
    processed = failed = failed_in_a_row = 0
    for row in list(rows[:BATCH_SIZE]):
        try:
            processed += ask(row)
            failed_in_a_row = 0
        except ProviderUnavailableError:
            failed, failed_in_a_row = failed + 1, failed_in_a_row + 1
        progress.update(f"{processed + failed} purchases so far")
        if failed_in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return StoreRun(processed, failed)
