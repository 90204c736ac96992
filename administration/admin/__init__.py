"""Django admin of members, documents, announcements, settings, the log."""

from django.contrib import admin
from django.contrib.auth.models import Group

from administration.admin import (
    announcements,
    audit_log,
    documents,
    members,
    settings,
)

__all__ = ["announcements", "audit_log", "documents", "members", "settings"]

# Permissions depend on the member's role alone.
admin.site.unregister(Group)
