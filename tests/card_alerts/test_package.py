"""The package by itself: its README and its imports."""

import doctest
import subprocess
import sys
from pathlib import Path

import card_alerts

PACKAGE = Path(card_alerts.__file__).parent
PRINT_FOREIGN_MODULES = """
import sys
before = set(sys.modules)
import card_alerts
names = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(names - sys.stdlib_module_names))
"""


def test_examples_of_the_readme_are_right() -> None:
    readme = str(PACKAGE / "README.md")
    result = doctest.testfile(readme, module_relative=False, encoding="utf-8")

    assert result.attempted > 0
    assert result.failed == 0


def test_package_imports_the_standard_library_alone() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_FOREIGN_MODULES],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed.split() == ["card_alerts"]
