"""The project's own text files, and their prose."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_SUFFIXES = {".py", ".md", ".html", ".sql", ".toml", ".example"}
# Hidden folders (.git, .venv, caches) are skipped as well.
_SKIPPED_FOLDERS = {"var", "node_modules"}
# A citation may be broken over two lines of a comment.
_COMMENT_BREAK = re.compile(r"\n[ \t]*(?:#|--) ?")


def list_files() -> Iterator[Path]:
    """Yield the text files without asking git, which a source tarball does not have."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            name
            for name in folders
            if name not in _SKIPPED_FOLDERS and not name.startswith(".")
        ]
        for name in names:
            if Path(name).suffix in _SUFFIXES:
                yield Path(folder, name)


def read_prose(path: Path) -> str:
    """Return the text of a file with comments joined to one line."""
    return _COMMENT_BREAK.sub(" ", path.read_text(encoding="utf-8"))
