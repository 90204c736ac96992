"""`createsuperuser`: Django's command, in this service's words."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError


class Command(createsuperuser.Command):
    """Makes an administrator (role ADMIN)."""

    help = (
        "Makes an administrator: a member with the role ADMIN, who may use the "
        "administrators' addresses and Django admin. Asks for login id, email and "
        "password; with --noinput they are DJANGO_SUPERUSER_LOGIN_ID, "
        "DJANGO_SUPERUSER_EMAIL and DJANGO_SUPERUSER_PASSWORD in the environment. "
        "Exits with 1 if the login id is taken, in any letter case, or something is "
        "missing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError:
            raise CommandError("This login id is taken.") from None
