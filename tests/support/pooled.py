"""Migration of the test database past the pooler, as docs/operations.md demands it."""

import os
from typing import Any

from django.db import connection
from psycopg.conninfo import conninfo_to_dict

# Limits of the role would end a long step.
NO_LIMITS = "-c statement_timeout=0 -c lock_timeout=0"
_of_pooler: dict[str, Any] = {}


def connect_directly() -> None:
    """Let the connection go to the server itself, if the tests have a pooler."""
    url = os.environ.get("DIRECT_DATABASE_URL")
    if not url:
        return
    settings: Any = connection.settings_dict
    server = conninfo_to_dict(url)
    for name in ("HOST", "PORT", "OPTIONS"):
        _of_pooler[name] = settings[name]
    _replace({"HOST": server["host"], "PORT": server["port"]})
    settings["OPTIONS"] = settings["OPTIONS"] | {"options": NO_LIMITS}


def connect_by_pooler() -> None:
    """Take back what `connect_directly` has done."""
    if _of_pooler:
        _replace(dict(_of_pooler))
        _of_pooler.clear()


def _replace(values: dict[str, Any]) -> None:
    wrapper: Any = connection
    wrapper.close()
    wrapper.close_pool()
    wrapper.settings_dict.update(values)
