"""Interpreters for tests that read settings, forked from one that has libraries loaded.

`python -m tests.support.interpreters` reads requests from standard input, a JSON object
a line, and runs each in a process of its own. Nothing of the service is imported before
the fork, and no library that reads settings or the environment when it is imported.
"""

import atexit
import json
import os
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

LIBRARIES = (
    *("django.contrib.messages.storage.base", "django.core.handlers.wsgi"),
    *("django.core.management", "django.db.backends.postgresql.psycopg_any"),
    *("django.db.models.sql.compiler", "django.forms", "django.template.defaulttags"),
    *("django.urls", "django.views.generic", "celery.app.base", "kombu.transport"),
    *("psycopg", "psycopg_pool", "psycopg_binary", "redis", "redis.asyncio"),
    *("requests", "google.oauth2.service_account", "cryptography.x509"),
    *("cryptography.hazmat.primitives.ciphers.aead", "PIL.Image", "sqlparse"),
    *("asyncio", "concurrent.futures.thread", "xml.dom.minidom", "environ"),
)


def serve() -> None:
    for library in LIBRARIES:
        # One that is missing is imported, or not, by the code itself.
        with suppress(ImportError):
            import_module(library)
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            pid = os.fork()
            if pid == 0:
                os.dup2(out.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                run(request["code"], request["env"])
            _, status = os.waitpid(pid, 0)
            texts = []
            for file in (out, errors):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
        response = [os.waitstatus_to_exitcode(status), *texts]
        sys.stdout.write(json.dumps(response) + "\n")
        sys.stdout.flush()


def run(code: str, env: dict[str, str]) -> NoReturn:
    """Run the code as `python -c` does, and end the process."""
    os.environ.clear()
    os.environ.update(env)
    sys.argv[:] = ["-c"]
    module: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    status = 0
    try:
        exec(compile(code, "<string>", "exec"), module)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and not isinstance(end.code, int):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # what an interpreter prints at its end
        traceback.print_exc()
        status = 1
    finally:
        with suppress(Exception):
            atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
