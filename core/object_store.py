"""A bucket in an S3-compatible store, named by the setting OBJECT_STORE.

botocore signs the requests; a circuit breaker and a bulkhead keep a hanging store from
holding all threads.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import gettext_lazy

from core.bulkhead import Bulkhead
from core.errors import RETRY_AFTER_SECONDS, DomainError
from core.http_client import circuit_breaker
from core.metrics import object_store_failures

logger = logging.getLogger(__name__)

SERVICE = "object store"
CONNECT_TIMEOUT_SECONDS = 2.0
READ_TIMEOUT_SECONDS = 5.0
# `/api/health` answers within 3 seconds, of which PostgreSQL may take 2.
PROBE_TIMEOUT_SECONDS = 0.4
# One thread of a web process answers other requests.
MAX_CALLS = max(1, settings.WEB_THREADS - 1)
SLOT_WAIT_SECONDS = 0.5
# The most that stores give.
PAGE_SIZE = 1_000
_CHUNK_BYTES = 2**16

_bulkhead = Bulkhead(MAX_CALLS)
_build_lock = threading.Lock()


class ObjectStoreUnavailableError(DomainError):
    status = 503
    code = "IMAGE_STORE_UNAVAILABLE"
    detail = gettext_lazy("The store of images is unavailable. Try again later.")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


class ObjectMissingError(Exception):
    """The store has no object with the key."""


class StoredObject(NamedTuple):
    key: str
    modified_at: datetime


def is_configured() -> bool:
    return settings.OBJECT_STORE is not None


def put_object(key: str, content: bytes, content_type: str) -> None:
    """Write an object; raise `ObjectStoreUnavailableError`, as all functions here."""
    with _call() as (client, bucket):
        client.put_object(
            Bucket=bucket, Key=key, Body=content, ContentType=content_type
        )


def get_object(key: str, *, max_bytes: int) -> bytes:
    """Return the content; raise `ObjectMissingError` without the object.

    A larger object is another one than was written, and missing too.
    """
    deadline = time.monotonic() + READ_TIMEOUT_SECONDS
    with _call() as (client, bucket):
        response = client.get_object(Bucket=bucket, Key=key)
        content = b""
        with response["Body"] as body:
            while chunk := body.read(_CHUNK_BYTES):
                content += chunk
                if len(content) > max_bytes:
                    raise ObjectMissingError
                if time.monotonic() > deadline:
                    raise ObjectStoreUnavailableError
        return content


def delete_object(key: str) -> None:
    """Delete an object; one that does not exist is no error."""
    with _call() as (client, bucket):
        client.delete_object(Bucket=bucket, Key=key)


def list_objects(prefix: str) -> Iterator[StoredObject]:
    """Yield the objects below a prefix, in the order of their keys."""
    after = ""
    while True:
        with _call() as (client, bucket):
            page = client.list_objects_v2(
                Bucket=bucket, Prefix=prefix, StartAfter=after, MaxKeys=PAGE_SIZE
            )
        objects = page.get("Contents", [])
        for item in objects:
            yield StoredObject(item["Key"], item["LastModified"])
        if not objects or not page["IsTruncated"]:
            return
        after = objects[-1]["Key"]


def is_reachable() -> bool:
    """Ask for the bucket, unless calls fail now; an answer ends their refusal."""
    from botocore.exceptions import BotoCoreError, ClientError

    store = settings.OBJECT_STORE
    if store is None or not circuit_breaker.allows_request(SERVICE):
        return False
    client = _get_client(timeout_seconds=PROBE_TIMEOUT_SECONDS, **store)
    try:
        client.head_bucket(Bucket=store["bucket"])
    except (BotoCoreError, ClientError):
        # Its time limit is shorter than that of calls, so that it fails none.
        return False
    circuit_breaker.record_success(SERVICE)
    return True


@contextmanager
def _call() -> Iterator[tuple[Any, str]]:
    """Yield the client and the bucket for one call; count its failure."""
    from botocore.exceptions import BotoCoreError, ClientError
    from urllib3.exceptions import HTTPError

    store = settings.OBJECT_STORE
    if store is None:
        logger.error("images lie in the object store, and S3_BUCKET is not set")
        raise ObjectStoreUnavailableError
    if not circuit_breaker.allows_request(SERVICE):
        raise ObjectStoreUnavailableError
    with _bulkhead.slot(wait_seconds=SLOT_WAIT_SECONDS) as has_slot:
        if not has_slot:
            raise ObjectStoreUnavailableError
        started_at = time.monotonic()
        try:
            client = _get_client(timeout_seconds=READ_TIMEOUT_SECONDS, **store)
            yield client, store["bucket"]
        except ObjectMissingError:
            circuit_breaker.record_success(SERVICE)
            raise
        # Errors of urllib3 come while the body of an answer is read.
        except (
            *(BotoCoreError, ClientError, HTTPError, OSError),
            ObjectStoreUnavailableError,
        ) as error:
            if _is_missing(error):
                circuit_breaker.record_success(SERVICE)
                raise ObjectMissingError from None
            circuit_breaker.record_failure(SERVICE, started_at=started_at)
            object_store_failures.inc()
            logger.warning("object store is unavailable: %s", _describe(error))
            raise ObjectStoreUnavailableError from None
        if circuit_breaker.record_success(SERVICE):
            logger.info("object store is available again")


def _read_answer(error: Exception) -> dict[str, Any]:
    """Return the store's answer that is the error; {} if there is none."""
    return getattr(error, "response", None) or {}


def _is_missing(error: Exception) -> bool:
    code: str = _read_answer(error).get("Error", {}).get("Code", "")
    return code == "NoSuchKey"


def _describe(error: Exception) -> str:
    """Return the kind of an error; its message may hold the key of the object."""
    status = _read_answer(error).get("ResponseMetadata", {}).get("HTTPStatusCode", "")
    return f"{type(error).__name__} {status}".strip()


def _get_client(**options: Any) -> Any:
    # Building it takes 0.3 seconds, and botocore does not do it in two threads at once.
    with _build_lock:
        return _build_client(**options)


@lru_cache(maxsize=4)
def _build_client(
    *,
    timeout_seconds: float,
    endpoint: str,
    region: str,
    access_key: str,
    secret_key: str,
    bucket: str,
) -> Any:
    # It takes 24 MiB of memory, which processes without a store save.
    from botocore.config import Config
    from botocore.session import Session

    config = Config(
        connect_timeout=min(CONNECT_TIMEOUT_SECONDS, timeout_seconds),
        read_timeout=timeout_seconds,
        retries={"total_max_attempts": 1},
        # A bucket need not be a name below the endpoint's.
        s3={"addressing_style": "path" if endpoint else "auto"},
        # Stores of others know no newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return Session().create_client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=config,
    )
