"""Members: identity, role, status and plan (spec 2.1)."""

from collections.abc import Iterable
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
from core.db.indexes import index_by_writing_time

MAX_LOGIN_ID_LENGTH = 50
MAX_DISPLAY_NAME_LENGTH = 100
MAX_REASON_LENGTH = 500


# SHA-256 in hex, as apps send it to stores.
ACCOUNT_ID_HASH = models.Func(
    "id",
    template="encode(sha256(decode(%(expressions)s::text, 'escape')), 'hex')",
    output_field=models.TextField(),
)


class MemberManager(BaseUserManager["Member"]):
    def get_by_natural_key(self, username: str | None) -> "Member":
        return self.with_login_id(username or "").get()

    def with_login_id(self, login_id: str) -> "models.QuerySet[Member]":
        key = comparison_key(login_id)
        return self.none() if key is None else self.filter(login_id_normalized=key)

    def with_email(self, email: str) -> "models.QuerySet[Member]":
        """Return members in any letter case; ASCII only."""
        key = comparison_key(email)
        return self.none() if key is None else self.filter(email_normalized=key)

    def with_account_id_hash(self, account_id: str) -> "models.QuerySet[Member]":
        return self.alias(account_id_hash=ACCOUNT_ID_HASH).filter(
            account_id_hash=account_id
        )

    def with_premium(self, now: datetime) -> "models.QuerySet[Member]":
        """Return members with premium; an SQL function has the same rule."""
        has_running_plan = models.Q(plan=Member.Plan.PREMIUM) & (
            models.Q(plan_expires_at=None)
            | models.Q(plan_expires_at__gt=now)
            | models.Q(plan_auto_renew=True)
        )
        is_administrator = models.Q(role=Member.Role.ADMIN)
        return self.filter(has_running_plan | is_administrator)

    def with_expired_plan(self, now: datetime) -> "models.QuerySet[Member]":
        return self.filter(expired_plan_condition(now))

    def create_superuser(
        self, login_id: str, email: str, password: str | None = None, **fields: Any
    ) -> "Member":
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
    class Provider(models.TextChoices):
        LOCAL = "LOCAL"
        IDP = "IDP"

    class Role(models.TextChoices):
        MEMBER = "MEMBER"
        MODERATOR = "MODERATOR"
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
    # Equal to `accounts.identifiers.comparison_key`.
    login_id_normalized = models.GeneratedField(
        expression=Lower(Collate("login_id", "C")),
        output_field=models.CharField(max_length=MAX_LOGIN_ID_LENGTH),
        db_persist=True,
    )
    email_normalized = models.GeneratedField(
        expression=models.Case(
            models.When(
                # ASCII has as many bytes as characters.
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
    # Set by a trigger; NULL for the address of the sign-up.
    email_changed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Last address entered with fresh authentication.
    authenticated_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    # True if staff have entered the address.
    is_email_from_staff = models.BooleanField(db_default=False, editable=False)
    # Proved address, and the next address, which waits for its code.
    verified_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    pending_email = models.CharField(
        max_length=254, blank=True, default="", editable=False
    )
    # Language of mails, and of responses to clients that name none.
    locale = models.CharField(max_length=2, choices=Locale.choices, default=Locale.EN)
    provider = models.CharField(
        max_length=5, choices=Provider.choices, default=Provider.LOCAL
    )
    idp_id = models.CharField(max_length=255, null=True, blank=True)
    # Saves a query at login.
    has_second_factor = models.BooleanField(default=False, editable=False)
    idp_picture = models.CharField(max_length=2048, blank=True, default="")
    profile_image = models.TextField(blank=True, default="")
    # Part of the image's URL, which is cached forever.
    avatar_version = models.GeneratedField(
        expression=MD5(NullIf("profile_image", models.Value(""))),
        output_field=models.CharField(max_length=32, null=True),
        db_persist=True,
    )
    role = models.CharField(max_length=9, choices=Role.choices, default=Role.MEMBER)
    status = models.CharField(
        max_length=9, choices=Status.choices, default=Status.ACTIVE
    )
    # A suspension without an end has NULL.
    suspended_until = models.DateTimeField(null=True, blank=True, editable=False)
    suspension_reason = models.CharField(
        max_length=MAX_REASON_LENGTH, blank=True, db_default="", editable=False
    )
    # A silenced member writes nothing on the board, and keeps the ledger.
    silenced_until = models.DateTimeField(null=True, blank=True, editable=False)
    silence_reason = models.CharField(
        max_length=MAX_REASON_LENGTH, blank=True, db_default="", editable=False
    )
    plan = models.CharField(max_length=7, choices=Plan.choices, default=Plan.FREE)
    plan_expires_at = models.DateTimeField(null=True, blank=True)
    # Start of unbroken premium by plan or role, set by a trigger.
    premium_since = models.DateTimeField(null=True, blank=True, editable=False)
    plan_product = models.CharField(max_length=100, blank=True, default="")
    plan_auto_renew = models.BooleanField(default=False)
    points = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    # `AuthSession.last_seen_at` is more precise.
    last_login = None

    objects: ClassVar[MemberManager] = MemberManager()

    USERNAME_FIELD = "login_id"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["email"]

    class Meta:
        db_table = "member"
        verbose_name = _("member")
        verbose_name_plural = _("members")
        ordering = ["id"]
        constraints = [
            # Always true. Without a condition PostgreSQL takes the column for a key of
            # the row: each update computes it again and waits for all rows that refer
            # to it.
            models.UniqueConstraint(
                fields=["login_id_normalized"],
                condition=models.Q(login_id_normalized__isnull=False),
                name="member_login_id_unique",
            ),
            # Outside ASCII, login ids would have no key.
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
                fields=["role", "-id"],
                condition=models.Q(role__in=("ADMIN", "MODERATOR")),
                name="member_staff",
            ),
            models.Index(
                fields=["suspended_until"],
                condition=models.Q(suspended_until__isnull=False),
                name="member_suspension_ends",
            ),
            models.Index(ACCOUNT_ID_HASH, name="member_account_id_hash"),
            models.Index(
                fields=["-id"],
                condition=models.Q(status="SUSPENDED"),
                name="member_suspended",
            ),
            models.Index(
                fields=["-id"],
                condition=models.Q(plan="PREMIUM"),
                name="member_premium",
            ),
            # For the figures of staff.
            index_by_writing_time("member_written"),
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
    def is_moderator(self) -> bool:
        """Return True for all who moderate the board."""
        return self.role in MODERATORS

    # Django admin asks for it.
    is_staff = is_moderator

    @property
    def has_premium(self) -> bool:
        return (
            self.effective_plan(timezone.now()) == self.Plan.PREMIUM
            or self.is_administrator
        )

    def is_silenced(self, now: datetime) -> bool:
        return self.silenced_until is not None and self.silenced_until > now

    def effective_plan(self, now: datetime) -> str:
        """Return the plan at `now`: FREE after its expiry, before any job runs.

        With auto-renew only the store ends a plan (spec 6.1).
        """
        expires_at = self.plan_expires_at
        if expires_at and expires_at <= now and not self.plan_auto_renew:
            return self.Plan.FREE
        return self.plan

    def save_fields(self, *fields: str) -> None:
        """Update only these fields; raise `DoesNotExist` for a deleted member."""
        values = {name: getattr(self, name) for name in fields}
        if not Member.objects.filter(pk=self.pk).update(**values):
            raise Member.DoesNotExist

    def has_perm(self, permission: str, obj: object = None) -> bool:
        """Return whether the member may use a page of Django admin.

        `permission` is a label such as `board.view_post`.
        """
        return self.has_module_perms(permission.partition(".")[0])

    def has_perms(self, permissions: Iterable[str], obj: object = None) -> bool:
        return all(self.has_perm(each, obj) for each in permissions)

    def has_module_perms(self, app_label: str) -> bool:
        is_theirs = self.is_moderator and app_label == MODERATED_APP
        return self.is_active and (self.is_administrator or is_theirs)


# The roles that moderate the board: staff.
MODERATORS = frozenset({Member.Role.MODERATOR, Member.Role.ADMIN})
# The app whose pages in Django admin moderators use.
MODERATED_APP = "board"


def expired_plan_condition(now: datetime) -> models.Q:
    """Match plans that have expired but are stored as PREMIUM."""
    return models.Q(
        plan=Member.Plan.PREMIUM,
        # Implied, but `exclude()` would lose rows to NULL.
        plan_expires_at__isnull=False,
        plan_expires_at__lte=now,
        plan_auto_renew=False,
    )
