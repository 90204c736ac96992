"""Periodic jobs in Django admin: what Beat starts, and what became of it."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django_celery_beat import models as beat

from core.admin import ListAdmin, ReadOnlyAdmin
from core.jobs.models import JobRun
from core.jobs.status import get_job_intervals

UNITS = {"day": 86_400, "hour": 3_600, "minute": 60}

for model in (
    beat.PeriodicTask,
    beat.IntervalSchedule,
    beat.CrontabSchedule,
    beat.SolarSchedule,
    beat.ClockedSchedule,
):
    admin.site.unregister(model)


class JobFilter(admin.SimpleListFilter):
    """The jobs that the code knows: no look through all their runs."""

    title = "job"
    parameter_name = "job"

    def lookups(
        self, request: HttpRequest, model_admin: object
    ) -> list[tuple[str, str]]:
        return [(name, name) for name in sorted(get_job_intervals())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(job=self.value()) if self.value() else queryset


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ["job", "state", "started_at", "ended_at", "count", "error"]
    list_filter = ["state", JobFilter]
    fields = ["job", "state", "started_at", "ended_at", "count", "error"]


@admin.register(beat.PeriodicTask)
class PeriodicTaskAdmin(ListAdmin):
    """The code says what runs when; staff may only stop and start it."""

    list_display = [
        "name",
        "every",
        "enabled",
        "last_run_at",
        "last_state",
        "last_count",
    ]
    fields = ["name", "task", "every", "enabled", "last_run_at", "total_run_count"]
    readonly_fields = ["name", "task", "every", "last_run_at", "total_run_count"]
    list_select_related = ["interval"]
    ordering = ["name"]
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        runs = JobRun.objects.filter(job=OuterRef("name"))
        newest = runs.exclude(state=JobRun.State.SKIPPED).order_by("-started_at", "-id")
        rows: QuerySet[Any] = super().get_queryset(request)
        listed: QuerySet[Any] = rows.annotate(
            last_state=Subquery(newest.values("state")[:1]),
            last_count=Subquery(newest.values("count")[:1]),
        )
        return listed

    @admin.display(description="every")
    def every(self, task: Any) -> str:
        if task.interval is None:
            return str(task.schedule)
        return format_interval(task.interval.schedule.run_every)

    @admin.display(description="last run")
    def last_state(self, task: Any) -> str | None:
        state: str | None = task.last_state
        return state

    @admin.display(description="rows")
    def last_count(self, task: Any) -> int | None:
        count: int | None = task.last_count
        return count

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def format_interval(every: timedelta) -> str:
    """In the largest unit that it is a whole number of."""
    seconds = int(every.total_seconds())
    for unit, length in UNITS.items():
        if seconds % length == 0:
            count = seconds // length
            return unit if count == 1 else f"{count} {unit}s"
    return f"{seconds} seconds"
