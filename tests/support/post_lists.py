"""Lists of posts, read through the API."""

from datetime import datetime, timedelta
from typing import Any

from tests.support.clients import JSONClient

POSTS = "/api/board/posts"
MINE = "/api/board/my/posts"
NOW = datetime.fromisoformat("2026-11-20T12:00:00+09:00")
# The up-votes and the age of hot posts.
HOT, DAY = 50, timedelta(days=1)


def ids_of(body: Any) -> list[Any]:
    return [post["id"] for post in body["results"]]


def read_all(client: JSONClient, path: Any = POSTS, **query: Any) -> list[Any]:
    """Return the ids of all pages, following `next`."""
    body = client.get_json(path, **query)
    ids = ids_of(body)
    while body["next"]:
        body = client.get_json(body["next"])
        ids += ids_of(body)
    return ids
