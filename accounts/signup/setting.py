"""The setting that opens and closes sign-up."""

from accounts.models import ApplicationSetting, Member
from accounts.switches.switches import set_settings


def is_signup_enabled() -> bool:
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    setting = ApplicationSetting.objects.filter(name=name).first()
    return setting is None or setting.enabled


def set_signup_enabled(*, enabled: bool, by: Member | None = None) -> None:
    set_settings({ApplicationSetting.Name.SIGNUP_ENABLED: enabled}, by)
