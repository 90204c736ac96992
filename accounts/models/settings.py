"""Settings that administrators change while the service runs."""

from django.db import models


class ApplicationSetting(models.Model):
    """One switch of the running service, such as whether sign-up is open."""

    class Name(models.TextChoices):
        SIGNUP_ENABLED = "signup_enabled", "sign-up is open"

    name = models.CharField(max_length=50, primary_key=True, choices=Name.choices)
    enabled = models.BooleanField(default=True)

    class Meta:
        db_table = "application_setting"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.get_name_display()
