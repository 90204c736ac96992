"""`createsuperuser`: Django's command, with one line for a login id that is taken."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError


class Command(createsuperuser.Command):
    """Makes an administrator (role ADMIN)."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError:
            raise CommandError("This login id is taken.") from None
