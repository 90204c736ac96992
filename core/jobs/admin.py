"""Periodic jobs in the Django admin."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _
from django_celery_beat import models as beat

from core.admin.base import ListAdmin, ReadOnlyAdmin
from core.admin.columns import (
    Badges,
    Column,
    badge_column,
    number_column,
    text_column,
    time_column,
)
from core.admin.filters import badge_filter
from core.jobs.labels import RUN_COLUMNS, STATES, get_job_label
from core.jobs.models import JobRun
from core.jobs.status import get_job_intervals

DAY, HOUR, MINUTE = 86_400, 3_600, 60
# The schedule is part of the settings: changes on django-celery-beat's pages would last
# until the next start of Beat.
for model in (
    beat.PeriodicTask,
    beat.IntervalSchedule,
    beat.CrontabSchedule,
    beat.SolarSchedule,
    beat.ClockedSchedule,
):
    admin.site.unregister(model)


class JobFilter(admin.SimpleListFilter):
    title = _("Job")
    parameter_name = "job"

    def lookups(
        self, request: HttpRequest, model_admin: object
    ) -> list[tuple[str, str]]:
        return [(name, get_job_label(name)) for name in sorted(get_job_intervals())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(job=self.value()) if self.value() else queryset


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = list(RUN_COLUMNS)
    list_filter = [badge_filter("state", _("State"), STATES), JobFilter]
    fields = [RUN_COLUMNS[:2], RUN_COLUMNS[2:5], RUN_COLUMNS[5]]
    export_columns = RUN_COLUMNS

    def get_object_name(self, row: JobRun) -> str:
        return get_job_label(row.job)


def describe_interval(task: Any) -> str:
    if task.interval is None:
        return str(task.schedule)
    seconds = int(task.interval.schedule.run_every.total_seconds())
    if seconds % DAY == 0:
        count = seconds // DAY
        return ngettext("every day", "every {count} days", count).format(count=count)
    if seconds % HOUR == 0:
        count = seconds // HOUR
        return ngettext("every hour", "every {count} hours", count).format(count=count)
    if seconds % MINUTE == 0:
        count = seconds // MINUTE
        text = ngettext("every minute", "every {count} minutes", count)
        return text.format(count=count)
    text = ngettext("every second", "every {count} seconds", seconds)
    return text.format(count=seconds)


# The library's own Korean lacks some names of its models.
LIBRARY_NAMES = (
    gettext_noop("Periodic Tasks"),
    gettext_noop("periodic task"),
    gettext_noop("periodic tasks"),
)
ON_OR_OFF: Badges = {True: (_("On"), "good"), False: (_("Off"), "bad")}
# Column names differ from field names, whose hints come from the library.
TASK = Column("job", _("Job"), lambda task: get_job_label(task.name))
EVERY = Column("every", _("Runs"), describe_interval)
LAST_RUN = time_column("sent_at", _("Last sent"), path="last_run_at")


@admin.register(beat.PeriodicTask)
class PeriodicTaskAdmin(ListAdmin):
    list_display = [
        *(TASK, EVERY),
        badge_column("on", _("State"), ON_OR_OFF, path="enabled"),
        LAST_RUN,
        badge_column("last_state", _("Last run"), STATES),
        number_column("last_count", _("Rows")),
    ]
    fields = [
        TASK,
        EVERY,
        "enabled",
        LAST_RUN,
        text_column("sent_count", _("Sent so often"), path="total_run_count"),
    ]
    list_select_related = ["interval"]
    ordering = ["name"]
    actions = None

    def get_object_name(self, row: Any) -> str:
        return get_job_label(row.name)

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

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **options: Any
    ) -> Any:
        if db_field.name == "enabled":
            options |= {
                "label": gettext("On"),
                "help_text": gettext("Off: the job is not run."),
            }
        return super().formfield_for_dbfield(db_field, request, **options)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
