"""Django admin of members, documents, settings and the audit log."""

from django.contrib import admin
from django.contrib.auth.models import Group

from administration.admin import audit_log, documents, members, settings

__all__ = ["audit_log", "documents", "members", "settings"]

# Permissions depend on the member's role alone.
admin.site.unregister(Group)
