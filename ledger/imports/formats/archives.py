"""Zip archives: workbooks are some, others hold one file that is read."""

import io
import zipfile
import zlib
from collections.abc import Iterable
from typing import TypeAlias

import pyzipper

from ledger.imports.formats.cells import InvalidFileError, PasswordError

ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
# An expanded workbook of 100,000 rows takes some 60 MB in one part.
MAX_TOTAL_BYTES = 160 * 2**20
MAX_COMPRESSION_RATIO = 200
# The ratio says nothing about a few bytes.
MIN_COMPRESSED_BYTES = 1_000
MAX_PARTS = 1_000
MAX_FILES = 20
MAX_FILE_BYTES = 32 * 2**20
ENCRYPTED_FLAG = 0x1
Archive: TypeAlias = pyzipper.AESZipFile
_SPREADSHEET = b"application/vnd.oasis.opendocument.spreadsheet"
_MANIFEST = "META-INF/manifest.xml"
_HEAD_BYTES = 65_536
_DAMAGED = (zipfile.BadZipFile, pyzipper.BadZipFile, zlib.error, EOFError, OSError)


def open_archive(data: bytes) -> Archive:
    """Return an archive whose declared sizes are within the bounds."""
    try:
        archive = pyzipper.AESZipFile(io.BytesIO(data))
        parts = archive.infolist()
    except (*_DAMAGED, ValueError, NotImplementedError):
        raise InvalidFileError("damaged") from None
    if len(parts) > MAX_PARTS or sum(p.file_size for p in parts) > MAX_TOTAL_BYTES:
        raise InvalidFileError("size")
    for part in parts:
        compressed_size = max(part.compress_size, MIN_COMPRESSED_BYTES)
        if part.file_size > MAX_COMPRESSION_RATIO * compressed_size:
            raise InvalidFileError("size")
    return archive


def is_workbook(archive: Archive) -> bool:
    """Return True for XLSX and ODS, by the parts that each has."""
    names = set(archive.namelist())
    if _MANIFEST in names and b"encryption-data" in _read_head(archive, _MANIFEST):
        # Of ODS, whose encryption no library here reads.
        raise InvalidFileError("encryption")
    if "[Content_Types].xml" in names or "content.xml" in names:
        return True
    return "mimetype" in names and _read_head(archive, "mimetype") == _SPREADSHEET


def _read_head(archive: Archive, name: str) -> bytes:
    """Return the first 64 KiB of a part, b"" if it cannot be read."""
    try:
        with archive.open(name) as part:
            head: bytes = part.read(_HEAD_BYTES)
            return head
    except (*_DAMAGED, RuntimeError, NotImplementedError):
        return b""


def list_files(archive: Archive) -> list[pyzipper.ZipInfo]:
    """Return the files that a person has put in, without what systems add."""
    files = [
        part
        for part in archive.infolist()
        if not part.is_dir()
        and part.file_size
        and not part.filename.startswith("__MACOSX/")
        and not part.filename.rpartition("/")[2].startswith(".")
    ]
    if not files:
        raise InvalidFileError("empty")
    if len(files) > MAX_FILES:
        raise InvalidFileError("files", limit=MAX_FILES)
    return files


def read_file(archive: Archive, file: pyzipper.ZipInfo, password: str | None) -> bytes:
    """Return a file of an archive, AES and ZipCrypto too; raise `PasswordError`."""
    if not file.flag_bits & ENCRYPTED_FLAG:
        return _read_bounded(archive, file, None)
    if password is None:
        raise PasswordError(is_wrong=False)
    for encoded in _encode_password(password):
        try:
            return _read_bounded(archive, file, encoded)
        except PasswordError:
            continue
    raise PasswordError(is_wrong=True)


def _read_bounded(
    archive: Archive, file: pyzipper.ZipInfo, password: bytes | None
) -> bytes:
    try:
        with archive.open(file, pwd=password) as opened:
            data: bytes = opened.read(MAX_FILE_BYTES + 1)
            is_whole = len(data) > MAX_FILE_BYTES or not opened.read(1)
    # A password of one byte in 256 fits the check of ZipCrypto and fails afterwards.
    except RuntimeError:
        raise PasswordError(is_wrong=True) from None
    except _DAMAGED:
        if password is not None:
            raise PasswordError(is_wrong=True) from None
        raise InvalidFileError("damaged") from None
    except NotImplementedError:
        raise InvalidFileError("encryption") from None
    if len(data) > MAX_FILE_BYTES or not is_whole:
        raise InvalidFileError("size")
    return data


def _encode_password(password: str) -> Iterable[bytes]:
    """Return the password as programs encode it, each once."""
    encoded = [password.encode("utf-8")]
    try:
        encoded.append(password.encode("cp949"))
    except UnicodeEncodeError:
        return encoded
    return dict.fromkeys(encoded)
