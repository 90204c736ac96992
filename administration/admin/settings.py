"""Application settings in Django admin."""

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import ApplicationSetting
from core.admin import AuditedAdmin


@admin.register(ApplicationSetting)
class ApplicationSettingAdmin(AuditedAdmin):
    list_display = ["__str__", "enabled"]
    list_editable = ["enabled"]
    fields = ["name", "enabled"]
    readonly_fields = ["name"]
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
