"""Addresses that people copy (spec 5.13)."""

import pytest

from board.outside_reports.addresses import find_target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", ("POST", 12)),
        ("posts/12", ("POST", 12)),
        ("/api/board/posts/12", ("POST", 12)),
        ("https://example.org/posts/12/", ("POST", 12)),
        ("https://example.org/posts/12?utm=1", ("POST", 12)),
        ("https://example.org/#/posts/12", ("POST", 12)),
        ("https://example.org/#posts/12", ("POST", 12)),
        ("https://example.org/posts/12/comments/34", ("COMMENT", 34)),
        ("comments/34#top", ("COMMENT", 34)),
        ("", None),
        ("0", None),
        ("-1", None),
        ("12.5", None),
        ("١٢", None),
        ("posts/", None),
        ("posts/12x", None),
        ("blogposts/12", None),
        ("https://example.org/members/12", None),
        ("9223372036854775807", ("POST", 2**63 - 1)),
        ("9223372036854775808", None),
        ("9" * 400, None),
    ],
)
def test_address_names_a_post_or_comment(
    text: str, expected: tuple[str, int] | None
) -> None:
    assert find_target(text) == expected
