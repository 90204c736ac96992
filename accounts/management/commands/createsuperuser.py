"""`createsuperuser`: Django's command with the sign-up rules for login ids."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError
from rest_framework.exceptions import ValidationError

from accounts.members.serializers import LoginIdField


class Command(createsuperuser.Command):
    help = (
        "Creates an administrator: a member with the role ADMIN, who may use the "
        "administrators' API and Django admin. Asks for login id, email and password; "
        "with --noinput they are read from the environment variables "
        "DJANGO_SUPERUSER_LOGIN_ID, DJANGO_SUPERUSER_EMAIL and "
        "DJANGO_SUPERUSER_PASSWORD. Exits with 1 if the login id is invalid or taken "
        "(in any letter case), or if a value is missing."
    )

    def _validate_username(
        self, username: str, verbose_field_name: str, database: str
    ) -> str | None:
        message: str | None = super()._validate_username(  # type: ignore[misc]
            username, verbose_field_name, database
        )
        if message:
            return message
        try:
            LoginIdField().run_validation(username)
        except ValidationError:
            return "Error: A login id has 3 to 50 letters, digits, dots, _ or -."
        return None

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError:
            raise CommandError("This login id is taken.") from None
