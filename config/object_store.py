"""The S3-compatible store of images (a part of the settings)."""

import re

from django.core.exceptions import ImproperlyConfigured

from config import env

DATABASE, S3 = "DATABASE", "S3"
DEFAULT_REGION = "us-east-1"
_BUCKET_RE = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def read_image_store(store: dict[str, str] | None) -> str:
    """Return where new images are stored: DATABASE or S3."""
    value = env.read_choice("IMAGE_STORE", DATABASE, (DATABASE, S3))
    if value == S3 and store is None:
        raise ImproperlyConfigured("S3_BUCKET is not set: IMAGE_STORE is S3.")
    return value


def read_object_store() -> dict[str, str] | None:
    """Return the bucket and the key of access to it; None without a bucket."""
    bucket = env.read_text("S3_BUCKET")
    if not bucket:
        return None
    if not _BUCKET_RE.fullmatch(bucket):
        raise ImproperlyConfigured("S3_BUCKET must be the name of a bucket.")
    reason = "S3_BUCKET is set"
    endpoint = env.read_text("S3_ENDPOINT_URL")
    return {
        "bucket": bucket,
        # Amazon's by default.
        "endpoint": endpoint and env.read_origin("S3_ENDPOINT_URL", ""),
        "region": env.read_text("S3_REGION", DEFAULT_REGION),
        "access_key": env.read_required("S3_ACCESS_KEY", reason),
        "secret_key": env.read_required("S3_SECRET_KEY", reason),
    }
