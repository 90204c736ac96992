"""The settings of the store of images, and of prepared statements."""

import json

import pytest

from tests.support.settings_process import import_settings

BUCKET = {
    "S3_BUCKET": "household-ledger",
    "S3_ACCESS_KEY": "access",
    "S3_SECRET_KEY": "secret",
}
READ_STORE = """
import json
from django.conf import settings
print(json.dumps([settings.IMAGE_STORE, settings.OBJECT_STORE]))
"""
READ_THRESHOLD = """
from django.conf import settings
print(settings.DATABASES["default"]["OPTIONS"]["prepare_threshold"])
"""


def test_images_lie_in_the_database_by_default() -> None:
    result = import_settings(READ_STORE)
    assert json.loads(result.stdout) == ["DATABASE", None]


def test_bucket_is_read_also_where_new_images_go_to_the_database() -> None:
    result = import_settings(READ_STORE, **BUCKET)
    assert json.loads(result.stdout) == [
        "DATABASE",
        {
            "bucket": "household-ledger",
            "endpoint": "",
            "region": "us-east-1",
            "access_key": "access",
            "secret_key": "secret",
        },
    ]


def test_store_of_others_is_named_by_its_origin() -> None:
    place = {"S3_ENDPOINT_URL": "http://127.0.0.1:9000/", "S3_REGION": "kr-1"}
    result = import_settings(READ_STORE, **BUCKET, **place, IMAGE_STORE="s3")
    where, store = json.loads(result.stdout)
    assert where == "S3"
    assert (store["endpoint"], store["region"]) == ("http://127.0.0.1:9000", "kr-1")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"IMAGE_STORE": "S3", "S3_BUCKET": ""}, "S3_BUCKET is not set"),
        ({"IMAGE_STORE": "disk"}, "IMAGE_STORE must be one of DATABASE, S3"),
        ({"S3_BUCKET": "s3://bucket"}, "S3_BUCKET must be the name of a bucket"),
        ({"S3_ACCESS_KEY": ""}, "S3_ACCESS_KEY is not set"),
        ({"S3_SECRET_KEY": ""}, "S3_SECRET_KEY is not set"),
        ({"S3_ENDPOINT_URL": "http://a.example/path"}, "S3_ENDPOINT_URL must be like"),
    ],
)
def test_setting_that_is_missing_or_wrong_stops_the_start(
    changed: dict[str, str], told: str
) -> None:
    result = import_settings(READ_STORE, **BUCKET | changed)
    assert result.returncode != 0
    assert told in result.stderr
    assert "secret" not in result.stderr.replace("secret_key", "")


@pytest.mark.parametrize(
    ("changed", "threshold"),
    [
        ({}, "1"),
        ({"DATABASE_TRANSACTION_POOLING": "true"}, "None"),
        (
            {
                "DATABASE_TRANSACTION_POOLING": "true",
                "DATABASE_PREPARED_STATEMENTS": "true",
            },
            "1",
        ),
        ({"DATABASE_PREPARED_STATEMENTS": "false"}, "None"),
    ],
)
def test_statements_are_prepared_unless_a_pooler_forgets_them(
    changed: dict[str, str], threshold: str
) -> None:
    assert import_settings(READ_THRESHOLD, **changed).stdout.strip() == threshold
