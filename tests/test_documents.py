"""Documents lead somewhere: their links, paths, names of code and decisions exist."""

import re
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from config.about import VERSION
from tests.support.documents import ROOT, list_files, read_prose
from tests.support.pictures import LANDING_PAGE, PICTURES, VERSION_KEY

DECISIONS = ROOT / "docs" / "decisions"
PACKAGES = (
    *("accounts", "administration", "billing", "board", "card_alerts", "config"),
    *("core", "devstack", "ledger", "tests", "benchmarks"),
)
FOLDERS = (*PACKAGES, "clients", "contrib", "docs", "locale", "script", "templates")

READMES = ("README.md", "README.ko.md")
IMAGE = re.compile(r"!\[[^\]]+\]\(([^()\s]+)\)")
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


def list_shown_pictures() -> set[Path]:
    """Return the pictures of the two pages for newcomers, and of the landing page."""
    shown = set()
    for name in READMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        shown |= {ROOT / path for path in IMAGE.findall(text)}
    page = (ROOT / "templates" / "landing.html").read_text(encoding="utf-8")
    assert "{% static picture %}" in page
    return shown | set(LANDING_PAGE.glob("landing-*.png"))


def test_pictures_are_those_that_the_command_takes() -> None:
    assert list_shown_pictures() == {picture.file for picture in PICTURES}


def test_pictures_are_of_this_version_and_small() -> None:
    for path in list_shown_pictures():
        assert path.stat().st_size <= 150 * 1024, path.name
        with Image.open(path) as picture:
            assert picture.info[VERSION_KEY] == VERSION, f"{path.name}: script/pictures"
    for path in (ROOT / "docs" / "images").iterdir():
        assert path.stat().st_size <= 150 * 1024, path.name


def test_page_for_newcomers_is_as_complete_in_korean() -> None:
    english, korean = ((ROOT / name).read_text(encoding="utf-8") for name in READMES)
    levels = [re.findall(r"^#+(?= )", text, re.MULTILINE) for text in (english, korean)]
    assert levels[0] == levels[1]
    for pattern in (
        # Commands, rows of tables by what they begin with, and links.
        re.compile(r"^script/[\w-]+(?: [A-Z]+| --\w+)?", re.MULTILINE),
        re.compile(r"^\| (`[^|]+`)", re.MULTILINE),
        re.compile(r"\]\(((?!README)[^()\s]+\.(?:md|py)[^()\s]*)\)"),
    ):
        assert sorted(pattern.findall(english)) == sorted(pattern.findall(korean))
