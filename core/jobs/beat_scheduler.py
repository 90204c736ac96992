"""Beat's schedule from the database, which may be away for a while."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import Error, close_old_connections
from django.db.models import QuerySet
from django_celery_beat import schedulers

logger = logging.getLogger(__name__)

RETRY_INTERVAL_SECONDS = 5.0
"""When to try again what the database or the job queue did not take."""


class ResilientDatabaseScheduler(schedulers.DatabaseScheduler):  # type: ignore[misc]
    """django-celery-beat's scheduler with its gaps closed (2.9.0).

    While the database is away the schedule in memory goes on; the stock one ends with
    the first reload that fails. What could not be stored, or not sent, is tried again;
    the stock one sends it twice, or leaves it out until the next time.
    """

    @property
    def schedule(self) -> Any:
        try:
            return super().schedule
        except Error as error:
            if self._schedule is None:
                raise
            logger.warning("the schedule stays as it was: %s", type(error).__name__)
            self._schedule_early_reload()
            return self._schedule

    def all_as_schedule(self) -> Any:
        """Refused while runs are not stored: what is read would send them again."""
        if self._dirty:
            raise Error("the last runs are not stored yet")
        return super().all_as_schedule()

    def enabled_models_qs(self) -> QuerySet[Any]:
        """All of them; the stock one leaves out crontab rows that seem far away."""
        return self.Model.objects.enabled()  # type: ignore[no-any-return]

    def sync(self) -> None:
        """Store when each job was last sent; keep what could not be stored."""
        try:
            close_old_connections()
            for name in sorted(self._dirty):
                self._save_last_run(name)
                self._dirty.discard(name)
        except Error as error:
            logger.warning("last runs not stored: %s", type(error).__name__)

    def _save_last_run(self, name: str) -> None:
        """A job that was deleted meanwhile needs no note."""
        try:
            self._schedule[name].save()
        except (KeyError, ObjectDoesNotExist):
            logger.info("a job that ran is no longer in the schedule")

    def apply_async(self, entry: Any, *args: Any, **options: Any) -> Any:
        """Send it, then store that; what the queue does not take is due again soon."""
        self._dirty.discard(entry.name)
        try:
            result = super().apply_async(entry, *args, **options)
        except Exception:
            self._schedule_early_reload()
            raise
        self._dirty.add(entry.name)
        self.sync()
        return result

    def _schedule_early_reload(self) -> None:
        """Let the next reload come after a pause instead of after minutes."""
        interval = timedelta(seconds=schedulers.SCHEDULE_SYNC_MAX_INTERVAL)
        pause = timedelta(seconds=RETRY_INTERVAL_SECONDS)
        self._last_full_sync = datetime.now() - interval + pause  # noqa: DTZ005, TID251
