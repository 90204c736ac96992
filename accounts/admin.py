"""Members in Django admin."""

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import Member


@admin.register(Member)
class MemberAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """To look members up; what changes them goes through its own rules."""

    list_display = ["login_id", "display_name", "email", "role", "status", "plan"]
    list_filter = ["role", "status", "plan", "provider"]
    search_fields = ["login_id", "display_name", "email"]
    ordering = ["-id"]
    show_full_result_count = False
    fields = [
        "login_id",
        "display_name",
        "email",
        "provider",
        "role",
        "status",
        "plan",
        "plan_expires_at",
        "plan_product",
        "plan_auto_renew",
        "points",
        "created_at",
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
