"""The Django admin of this service."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError

from config.errors import RateLimited


class LoginForm(AdminAuthenticationForm):
    """The same limited login as the API's; a refusal shows as a form error."""

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except RateLimited as refusal:
            raise ValidationError(refusal.detail) from refusal


class ServiceAdminSite(AdminSite):
    site_header = "Household Ledger administration"
    site_title = "Household Ledger"
    index_title = "Administration"
    login_form = LoginForm
    site_url = "/"
