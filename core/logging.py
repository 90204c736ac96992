"""Log lines as JSON objects or, on a terminal, as text; without secrets."""

import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

# Of the current request.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
client_address: ContextVar[str | None] = ContextVar("client_address", default=None)
# Django's; this module does without Django.
client_request: ContextVar[Any] = ContextVar("client_request", default=None)
# The member who was authenticated, if any.
member_id: ContextVar[int | None] = ContextVar("member_id", default=None)

REDACTED = "[redacted]"
_SECRET_PATTERNS = (
    # Bearer tokens.
    re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{8,}"),
    # Values with a telling name, in any notation; group 1 is the name, which stays.
    re.compile(
        r"(?i)(?<![\w])((?:session_?id|[\w]*token|[\w]*password|secret\w*|api_?key|key)"
        r"[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;}]+"
    ),
    # Images.
    re.compile(r"data:image/[\w+.-]+;base64,[\w+/=]+"),
    # User and password of a URL.
    re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"),
    # The rows that PostgreSQL quotes in its errors.
    re.compile(r"(?s)DETAIL:.*?(?=\n\S|\Z)"),
    # Numbers long enough for a bank account or a card.
    re.compile(r"(?<![\w.-])\d(?:[ -]?\d){9,18}(?![\w.-])"),
)

# No line shows threads, processes or source lines, so they are not looked up for each
# record (Python's logging HOWTO, "Optimization").
logging.logThreads = logging.logMultiprocessing = False
logging._srcfile = None  # noqa: SLF001


def redact_secrets(text: str) -> str:
    """Return the text with everything that looks like a secret replaced."""
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(
            lambda m: (m.group(1) if m.lastindex else "") + REDACTED, text
        )
    return text


class JSONFormatter(logging.Formatter):
    """A formatter of records as one JSON object per line.

    Keys are `time`, `level`, `logger`, `message`, `requestId` during a request, those
    of the dict `extra["fields"]`, and `trace` for exceptions.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "logger": record.name,
            "message": format_message(record),
        }
        if (current := request_id.get()) is not None:
            line["requestId"] = current
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["trace"] = redact_secrets(self.formatException(record.exc_info))
        return orjson.dumps(line, default=str).decode()


class TextFormatter(logging.Formatter):
    """A formatter of records as one line for people; a trace follows on its own."""

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        if record.name == "access":
            method, path = fields.pop("method", ""), fields.pop("path", "")
            status, duration = fields.pop("status", ""), fields.pop("milliseconds", "")
            message = f"{method} {path} {status} {duration} ms"
        else:
            message = format_message(record)
        # The local time of the terminal.
        time = datetime.fromtimestamp(record.created, UTC).astimezone()
        parts = [f"{time:%H:%M:%S}", f"{record.levelname:7}", record.name, message]
        parts += [f"{name}={value}" for name, value in fields.items()]
        # Paths are the clients': they may not move the cursor or begin a line.
        line = escape_control_characters(" ".join(parts))
        if record.exc_info:
            line += "\n" + redact_secrets(self.formatException(record.exc_info))
        return line


def format_message(record: logging.LogRecord) -> str:
    # The message of the access log is a constant: nothing to redact, and this is most
    # of all lines.
    if record.name == "access" and not record.args:
        return str(record.msg)
    return redact_secrets(record.getMessage())


def escape_control_characters(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )


def choose_formatter(log_format: str) -> str:
    """Return the formatter of LOG_FORMAT; AUTO is text where a terminal shows it."""
    if log_format != "AUTO":
        return log_format.lower()
    return "text" if sys.stderr.isatty() else "json"
