"""One JSON object a line, with the request's id and without secrets."""

import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

REDACTED = "[withheld]"
_SECRET_PATTERNS = (
    re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{8,}"),
    re.compile(
        r"(?i)(?<![\w])((?:session_?id|[\w]*token|[\w]*password|secret\w*|api_?key|key)"
        r"[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;}]+"
    ),
    re.compile(r"data:image/[\w+.-]+;base64,[\w+/=]+"),
    re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"),
    re.compile(r"(?s)DETAIL:.*?(?=\n\S|\Z)"),
    re.compile(r"(?<![\w.-])\d(?:[ -]?\d){9,18}(?![\w.-])"),
)
"""Bearer tokens, named secrets, pictures, passwords in addresses, the rows that
PostgreSQL quotes in its errors, and numbers long enough to be an account's."""


def redact_secrets(text: str) -> str:
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(
            lambda m: (m.group(1) if m.lastindex else "") + REDACTED, text
        )
    return text


# What no line shows is not looked up for each line (logging HOWTO, Optimization).
logging.logThreads = logging.logMultiprocessing = False
logging._srcfile = None  # noqa: SLF001


class JSONFormatter(logging.Formatter):
    """`time`, `level`, `logger`, `message`, `requestId`, and the `extra` fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "logger": record.name,
            "message": self.redacted_message(record),
        }
        if (current := request_id.get()) is not None:
            line["requestId"] = current
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["trace"] = redact_secrets(self.formatException(record.exc_info))
        return orjson.dumps(line, default=str).decode()

    def redacted_message(self, record: logging.LogRecord) -> str:
        """A short constant, as access lines have it, needs no search for secrets."""
        if not record.args and record.name == "access":
            return str(record.msg)
        return redact_secrets(record.getMessage())
