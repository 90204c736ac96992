"""Clients of the released document work with the one to come (contract-people 5.6)."""

import json
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from tests.support.document_changes import (
    RELEASED,
    list_breaking_changes,
    without_texts,
)

# What the service always refused.
MEANT = [
    f"POST {path}: a body is required"
    for path in (
        "/api/auth/password-reset",
        "/api/auth/reauthenticate",
        "/api/board/comments/{commentId}/vote",
        "/api/board/posts/{postId}/vote",
    )
]


def test_document_breaks_no_client_of_the_released_one() -> None:
    released = json.loads(RELEASED.read_text())
    generator: Any = SchemaGenerator
    document = generator().get_schema(request=None, public=True)
    assert list_breaking_changes(released, without_texts(document)) == MEANT
