"""Members: identity, role, status and plan (spec 2.1)."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import MD5, Collate, Length, Lower, NullIf, Upper
from django.db.models.lookups import Exact
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.identifiers import comparison_key

MAX_LOGIN_ID_LENGTH = 50
MAX_DISPLAY_NAME_LENGTH = 100


# The status of an account that is closed, while a job deletes what is left of it. None
# of `Member.Status`, which administrators set and see: `Member.objects` does not have
# such members.
CLOSED = "CLOSED"
# SHA-256 of the id in hex, by which an app names the member to a store.
ACCOUNT_ID_HASH = models.Func(
    "id",
    template="encode(sha256(decode(%(expressions)s::text, 'escape')), 'hex')",
    output_field=models.TextField(),
)


class MemberManager(BaseUserManager["Member"]):
    """Manager with case-insensitive login ids and queries by plan.

    Without members whose accounts are closed (`accounts.account_deletion`).
    """

    def get_queryset(self) -> "models.QuerySet[Member]":
        return super().get_queryset().exclude(status=CLOSED)

    def get_by_natural_key(self, username: str | None) -> "Member":
        return self.with_login_id(username or "").get()

    def with_login_id(self, login_id: str) -> "models.QuerySet[Member]":
        """Return the member with this login id, in any letter case."""
        key = comparison_key(login_id)
        return self.none() if key is None else self.filter(login_id_normalized=key)

    def with_email(self, email: str) -> "models.QuerySet[Member]":
        """Return the members with this address, in any letter case.

        An address outside ASCII matches no member.
        """
        key = comparison_key(email)
        return self.none() if key is None else self.filter(email_normalized=key)

    def with_account_id_hash(self, account_id: str) -> "models.QuerySet[Member]":
        """Return the member whose id has this SHA-256, in hex."""
        return self.alias(account_id_hash=ACCOUNT_ID_HASH).filter(
            account_id_hash=account_id
        )

    def with_premium(self, now: datetime) -> "models.QuerySet[Member]":
        """Return members with premium access at `now`, by plan or role (spec 1.9).

        The same rule as the property and the SQL function `has_premium`.
        """
        has_running_plan = models.Q(plan=Member.Plan.PREMIUM) & (
            models.Q(plan_expires_at=None)
            | models.Q(plan_expires_at__gt=now)
            | models.Q(plan_auto_renew=True)
        )
        is_administrator = models.Q(role=Member.Role.ADMIN)
        return self.filter(has_running_plan | is_administrator)

    def with_expired_plan(self, now: datetime) -> "models.QuerySet[Member]":
        """Return members whose plan has expired but is still stored as PREMIUM."""
        return self.filter(expired_plan_condition(now))

    def create_superuser(
        self, login_id: str, email: str, password: str | None = None, **fields: Any
    ) -> "Member":
        """Create an administrator; for the command `createsuperuser`."""
        member = self.model(
            login_id=login_id,
            email=self.normalize_email(email),
            role=Member.Role.ADMIN,
            **{"display_name": login_id} | fields,
        )
        member.set_password(password)
        member.save(using=self._db)
        return member


class Member(AbstractBaseUser):
    """A person's account; the user model of Django's authentication."""

    class Provider(models.TextChoices):
        LOCAL = "LOCAL"
        IDP = "IDP"

    class Role(models.TextChoices):
        MEMBER = "MEMBER"
        ADMIN = "ADMIN"

    class Status(models.TextChoices):
        ACTIVE = "ACTIVE"
        SUSPENDED = "SUSPENDED"

    class Plan(models.TextChoices):
        FREE = "FREE"
        PREMIUM = "PREMIUM"

    class Locale(models.TextChoices):
        EN = "en"
        KO = "ko"

    login_id = models.CharField(max_length=MAX_LOGIN_ID_LENGTH)
    display_name = models.CharField(max_length=MAX_DISPLAY_NAME_LENGTH)
    email = models.EmailField(max_length=254)
    # The keys by which login ids and addresses are compared: those of
    # `accounts.identifiers.comparison_key`. The database writes them.
    login_id_normalized = models.GeneratedField(
        expression=Lower(Collate("login_id", "C")),
        output_field=models.CharField(max_length=MAX_LOGIN_ID_LENGTH),
        db_persist=True,
    )
    email_normalized = models.GeneratedField(
        expression=models.Case(
            models.When(
                # An address in ASCII has as many bytes as characters.
                Exact(
                    models.Func(
                        "email",
                        function="OCTET_LENGTH",
                        output_field=models.IntegerField(),
                    ),
                    Length("email"),
                ),
                then=Lower(Collate("email", "C")),
            )
        ),
        output_field=models.CharField(max_length=254, null=True),
        db_persist=True,
    )
    # None for the address of the sign-up. A trigger sets it with each change.
    email_changed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The last address that the member wrote with fresh authentication. Any other way of
    # writing `email` leaves it one that somebody else may have written.
    authenticated_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    # The address that the member has proved to own, and the one they want to change to.
    # Any other way of writing `email` leaves it unverified.
    verified_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    pending_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    # Of mails, and of texts for clients that name no language.
    locale = models.CharField(max_length=2, choices=Locale.choices, default=Locale.EN)
    provider = models.CharField(
        max_length=5, choices=Provider.choices, default=Provider.LOCAL
    )
    idp_id = models.CharField(max_length=255, null=True, blank=True)
    # Written with the row of the factor, so that a login needs no further query.
    has_second_factor = models.BooleanField(default=False, editable=False)
    idp_picture = models.CharField(max_length=2048, blank=True, default="")
    profile_image = models.TextField(blank=True, default="")
    # Part of the URL of the profile image, which is cached forever; None without one.
    avatar_version = models.GeneratedField(
        expression=MD5(NullIf("profile_image", models.Value(""))),
        output_field=models.CharField(max_length=32, null=True),
        db_persist=True,
    )
    role = models.CharField(max_length=6, choices=Role.choices, default=Role.MEMBER)
    status = models.CharField(
        max_length=9, choices=Status.choices, default=Status.ACTIVE
    )
    plan = models.CharField(max_length=7, choices=Plan.choices, default=Plan.FREE)
    plan_expires_at = models.DateTimeField(null=True, blank=True)
    # Beginning of the current, unbroken premium access by plan or role; None without
    # it. A trigger maintains it.
    premium_since = models.DateTimeField(null=True, blank=True, editable=False)
    plan_product = models.CharField(max_length=100, blank=True, default="")
    plan_auto_renew = models.BooleanField(default=False)
    points = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    # Not stored: `AuthSession.last_seen_at` is more precise.
    last_login = None

    objects: ClassVar[MemberManager] = MemberManager()
    including_closed: ClassVar["models.Manager[Member]"] = models.Manager()

    USERNAME_FIELD = "login_id"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["email"]

    class Meta:
        db_table = "member"
        verbose_name = _("member")
        verbose_name_plural = _("members")
        ordering = ["id"]
        constraints = [
            # Always so, and still a condition: PostgreSQL takes the columns of a unique
            # index without one for a key of the row. It computes this one anew in each
            # update, so that each would wait for all who refer to the member.
            models.UniqueConstraint(
                fields=["login_id_normalized"],
                condition=models.Q(login_id_normalized__isnull=False),
                name="member_login_id_unique",
            ),
            # Outside ASCII, no key would be the login id of one member only.
            models.CheckConstraint(
                condition=models.Q(login_id__regex=r"^[A-Za-z0-9._-]+$"),
                name="member_login_id_characters",
            ),
            models.UniqueConstraint(fields=["idp_id"], name="member_idp_id_unique"),
            models.CheckConstraint(
                condition=models.Q(points__gte=0), name="member_points_not_negative"
            ),
        ]
        indexes = [
            models.Index(fields=["email_normalized"], name="member_email"),
            GinIndex(
                OpClass(Upper("login_id"), name="gin_trgm_ops"),
                OpClass(Upper("display_name"), name="gin_trgm_ops"),
                OpClass(Upper("email"), name="gin_trgm_ops"),
                name="member_search",
            ),
            models.Index(
                fields=["plan_expires_at"],
                condition=models.Q(plan="PREMIUM", plan_auto_renew=False),
                name="member_plan_ends",
            ),
            models.Index(
                fields=["plan_expires_at"],
                condition=models.Q(plan="PREMIUM", plan_expires_at__isnull=False),
                name="member_plan_expiry",
            ),
            models.Index(
                fields=["-id"], condition=models.Q(role="ADMIN"), name="member_admins"
            ),
            models.Index(ACCOUNT_ID_HASH, name="member_account_id_hash"),
            models.Index(
                fields=["-id"],
                condition=models.Q(status="SUSPENDED"),
                name="member_suspended",
            ),
            models.Index(
                fields=["id"], condition=models.Q(status=CLOSED), name="member_closed"
            ),
            models.Index(
                fields=["-id"],
                condition=models.Q(plan="PREMIUM"),
                name="member_premium",
            ),
        ]

    def __str__(self) -> str:
        return self.login_id

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        return self.status == self.Status.ACTIVE

    @property
    def is_email_verified(self) -> bool:
        return bool(self.email) and self.verified_email == self.email

    @property
    def is_administrator(self) -> bool:
        return self.role == self.Role.ADMIN

    @property
    def is_staff(self) -> bool:
        """Return True if Django admin lets the member in."""
        return self.is_administrator

    @property
    def has_premium(self) -> bool:
        """Return True for a running PREMIUM plan or an administrator (spec 1.9)."""
        return (
            self.effective_plan(timezone.now()) == self.Plan.PREMIUM
            or self.is_administrator
        )

    def effective_plan(self, now: datetime) -> str:
        """Return the plan at `now`: FREE once it has expired, before any job runs.

        With auto-renew on it does not expire by time: the store's notifications end it
        (spec 6.1).
        """
        expires_at = self.plan_expires_at
        if expires_at and expires_at <= now and not self.plan_auto_renew:
            return self.Plan.FREE
        return self.plan

    def save_fields(self, *fields: str) -> None:
        """Update only these fields; raise `DoesNotExist` if the member was deleted."""
        values = {name: getattr(self, name) for name in fields}
        if not Member.objects.filter(pk=self.pk).update(**values):
            raise Member.DoesNotExist

    def has_perm(self, permission: str, obj: object = None) -> bool:
        return self.is_active and self.is_administrator

    def has_perms(self, permissions: list[str], obj: object = None) -> bool:
        return self.is_active and self.is_administrator

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and self.is_administrator


def expired_plan_condition(now: datetime) -> models.Q:
    """Return the condition that a plan is stored as PREMIUM but has expired."""
    return models.Q(
        plan=Member.Plan.PREMIUM,
        # Implied by the comparison, but `exclude()` must not lose rows to NULL.
        plan_expires_at__isnull=False,
        plan_expires_at__lte=now,
        plan_auto_renew=False,
    )
