"""Settings, shared categories, what the jobs did, and figures for the dashboard."""

from django.db import models
from django.db.models import Q

from config.levels import level_of_parent


class ApplicationSetting(models.Model):
    """One switch of the running service, such as whether sign-up is open."""

    class Name(models.TextChoices):
        SIGNUP_ENABLED = "signup_enabled", "sign-up is open"

    name = models.CharField(max_length=50, primary_key=True, choices=Name.choices)
    enabled = models.BooleanField(default=True)

    class Meta:
        db_table = "application_setting"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.get_name_display()


class DefaultCategory(models.Model):
    """A category that members may copy into their own ledger.

    `name_en` is what an import in English takes instead of `name`. A minor one sits
    under a major one of its type: a foreign key over `level` holds that rule.
    """

    class Type(models.TextChoices):
        INCOME = "income"
        EXPENSE = "expense"

    type = models.CharField(max_length=7, choices=Type.choices)
    name = models.CharField(max_length=100)
    name_en = models.CharField("name in English", max_length=100, blank=True)
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="minors",
        limit_choices_to={"parent": None},
    )
    sort_order = models.IntegerField(default=0)
    level = level_of_parent(when_major=1, when_minor=2)
    parent_level = level_of_parent(when_major=None, when_minor=1)

    class Meta:
        db_table = "default_category"
        verbose_name_plural = "default categories"
        ordering = ["type", "sort_order", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["type", "name"], name="default_category_name_unique"
            ),
            models.UniqueConstraint(
                fields=["type", "id", "level"], name="default_category_place"
            ),
            models.CheckConstraint(
                condition=Q(type__in=["income", "expense"]),
                name="default_category_type_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class JobRun(models.Model):
    """One run of a periodic job: when, how much it did, and what went wrong."""

    class State(models.TextChoices):
        RUNNING = "RUNNING"
        DONE = "DONE"
        FAILED = "FAILED"
        SKIPPED = "SKIPPED", "skipped, another run was under way"

    job = models.CharField(max_length=50)
    state = models.CharField(max_length=7, choices=State.choices)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    count = models.BigIntegerField(null=True)
    """How many rows the run dealt with."""
    error = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "job_run"
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["job", "-started_at"], name="job_run_by_job"),
            models.Index(fields=["started_at"], name="job_run_by_start"),
        ]

    def __str__(self) -> str:
        return f"{self.job} {self.started_at:%Y-%m-%d %H:%M} {self.state}"


class MemberTally(models.Model):
    """How many members there are of a kind: the sum of `members` over its rows.

    Triggers on the table of members add rows and never change one, so that nobody
    waits for anybody; `administration.tallies.fold` adds them up daily.
    """

    role = models.CharField(max_length=6)
    status = models.CharField(max_length=9)
    plan = models.CharField(max_length=7)
    members = models.BigIntegerField()
    """Negative where members went or changed."""

    class Meta:
        db_table = "member_tally"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.members:+d} {self.role} {self.status} {self.plan}"


class DayFigure(models.Model):
    """One figure of one day in the home time zone, kept for the dashboard's courses."""

    class Name(models.TextChoices):
        MEMBERS = "members"
        PREMIUM = "premium"
        ACTIVE = "active"
        SIGN_UPS = "sign_ups"
        ENTRIES = "entries"
        POSTS = "posts"
        COMMENTS = "comments"
        VOTES = "votes"

    day = models.DateField()
    name = models.CharField(max_length=10, choices=Name.choices)
    value = models.BigIntegerField()

    class Meta:
        db_table = "day_figure"
        ordering = ["day", "name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["day", "name"], name="day_figure_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.name}: {self.value}"


class NotificationTally(models.Model):
    """How many notifications came on a day, by whether they were recognised.

    Each is counted in one of several rows, so that two at once seldom meet.
    """

    day = models.DateField()
    recognised = models.BooleanField()
    part = models.SmallIntegerField()
    notifications = models.BigIntegerField()

    class Meta:
        db_table = "notification_tally"
        ordering = ["day", "recognised", "part"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "recognised", "part"], name="notification_tally_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.notifications}"
