"""The package by itself: its README and its imports."""

import doctest
import json
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


def test_text_on_standard_input_is_printed_as_json() -> None:
    text = "신한카드(2077)승인 오*람 9,000원(일시불)01/02 08:30 소라커피"
    printed = subprocess.run(
        [sys.executable, "-m", "card_alerts", "--title", "신한카드"],
        cwd=PACKAGE.parent,
        env={"PYTHONUTF8": "1"},
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout

    (parsed,) = json.loads(printed)
    assert (parsed["amount"], parsed["merchant"]) == (9_000, "소라커피")
    assert parsed["occurred_at"].endswith("-01-02T08:30:00+09:00")
