"""Whoever cites the specification names a section that exists in `docs/spec`."""

import re
from collections import Counter
from pathlib import Path

from tests.support.documents import ROOT, list_files, read_prose

SPEC = ROOT / "docs" / "spec"

HEADING = re.compile(r"^## (\d+\.\d+) (.+)$", re.MULTILINE)
INDEX_ROW = re.compile(r"^\| (\d+\.\d+) (.+?) \|", re.MULTILINE)
CITATION = re.compile(r"\bspec\s+(\d+(?:\.\d+)?(?:,\s+\d+(?:\.\d+)?)*)")
OLD_FORM = re.compile(
    r"\bcontract,?\s+section\b|\bservice\.md\b|\bcontract(?:-\w+)?\.md\b"
    r"|\(contract,\s",
    re.IGNORECASE,
)


def cite(text: str) -> list[str]:
    """Return the section numbers that a text cites."""
    return [
        number
        for match in CITATION.finditer(text)
        for number in re.split(r",\s+", match[1])
    ]


def read_headings() -> dict[str, str]:
    """Return the title of each section by its number."""
    return {
        match[1]: match[2]
        for path in sorted(SPEC.glob("*.md"))
        for match in HEADING.finditer(path.read_text(encoding="utf-8"))
    }


def test_citations_are_found_in_every_way_they_are_written() -> None:
    assert cite("(spec 3.4)") == ["3.4"]
    assert cite("see spec 3.4, 3.10, and more") == ["3.4", "3.10"]
    assert cite("spec\n    1.2,\n    1.3") == ["1.2", "1.3"]
    assert cite("find_spec 1.2; a special 3.4") == []


def test_every_section_cited_exists() -> None:
    headings = read_headings()
    assert [
        f"{path.relative_to(ROOT)}: spec {number}"
        for path in list_files()
        if path != Path(__file__).resolve()
        for number in cite(read_prose(path))
        if number not in headings
    ] == []


def test_code_and_tests_cite_the_specification() -> None:
    code = [path for path in list_files() if path.suffix == ".py"]
    cited = {number for path in code for number in cite(read_prose(path))}
    chapters = {number.partition(".")[0] for number in cited}
    assert {"1", "2", "3", "4", "5", "6", "7"} <= chapters


def test_no_citation_has_the_old_form() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in list_files()
        for match in OLD_FORM.finditer(read_prose(path))
    ] == []


def test_section_numbers_are_unique_and_in_the_file_of_their_chapter() -> None:
    numbers = [
        (path.name.partition("-")[0], match[1])
        for path in SPEC.glob("*-*.md")
        for match in HEADING.finditer(path.read_text(encoding="utf-8"))
    ]
    assert [
        number for chapter, number in numbers if number.partition(".")[0] != chapter
    ] == []
    counts = Counter(number for _, number in numbers)
    assert [number for number, count in counts.items() if count > 1] == []


def test_index_lists_every_section_by_its_title() -> None:
    index = (SPEC / "README.md").read_text(encoding="utf-8")
    assert dict(INDEX_ROW.findall(index)) == read_headings()
