"""The handler remembers where paths lead, and nothing of a request."""

import io
from typing import Any

import pytest

from core.wsgi_handler import RememberingWSGIHandler, _resolve


@pytest.fixture(scope="module")
def handler() -> RememberingWSGIHandler:
    return RememberingWSGIHandler()


def ask(handler: RememberingWSGIHandler, path: str) -> int:
    statuses: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
    }

    def start_response(status: str, headers: Any, _: Any = None) -> Any:
        statuses.append(status)

    response: Any = handler(environ, start_response)
    response.close()
    return int(statuses[0][:3])


@pytest.mark.django_db
def test_path_is_resolved_once(handler: RememberingWSGIHandler) -> None:
    _resolve.cache_clear()
    for _ in range(3):
        assert ask(handler, "/api/health/live") == 200
    found = _resolve.cache_info()
    assert (found.misses, found.hits) == (1, 2)


@pytest.mark.django_db
def test_unknown_paths_are_not_remembered(handler: RememberingWSGIHandler) -> None:
    _resolve.cache_clear()
    for _ in range(2):
        assert ask(handler, "/nothing-there") == 404
    assert _resolve.cache_info().currsize == 0


def test_service_runs_on_it() -> None:
    from config.wsgi import application

    assert isinstance(application, RememberingWSGIHandler)
