"""Badges and states of members in Django admin."""

from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from core.admin.columns import Badges

ROLES: Badges = {
    Member.Role.MEMBER: (_("Member"), ""),
    Member.Role.MODERATOR: (_("Moderator"), "info"),
    Member.Role.ADMIN: (_("Administrator"), "info"),
}
STATUSES: Badges = {
    Member.Status.ACTIVE: (_("Active"), "good"),
    Member.Status.SUSPENDED: (_("Suspended"), "bad"),
}
PLANS: Badges = {
    Member.Plan.FREE: (_("Free"), ""),
    Member.Plan.PREMIUM: (_("Premium"), "good"),
}
PROVIDERS: Badges = {
    Member.Provider.LOCAL: (_("Password"), ""),
    Member.Provider.IDP: (_("Google account"), ""),
}
