"""Log lines as JSON or, on a terminal, as text; without secrets."""

import logging
import re
import sys
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson

from core.client import Client

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
current_client: ContextVar[Client | None] = ContextVar("client", default=None)
member_id: ContextVar[int | None] = ContextVar("member_id", default=None)

REDACTED = "[redacted]"
_SECRET_PATTERNS = (
    re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{8,}"),
    # Group 1 is the name of the secret.
    re.compile(
        r"(?i)(?<![\w])((?:session_?id|[\w]*token|[\w]*password|secret\w*|api_?key|key)"
        r"[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;}]+"
    ),
    re.compile(r"data:image/[\w+.-]+;base64,[\w+/=]+"),
    re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"),
    # The rows that PostgreSQL quotes in its errors.
    re.compile(r"(?s)DETAIL:.*?(?=\n\S|\Z)"),
    # Bank accounts and cards.
    re.compile(r"(?<![\w.-])\d(?:[ -]?\d){9,18}(?![\w.-])"),
)

# Lines have no threads, processes and source lines (logging HOWTO, "Optimization").
logging.logThreads = logging.logMultiprocessing = False
logging._srcfile = None  # noqa: SLF001


def redact_secrets(text: str) -> str:
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(
            lambda m: (m.group(1) if m.lastindex else "") + REDACTED, text
        )
    return text


class JSONFormatter(logging.Formatter):
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
    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        if record.name == "access":
            method, path = fields.pop("method", ""), fields.pop("path", "")
            status, duration = fields.pop("status", ""), fields.pop("milliseconds", "")
            message = f"{method} {path} {status} {duration} ms"
        else:
            message = format_message(record)
        time = datetime.fromtimestamp(record.created, UTC).astimezone()
        parts = [f"{time:%H:%M:%S}", f"{record.levelname:7}", record.name, message]
        parts += [f"{name}={value}" for name, value in fields.items()]
        # Control characters in clients' paths must not reach the terminal.
        line = escape_control_characters(" ".join(parts))
        if record.exc_info:
            line += "\n" + redact_secrets(self.formatException(record.exc_info))
        return line


def format_message(record: logging.LogRecord) -> str:
    if record.name == "access" and not record.args:
        return str(record.msg)
    return redact_secrets(record.getMessage())


def escape_control_characters(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )


def choose_formatter(log_format: str) -> str:
    if log_format != "AUTO":
        return log_format.lower()
    return "text" if sys.stderr.isatty() else "json"
