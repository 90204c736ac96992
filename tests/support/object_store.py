"""An S3-compatible store on loopback, and images that lie in it."""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.utils import timezone
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from accounts.models import Member
from board.image_objects import KEY_PREFIX, keep_object, write_object
from board.models import Image
from core import http_client, object_store
from devstack.stores.data_dir import LOOPBACK
from tests.support.stores import find_closed_port

BUCKET = "household-ledger"
CONTENT = b"bytes of an image"


def address_store(port: int) -> dict[str, str]:
    """Return a value of OBJECT_STORE."""
    return {
        "bucket": BUCKET,
        "endpoint": f"http://{LOOPBACK}:{port}",
        "region": "us-east-1",
        "access_key": "access",
        "secret_key": "secret",
    }


class FakeObjectStore:
    """The bucket; `stop` and `start` change the setting only."""

    def __init__(self, port: int, settings: Any) -> None:
        self._settings = settings
        self._store = address_store(port)
        self.start()
        self.client = object_store._get_client(timeout_seconds=5.0, **self._store)
        self.client.create_bucket(Bucket=BUCKET)

    def start(self) -> None:
        self._settings.OBJECT_STORE = self._store
        http_client.circuit_breaker.reset()

    def stop(self) -> None:
        """Let nothing listen at the address of the store."""
        self._settings.OBJECT_STORE = address_store(find_closed_port())

    def list_keys(self) -> list[str]:
        page = self.client.list_objects_v2(Bucket=BUCKET)
        return [item["Key"] for item in page.get("Contents", [])]

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=key)

    def empty(self) -> None:
        for key in self.list_keys():
            self.delete(key)
        self.client.delete_bucket(Bucket=BUCKET)


@contextmanager
def run_object_store() -> Iterator[int]:
    """Yield the port of a server."""
    # It logs each request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=LOOPBACK, port=0, verbose=False)
    server.start()
    try:
        yield server.get_host_and_port()[1]
    finally:
        server.stop()


def make_image(
    member: Member, *, in_store: bool, content: bytes = CONTENT, **fields: Any
) -> Image:
    """Return an image that no post shows, old enough to be purged."""
    now = timezone.now()
    image = Image(
        member=member,
        content=content,
        content_type="image/png",
        width=1,
        height=1,
        size=len(content),
        content_hash=hashlib.sha256(content).hexdigest(),
        created_at=now,
        unused_since=now - timedelta(days=2),
    )
    for name, value in fields.items():
        setattr(image, name, value)
    if in_store:
        key = write_object(image.pk, content, image.content_type, image.content_hash)
        image.content, image.object_key = None, key
        keep_object(key)
    image.save(force_insert=True)
    return image


def list_images_of_keys(keys: list[str]) -> list[str]:
    """Return the ids of the images whose objects they are."""
    return [key.removeprefix(KEY_PREFIX).partition("/")[0] for key in keys]
