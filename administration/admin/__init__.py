"""Django admin for staff: what is listed, what may be changed, and how."""

from django.contrib import admin
from django.contrib.auth.models import Group

from administration.admin import audit_log, members, settings

__all__ = ["audit_log", "members", "settings"]

admin.site.unregister(Group)  # a role decides here, not groups
