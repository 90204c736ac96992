"""Settings that administrators change."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ApplicationSetting(models.Model):
    """A boolean setting, such as whether sign-up is open."""

    class Name(models.TextChoices):
        SIGNUP_ENABLED = "signup_enabled", "sign-up is open"
        POSTING = "posting", "posts and comments may be written"
        IMAGES = "images", "images may be uploaded"
        IDENTITY_PROVIDERS = "identity_providers", "identity providers may be used"
        READ_ONLY = "read_only", "nothing may be changed"

    name = models.CharField(max_length=50, primary_key=True, choices=Name.choices)
    enabled = models.BooleanField(_("enabled"), default=True)

    class Meta:
        db_table = "application_setting"
        verbose_name = _("application setting")
        verbose_name_plural = _("application settings")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.get_name_display()
