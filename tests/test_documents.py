"""Documents lead somewhere: their links, paths, names of code and decisions exist."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.documents import ROOT, list_files, read_prose

DECISIONS = ROOT / "docs" / "decisions"
PACKAGES = (
    *("accounts", "administration", "billing", "board", "card_alerts", "config"),
    *("core", "devstack", "ledger", "tests", "benchmarks"),
)
FOLDERS = (*PACKAGES, "clients", "contrib", "docs", "locale", "script", "templates")

LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`([^`]+)`")
# Such as `core/db/rows.py`, `docs/decisions/` and `<app>/sql/*.sql`; arguments follow.
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]*(?=\s|$)")
# Such as `core.db.locks.AdvisoryLock`, but no host.
NAME = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.(?!example\b)\w+)+")
DECISION = re.compile(r"\bdecisions?\s+(0\d{3}(?:(?:,|\s+and|,\s+and)\s+0\d{3})*)")
INDEX_ROW = re.compile(
    r"^\| \[(\d{4})\]\((\d{4}-[\w-]+\.md)\) \| (.+?) \| (.+?) \| (\S+) \|$",
    re.MULTILINE,
)
HEAD = re.compile(r"# (.+)\n\nStatus: (.+?) · (\d{4}-\d\d-\d\d)\n")


def list_documents() -> Iterator[Path]:
    return (path for path in list_files() if path.suffix == ".md")


def read_code_spans(path: Path) -> list[str]:
    text = CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
    return [" ".join(span.split()) for span in CODE_SPAN.findall(text)]


def make_anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def is_named(name: str) -> bool:
    """Tell whether a dotted name is a module, or a word in the longest module of it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ROOT.joinpath(*parts[:length])
        rest = parts[length:]
        for file in (module.with_suffix(".py"), module / "__init__.py"):
            if file.is_file():
                text = file.read_text(encoding="utf-8")
                return all(re.search(rf"\b{word}\b", text) for word in rest)
    return ROOT.joinpath(*parts).is_dir()


def test_links_lead_somewhere() -> None:
    broken = []
    for path in list_documents():
        text = CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
        for link in LINK.findall(text):
            if re.match(r"\w+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            if not target.exists():
                broken.append(f"{path.relative_to(ROOT)}: {link}")
            elif anchor:
                headings = HEADING.findall(target.read_text(encoding="utf-8"))
                if anchor not in map(make_anchor, headings):
                    broken.append(f"{path.relative_to(ROOT)}: {link}")
    assert broken == []


def test_paths_in_documents_exist() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in list_documents()
        for span in read_code_spans(path)
        if (match := PATH.match(span))
        and not any(ROOT.glob(match[0].rstrip("/").rstrip(".")))
    ] == []


def test_names_of_code_in_documents_exist() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {span}"
        for path in list_documents()
        for span in read_code_spans(path)
        if NAME.fullmatch(span) and not is_named(span)
    ] == []


def test_decisions_that_are_cited_exist() -> None:
    numbers = {path.name[:4] for path in DECISIONS.glob("0*.md")}
    assert [
        f"{path.relative_to(ROOT)}: decision {number}"
        for path in list_files()
        for match in DECISION.finditer(read_prose(path))
        for number in re.findall(r"0\d{3}", match[1])
        if number not in numbers
    ] == []


def test_index_lists_every_decision_by_its_title() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = INDEX_ROW.findall(index)
    assert sorted(rows) == sorted(
        (path.name[:4], path.name, *match.groups())
        for path in DECISIONS.glob("0*.md")
        if (match := HEAD.match(path.read_text(encoding="utf-8")))
    )
    assert len(rows) == len(list(DECISIONS.glob("0*.md")))


def test_numbers_that_moved_lead_to_a_page() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    pages = {number for number, *_ in INDEX_ROW.findall(index)}
    moved = re.findall(r"^\| (0\d{3}) \| ([\d, ]+) \|$", index, re.MULTILINE)
    taken = [number for _, numbers in moved for number in numbers.split(", ")]
    assert {page for page, _ in moved} <= pages
    assert not pages & set(taken)
    assert len(taken) == len(set(taken))


def test_index_of_documents_links_each_of_them() -> None:
    index = ROOT / "docs" / "README.md"
    linked = set(LINK.findall(index.read_text(encoding="utf-8")))
    names = {path.name for path in index.parent.glob("*.md")}
    assert names - linked == {"README.md"}


def test_pictures_of_the_documents_are_small() -> None:
    for path in (ROOT / "docs" / "images").iterdir():
        assert path.stat().st_size <= 150 * 1024, path.name
