"""The table of the leases."""

from django.db import models


class Lease(models.Model):
    name = models.CharField(max_length=100, primary_key=True)
    holder = models.UUIDField()
    # Clock of the database.
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "lease"
        indexes = [models.Index(fields=["expires_at"], name="lease_by_expiry")]

    def __str__(self) -> str:
        return f"{self.name} until {self.expires_at:%Y-%m-%d %H:%M:%S}"
