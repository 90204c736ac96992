"""Extract texts of Django templates for Babel."""

from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from typing import Any

from babel.messages.extract import extract_python
from django.utils.translation.template import templatize

# Babel's format: line, function, texts, comments.
ExtractedMessage = tuple[int, str, Any, list[str]]


def extract_template(
    file: Any,
    keywords: Collection[str],
    comment_tags: Collection[str],
    options: dict[str, Any],
) -> Iterator[ExtractedMessage]:
    source = templatize(file.read().decode())
    extract: Callable[..., Any] = extract_python
    # Django turns tags into calls and the rest into filler, which is not Python.
    for number, line in enumerate(source.splitlines(), start=1):
        code = BytesIO(line.strip().encode())
        for _, function, texts, comments in extract(
            code, keywords, comment_tags, options
        ):
            yield number, function, texts, comments
