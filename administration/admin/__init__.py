"""Django admin of members, settings and the audit log."""

from django.contrib import admin
from django.contrib.auth.models import Group

from administration.admin import audit_log, members, settings

__all__ = ["audit_log", "members", "settings"]

# Permissions depend on the member's role alone.
admin.site.unregister(Group)
