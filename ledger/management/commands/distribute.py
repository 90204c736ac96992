"""`distribute`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.management.distribution import DistributionError, distribute


class Command(BaseCommand):
    help = (
        "Distributes the tables of members' rows by member over the workers of a Citus "
        "cluster (docs/citus.md). May be run again: it goes on where it was "
        "interrupted."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            distribute(self.stdout.write)
        except DistributionError as error:
            raise CommandError(str(error)) from None
