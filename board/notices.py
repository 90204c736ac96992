"""Notices: posts that administrators put before all others but the hot ones."""

from django.db import transaction

from board.locking import lock_post


def set_notice(post_id: int, *, notice: bool) -> None:
    """Turn the flag on or off; twice is as once (service.md, Post notice flag)."""
    with transaction.atomic():
        post = lock_post(post_id)
        if post.is_notice is not notice:
            post.is_notice = notice
            post.save(update_fields=["is_notice"])
