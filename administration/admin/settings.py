"""Application settings in Django admin."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import ApplicationSetting
from administration.log_entries import SETTING_NAMES
from core.admin.base import AuditedAdmin
from core.admin.columns import Column

NAME = Column("name", _("Setting"), lambda setting: str(SETTING_NAMES[setting.name][0]))


@admin.register(ApplicationSetting)
class ApplicationSettingAdmin(AuditedAdmin):
    list_display = [NAME, "enabled"]
    list_editable = ["enabled"]
    fields = [NAME, "enabled"]
    readonly_fields = [NAME]  # type: ignore[list-item]
    actions = None

    def get_object_name(self, row: ApplicationSetting) -> str:
        return NAME.get_text(row)  # type: ignore[return-value]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
