"""The switches of the running service."""

from administration.models import ApplicationSetting


def is_signup_enabled() -> bool:
    """Sign-up is open unless an administrator has closed it."""
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    setting = ApplicationSetting.objects.filter(name=name).first()
    return setting is None or setting.enabled


def set_signup_enabled(*, enabled: bool) -> None:
    ApplicationSetting.objects.update_or_create(
        name=ApplicationSetting.Name.SIGNUP_ENABLED, defaults={"enabled": enabled}
    )
