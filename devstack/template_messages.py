"""Extractor of the texts of Django templates for Babel (`script/messages`)."""

from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from typing import Any

from babel.messages.extract import extract_python
from django.utils.translation.template import templatize

# As Babel wants them: line, function, texts, comments.
ExtractedMessage = tuple[int, str, Any, list[str]]


def extract_template(
    file: Any,
    keywords: Collection[str],
    comment_tags: Collection[str],
    options: dict[str, Any],
) -> Iterator[ExtractedMessage]:
    """Yield the texts that a template marks by `translate` and `blocktranslate`."""
    source = templatize(file.read().decode())
    extract: Callable[..., Any] = extract_python
    # Django turns the tags into calls and all else into filler. Each call is on a line
    # of its own kind: the filler around it is no Python.
    for number, line in enumerate(source.splitlines(), start=1):
        code = BytesIO(line.strip().encode())
        for _, function, texts, comments in extract(
            code, keywords, comment_tags, options
        ):
            yield number, function, texts, comments
