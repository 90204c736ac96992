"""Queries whose SQL Django compiles once: it takes longer than running them."""

import functools
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

# Stands for the id of the owner while the SQL is compiled. No row has it.
_ANY_ID = -7_319_204_581


class CompiledQuery:
    """The rows of one owner, as `make_rows` selects them by the owner's id.

    The rows have their annotations. `make_rows` must use the id as a parameter only:
    its SQL is the same for all owners.
    """

    def __init__(self, make_rows: Callable[[int], QuerySet[Any]]) -> None:
        self._make_rows = make_rows

    def fetch_all(self, owner_id: int) -> list[Any]:
        sql, params = self._compiled
        values = [owner_id if value == _ANY_ID else value for value in params]
        return list(self._model.objects.raw(sql, values))

    @functools.cached_property
    def _compiled(self) -> tuple[str, tuple[Any, ...]]:
        rows = self._make_rows(_ANY_ID)
        self._model: Any = rows.model
        return rows.query.sql_with_params()
