"""The installation, before a login (spec 7.8)."""

from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.legal.documents import KNOWN, list_in_force
from accounts.mail.outbox import is_mail_configured
from accounts.members.serializers import MAX_PASSWORD_LENGTH
from accounts.profile.profile import MAX_IMAGE_BYTES as MAX_PROFILE_IMAGE_BYTES
from accounts.sessions.store import MAX_SESSIONS
from accounts.switches.switches import read_switches
from billing.stores import StubVerifier, load_verifier
from board import images
from board.models import COMMENT_LENGTH, CONTENT_LENGTH, TAG_LENGTH, TITLE_LENGTH
from board.serializers.posts import MAX_TAGS
from core.api.body_limits import DEFAULT_BODY_BYTES
from core.api.fields import MAX_AMOUNT
from core.api.pagination import MAX_PAGE_OFFSET, MAX_PAGE_SIZE
from core.api.parsers import MAX_UPLOAD_BYTES
from core.rsgi import MAX_URL_BYTES
from ledger.backup.workbook import MAX_ROWS as MAX_SHEET_ROWS
from ledger.base.fields import MAX_TAGS_PER_ENTRY
from ledger.base.quotas import MAX_ROWS
from ledger.models import Category, QuickEntry, RecurringRule, Stock, Tag, Wallet
from ledger.models.base import MAX_ENTRIES, MAX_MEMO_LENGTH, MAX_NAME_LENGTH
from ledger.models.card_notifications import MAX_TEXT_LENGTH
from ledger.statistics.serializers import MAX_RANGE_DAYS

# The identity provider behind IDP_TOKENINFO_URL.
GOOGLE = "google"


def describe_installation() -> dict[str, Any]:
    about = settings.ABOUT
    return {
        "name": about["name"],
        "version": settings.VERSION,
        "source": about["source"],
        "languages": [code for code, _ in settings.LANGUAGES],
        "home_currency": settings.HOME_CURRENCY,
        "time_zone": settings.TIME_ZONE,
        "features": list_features(),
        "limits": list_limits(),
        "clients": about["clients"],
        "legal": list_legal_pages(about["legal"]),
        "support": about["support"],
    }


def list_legal_pages(of_operator: dict[str, str | None]) -> dict[str, str | None]:
    """Return the operator's addresses, else those of the pages of this service."""
    documents = list_in_force(KNOWN.list_all(), timezone.now())
    kinds = {each.kind.lower() for each in documents}
    base = settings.PUBLIC_URL.rstrip("/")
    own: dict[str, str | None] = {
        name: f"{base}/legal/{name}" if name in kinds else None
        for name in ("terms", "privacy")
    }
    own["account_deletion"] = f"{base}/account/delete"
    own["reports"] = f"{base}/legal/report"
    return {name: of_operator[name] or page for name, page in own.items()}


def list_features() -> dict[str, Any]:
    """Return the features; features of other versions are False."""
    verifier = load_verifier()
    has_store = not isinstance(verifier, StubVerifier)
    switches = read_switches()
    has_provider = bool(settings.IDP_CLIENT_ID) and switches.identity_providers
    return {
        "signup": switches.signup,
        "posting": switches.posting,
        "images": switches.images,
        "read_only": switches.read_only,
        "providers": [GOOGLE] if has_provider else [],
        "stores": [verifier.store] if has_store else [],
        "test_billing": settings.BILLING_TEST_MODE,
        "ocr": bool(settings.OCR_API_KEY),
        "mail": is_mail_configured(),
        "push": False,
        "passkeys": False,
        "second_factor": True,
        "tokens": True,
        "webhooks": False,
        "bank_texts": True,
        "sync": True,
        "imports": True,
        "card_bills": True,
    }


def list_limits() -> dict[str, Any]:
    """Return the limits, each from the module that enforces it."""
    return {
        "page_size": MAX_PAGE_SIZE,
        "page_offset": MAX_PAGE_OFFSET,
        "url_bytes": MAX_URL_BYTES,
        "body_bytes": DEFAULT_BODY_BYTES,
        "upload_bytes": MAX_UPLOAD_BYTES,
        "profile_image_bytes": MAX_PROFILE_IMAGE_BYTES,
        "password_length": MAX_PASSWORD_LENGTH,
        "sessions": MAX_SESSIONS,
        "session_days": settings.SESSION_TTL_DAYS,
        "ledger": {
            "amount": MAX_AMOUNT,
            "name_length": MAX_NAME_LENGTH,
            "memo_length": MAX_MEMO_LENGTH,
            "tags_per_entry": MAX_TAGS_PER_ENTRY,
            "notification_length": MAX_TEXT_LENGTH,
            "statistics_days": MAX_RANGE_DAYS,
            "backup_rows": MAX_SHEET_ROWS,
            "entries": MAX_ENTRIES,
            "wallets": MAX_ROWS[Wallet],
            "categories": MAX_ROWS[Category],
            "tags": MAX_ROWS[Tag],
            "quick_entries": MAX_ROWS[QuickEntry],
            "recurring": MAX_ROWS[RecurringRule],
            "stocks": MAX_ROWS[Stock],
        },
        "board": {
            "title_length": TITLE_LENGTH,
            "content_length": CONTENT_LENGTH,
            "comment_length": COMMENT_LENGTH,
            "tag_length": TAG_LENGTH,
            "tags_per_post": MAX_TAGS,
            "images": images.MAX_IMAGES,
            "image_bytes": images.MAX_TOTAL_BYTES,
            "images_per_hour": images.UPLOAD_LIMIT.max_attempts,
            "posts_per_hour": settings.BOARD_LIMITS_PER_HOUR["posts"],
            "comments_per_hour": settings.BOARD_LIMITS_PER_HOUR["comments"],
            "votes_per_hour": settings.BOARD_LIMITS_PER_HOUR["votes"],
        },
    }
