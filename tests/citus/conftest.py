"""Tests that need a Citus cluster: TEST_DATABASE_URL names a database of one."""

from pathlib import Path

import pytest

from tests.support.citus import has_citus


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and not has_citus():
            item.add_marker(pytest.mark.skip(reason="TEST_DATABASE_URL has no Citus"))
