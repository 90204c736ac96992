"""Reads an untrusted file and prints its tables: run as a process of its own.

    python -I file_reader.py < PASSWORD_AND_FILE > FRAMES

The first line of the input is the password as a JSON text, or null; the file follows. A
password is in no argument, which other processes could see, and in no file.

The system limits memory and processor time of this process, as it does for a restore
(`ledger.backup.sandboxed_reader`): a workbook of a few kilobytes can expand to
gigabytes. The output is one JSON array a line:

    ["table", [KIND, NAME]]  a table begins, of a kind of `ledger.imports.records.Table`
    ["rows", ROWS]           some rows, as lists of cells; after the last, none
    ["error", [NAME, {}]]    a key of `ledger.imports.reading.FILE_ERRORS`, with values
    ["password", IS_WRONG]   the file is encrypted
    ["end", null]            the file was read to its end

A file of our own export is one table of the kind `ledger` with its text as the only
cell.
"""

import sys
from itertools import islice
from pathlib import Path

import orjson

ROWS_PER_FRAME = 2_000
MAX_OUTPUT_BYTES = 64 * 2**20


class Output:
    """Writes frames up to a bound."""

    def __init__(self) -> None:
        self.size = 0

    def send(self, kind: str, content: object) -> None:
        from ledger.imports.formats.cells import InvalidFileError

        frame = orjson.dumps([kind, content], option=orjson.OPT_APPEND_NEWLINE)
        self.size += len(frame)
        if self.size > MAX_OUTPUT_BYTES:
            raise InvalidFileError("size")
        sys.stdout.buffer.write(frame)


def main() -> None:
    import os

    from ledger.backup.sandboxed_reader import (
        NICENESS,
        send_frame,
        set_resource_limits,
    )
    from ledger.imports.formats.cells import InvalidFileError, PasswordError
    from ledger.imports.formats.contents import read_contents

    os.nice(NICENESS)
    set_resource_limits()
    password = orjson.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    output = Output()
    try:
        for kind, name, rows in read_contents(data, password):
            output.send("table", [kind, name])
            while batch := list(islice(rows, ROWS_PER_FRAME)):
                output.send("rows", batch)
            output.send("rows", [])
    except InvalidFileError as error:
        send_frame("error", [error.name, error.values])
    except PasswordError as error:
        send_frame("password", error.is_wrong)
    except (MemoryError, RecursionError):
        send_frame("error", ["size", {}])
    else:
        send_frame("end", None)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    # -I leaves out the directory of the program; the packages of the service come last.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    main()
