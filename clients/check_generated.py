"""Checks generated Kotlin and Swift as text: no compiler for them is needed.

python clients/check_generated.py DOCUMENT KOTLIN_FOLDER SWIFT_FOLDER
"""

import json
import re
import sys
from pathlib import Path

METHODS = {"get", "post", "put", "patch", "delete"}
# All other integers are ids or money, which 32 bits do not hold.
SMALL_INTEGERS = {
    *("year", "fromYear", "toYear", "month", "fromMonth", "toMonth"),
    *("months", "weeks", "expiresInDays"),
    *("interval", "installmentMonths", "status", "page", "size", "row"),
    "expiresInDays",
}
KOTLIN_INT = re.compile(r"\b(\w+): (?:kotlin\.)?Int\b")
SWIFT_INT = re.compile(r"\b(\w+): Int\b")


def list_faults(document: Path, kotlin: Path, swift: Path) -> list[str]:
    """Return what is wrong with the generated code, in words."""
    paths = json.loads(document.read_text())["paths"]
    operations = {
        operation["operationId"]
        for path in paths.values()
        for method, operation in path.items()
        if method in METHODS
    }
    faults = []
    for folder, suffix, pattern in (
        (kotlin, ".kt", KOTLIN_INT),
        (swift, ".swift", SWIFT_INT),
    ):
        models = "".join(
            file.read_text()
            for file in sorted(folder.rglob(f"*{suffix}"))
            if file.parent.name.lower() == "models"
        )
        apis = "".join(
            file.read_text()
            for file in sorted(folder.rglob(f"*{suffix}"))
            if file.parent.name.lower() == "apis"
        )
        small = set(pattern.findall(models + apis)) - SMALL_INTEGERS
        faults += [f"{suffix}: {name} has 32 bits" for name in sorted(small)]
        if "NullEnum" in models + apis:
            faults.append(f"{suffix}: NullEnum")
        faults += [
            f"{suffix}: {name} is missing"
            for name in sorted(operations)
            if not re.search(rf"\bfunc? {name}\b|\bfun {name}\b", apis)
        ]
    return faults


if __name__ == "__main__":
    found = list_faults(*map(Path, sys.argv[1:4]))
    print("\n".join(found) or "Kotlin and Swift: nothing wrong")
    sys.exit(bool(found))
