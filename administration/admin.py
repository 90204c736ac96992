"""Switches and default categories in Django admin."""

from django.contrib import admin
from django.contrib.auth.models import Group

from administration.models import ApplicationSetting, DefaultCategory

admin.site.unregister(Group)  # a role decides here, not groups


@admin.register(ApplicationSetting)
class ApplicationSettingAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["__str__", "enabled"]
    list_editable = ["enabled"]


@admin.register(DefaultCategory)
class DefaultCategoryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "name_en", "type", "parent", "sort_order"]
    list_editable = ["sort_order"]
    list_filter = ["type"]
    search_fields = ["name", "name_en"]
    list_select_related = ["parent"]
