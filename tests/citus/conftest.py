"""Tests that need a Citus cluster: TEST_DATABASE_URL names a database of one."""

from pathlib import Path

import pytest

from tests.support.citus import has_citus
from tests.support.citus_nodes import find_programs

# It runs nodes of its own.
DRILLS = "test_drills.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        if item.path.name == DRILLS and not find_programs():
            item.add_marker(pytest.mark.skip(reason="TEST_CITUS_BIN is not set"))
        elif item.path.name != DRILLS and not has_citus():
            item.add_marker(pytest.mark.skip(reason="TEST_DATABASE_URL has no Citus"))
