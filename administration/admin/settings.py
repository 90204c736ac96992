"""The switches in Django admin (spec 7.11)."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import ApplicationSetting
from accounts.switches.switches import Switch, add_missing_settings, set_settings
from administration.log_entries import SETTING_NAMES
from core.admin.actions import get_actor
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

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        if self.has_change_permission(request):
            add_missing_settings()
        return super().changelist_view(request, extra_context)

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **options: Any
    ) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field is not None and db_field.name == "enabled":
            # A switch that somebody else has turned meanwhile stays as it is.
            field.show_hidden_initial = True
        return field

    def save_model(
        self, request: HttpRequest, obj: ApplicationSetting, form: Any, change: bool
    ) -> None:
        set_settings({Switch(obj.name): obj.enabled}, get_actor(request))

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log nothing: `set_settings` has logged what changed."""

    def get_object_name(self, row: ApplicationSetting) -> str:
        return NAME.get_text(row)  # type: ignore[return-value]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
