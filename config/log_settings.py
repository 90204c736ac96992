"""The logging of all processes, to stderr."""

from typing import Any

from config import env
from core.logging import choose_formatter


def build_logging() -> dict[str, Any]:
    level = env.read_choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
    log_format = env.read_choice("LOG_FORMAT", "AUTO", ("AUTO", "JSON", "TEXT"))
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {"()": "core.logging.JSONFormatter"},
            "text": {"()": "core.logging.TextFormatter"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": choose_formatter(log_format),
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "_granian": {"handlers": [], "level": "INFO", "propagate": True},
            "django.request": {"level": "ERROR"},
            # Unknown Host headers are noise.
            "django.security": {"level": "CRITICAL"},
            "psycopg.pool": {"level": "ERROR"},
            # At DEBUG it logs signed headers and keys of objects.
            "botocore": {"level": "INFO"},
        },
    }
