"""The setting that opens and closes sign-up."""

from django.db import transaction

from accounts.models import ApplicationSetting, Member
from accounts.security.audit_log import CHANGE, log_admin_action
from core.db.transactions import retry_on_conflict


def is_signup_enabled() -> bool:
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    setting = ApplicationSetting.objects.filter(name=name).first()
    return setting is None or setting.enabled


@retry_on_conflict
def set_signup_enabled(*, enabled: bool, by: Member | None = None) -> None:
    with transaction.atomic():
        setting, _ = ApplicationSetting.objects.update_or_create(
            name=ApplicationSetting.Name.SIGNUP_ENABLED, defaults={"enabled": enabled}
        )
        if by is not None:
            log_admin_action(by, setting, CHANGE, f"Enabled {str(enabled).lower()}.")
