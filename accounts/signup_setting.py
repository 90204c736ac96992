"""The switches of the running service."""

from django.db import transaction

from accounts.audit_log import CHANGE, log_admin_action
from accounts.models import ApplicationSetting, Member


def is_signup_enabled() -> bool:
    """Sign-up is open unless an administrator has closed it."""
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    setting = ApplicationSetting.objects.filter(name=name).first()
    return setting is None or setting.enabled


def set_signup_enabled(*, enabled: bool, by: Member | None = None) -> None:
    """Open or close sign-up; what an administrator did is in the log."""
    with transaction.atomic():
        setting, _ = ApplicationSetting.objects.update_or_create(
            name=ApplicationSetting.Name.SIGNUP_ENABLED, defaults={"enabled": enabled}
        )
        if by is not None:
            log_admin_action(by, setting, CHANGE, f"Enabled {str(enabled).lower()}.")
