"""The setting by which administrators open and close sign-up."""

from django.db import transaction

from accounts.audit_log import CHANGE, log_admin_action
from accounts.models import ApplicationSetting, Member
from core.db.transactions import retry_on_conflict


def is_signup_enabled() -> bool:
    """Return True unless an administrator has closed sign-up."""
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    setting = ApplicationSetting.objects.filter(name=name).first()
    return setting is None or setting.enabled


@retry_on_conflict
def set_signup_enabled(*, enabled: bool, by: Member | None = None) -> None:
    """Open or close sign-up; the change by an administrator is logged."""
    with transaction.atomic():
        setting, _ = ApplicationSetting.objects.update_or_create(
            name=ApplicationSetting.Name.SIGNUP_ENABLED, defaults={"enabled": enabled}
        )
        if by is not None:
            log_admin_action(by, setting, CHANGE, f"Enabled {str(enabled).lower()}.")
