"""Periodic jobs in the Django admin: their schedule and their runs."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django_celery_beat import models as beat

from core.admin import ListAdmin, ReadOnlyAdmin
from core.jobs.models import JobRun
from core.jobs.status import get_job_intervals

UNIT_SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60}

# The schedule is part of the settings: django-celery-beat's own pages would let staff
# change it until the next start of Beat.
for model in (
    beat.PeriodicTask,
    beat.IntervalSchedule,
    beat.CrontabSchedule,
    beat.SolarSchedule,
    beat.ClockedSchedule,
):
    admin.site.unregister(model)


class JobFilter(admin.SimpleListFilter):
    """A filter by the jobs of the schedule, without a query for the names."""

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
    """The jobs of the schedule, which staff may only disable and enable."""

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
        last_run = (
            JobRun.objects.filter(job=OuterRef("name"))
            .exclude(state=JobRun.State.SKIPPED)
            .order_by("-started_at", "-id")
        )
        tasks: QuerySet[Any] = super().get_queryset(request)
        annotated: QuerySet[Any] = tasks.annotate(
            last_state=Subquery(last_run.values("state")[:1]),
            last_count=Subquery(last_run.values("count")[:1]),
        )
        return annotated

    @admin.display(description="every")
    def every(self, task: Any) -> str:
        if task.interval is None:
            return str(task.schedule)
        seconds = int(task.interval.schedule.run_every.total_seconds())
        # In the largest unit that divides it: "day", "6 hours".
        for unit, unit_seconds in UNIT_SECONDS.items():
            if seconds % unit_seconds == 0:
                count = seconds // unit_seconds
                return unit if count == 1 else f"{count} {unit}s"
        return f"{seconds} seconds"

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
