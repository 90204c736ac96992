"""`list_operations`: print the operations of the API."""

from typing import Any

from django.core.management.base import BaseCommand
from drf_spectacular.generators import SchemaGenerator


class Command(BaseCommand):
    help = (
        "Prints a table of the API's operations: id, method, path and tag. Clients are "
        "generated from the ids."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        generator: Any = SchemaGenerator
        paths = generator().get_schema(request=None, public=True)["paths"]
        self.stdout.write("| Operation id | Method | Path | Tag |")
        self.stdout.write("|---|---|---|---|")
        for path, item in paths.items():
            for method, operation in item.items():
                self.stdout.write(
                    f"| `{operation['operationId']}` | {method.upper()} | `{path}` "
                    f"| {', '.join(operation['tags'])} |"
                )
