"""`createsuperuser`: Django's command, in this service's words."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError
from rest_framework.exceptions import ValidationError

from accounts.serializers.members import LoginIdField


class Command(createsuperuser.Command):
    """Makes an administrator (role ADMIN)."""

    help = (
        "Makes an administrator: a member with the role ADMIN, who may use the "
        "administrators' addresses and Django admin. Asks for login id, email and "
        "password; with --noinput they are DJANGO_SUPERUSER_LOGIN_ID, "
        "DJANGO_SUPERUSER_EMAIL and DJANGO_SUPERUSER_PASSWORD in the environment. "
        "Exits with 1 if the login id is taken, in any letter case, or is none, or "
        "something is missing."
    )

    def _validate_username(
        self, username: str, verbose_field_name: str, database: str
    ) -> str | None:
        """What is wrong with a login id, by the rules of sign-up too."""
        wrong: str | None = super()._validate_username(  # type: ignore[misc]
            username, verbose_field_name, database
        )
        if wrong:
            return wrong
        try:
            LoginIdField().run_validation(username)
        except ValidationError:
            return "Error: A login id is 3 to 50 letters, digits, dots, _ and -."
        return None

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError:
            raise CommandError("This login id is taken.") from None
