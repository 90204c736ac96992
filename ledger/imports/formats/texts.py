"""Bytes as text: UTF-8, UTF-16 with a byte order mark, CP949."""

import codecs
import re

from ledger.imports.formats.cells import InvalidFileError

# A text of UTF-16 without its mark has one in every second byte.
MAX_NUL_SHARE = 0.05

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Beginnings of files that are no text; CP949 would decode some of them.
_BINARY = re.compile(
    rb"%PDF|\x89PNG|GIF8|\xff\xd8\xff|Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ|\x7fELF|MZ"
)


def decode_text(data: bytes) -> str:
    """Return the text of a file, with line ends as they are.

    UTF-8 is tried before CP949: Korean in CP949 is never valid UTF-8 for more than a
    few letters. Raises `InvalidFileError` "kind" for known binary files and "encoding".
    """
    if _BINARY.match(data):
        raise InvalidFileError("kind")
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data, (encoding,))
    text = _decode(data, ("utf-8", "cp949"))
    if text.count("\0") > MAX_NUL_SHARE * len(text):
        raise InvalidFileError("encoding")
    return text


def _decode(data: bytes, encodings: tuple[str, ...]) -> str:
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InvalidFileError("encoding")
