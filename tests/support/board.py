"""Lists of posts, uploads of images, and the counters of the board."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

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


IMAGES = "/api/board/images"
KINDS = ["png", "jpeg", "webp", "gif"]


def upload(client: JSONClient, content: bytes, name: str = "a.png") -> Any:
    return send(client, {"image": SimpleUploadedFile(name, content)})


def send(client: JSONClient, fields: dict[str, Any]) -> Any:
    response: Any = client.post(IMAGES, fields)
    response.data = json.loads(response.content)
    return response


def refusal_of(response: Any) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.data["code"]


def store(client: JSONClient, content: bytes) -> str:
    """Upload an image and return the path of the stored one."""
    response = upload(client, content)
    assert response.status_code == 201, response.content
    url: str = response.data["url"]
    return url[url.index("/api/") :]


DRIFT = """
    SELECT 'post', p.id FROM board_post p
    WHERE (p.up_count, p.down_count, p.comment_count) IS DISTINCT FROM (
        (SELECT count(*) FROM board_post_vote v WHERE v.post_id = p.id AND value = 1),
        (SELECT count(*) FROM board_post_vote v WHERE v.post_id = p.id AND value = -1),
        (SELECT count(*) FROM board_comment c WHERE c.post_id = p.id
         AND NOT c.is_hidden)
    )
    UNION ALL
    SELECT 'comment', c.id FROM board_comment c
    WHERE (c.up_count, c.down_count) IS DISTINCT FROM (
        (SELECT count(*) FROM board_comment_vote v
         WHERE v.comment_id = c.id AND value = 1),
        (SELECT count(*) FROM board_comment_vote v
         WHERE v.comment_id = c.id AND value = -1)
    )
    UNION ALL
    SELECT 'image', 0 FROM board_image i
    WHERE (i.unused_since IS NULL)
        <> EXISTS (SELECT FROM board_post_image s WHERE s.image_id = i.id)
"""


def find_counter_drift() -> list[Any]:
    """Return the rows whose counters differ from what there is to count."""
    with connection.cursor() as cursor:
        cursor.execute(DRIFT)
        return list(cursor.fetchall())
