"""Announcements of tests."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.announcements.announcements import KNOWN
from accounts.models import Announcement


def make_announcement(title: str = "Title", **fields: Any) -> Announcement:
    """Create an announcement of an hour ago for all, which this process knows."""
    now = timezone.now()
    values = {
        "title_ko": f"{title} (ko)",
        "title_en": title,
        "text_ko": "글",
        "text_en": "Words",
        "level": "INFO",
        "audience": "ALL",
        "starts_at": now - timedelta(hours=1),
        "ends_at": now + timedelta(days=1),
        "created_at": now - timedelta(hours=1),
    }
    announcement = Announcement.objects.create(**(values | fields))
    KNOWN.forget()
    return announcement
