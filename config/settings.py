"""All settings; operators set them in the environment (`.env.example`)."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corsheaders.defaults import default_headers
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import about, env
from config.beat_schedule import CELERY_BEAT_SCHEDULE as CELERY_BEAT_SCHEDULE
from config.job_queues import CELERY_TASK_DEFAULT_QUEUE as CELERY_TASK_DEFAULT_QUEUE
from config.job_queues import CELERY_TASK_QUEUES as CELERY_TASK_QUEUES
from config.job_queues import CELERY_TASK_ROUTES as CELERY_TASK_ROUTES
from config.log_settings import build_logging
from config.mail import read_mail_sender, read_mail_server
from config.object_store import read_image_store, read_object_store
from config.openapi import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS
from config.unsafe_settings import refuse_unsafe_settings
from core.bulkhead import DEFAULT_THREADS
from core.db.postgresql.liveness import WatchdogConnection

BASE_DIR = Path(__file__).resolve().parent.parent

# --- The installation ---------------------------------------------------------

DEBUG = env.read_bool("DEBUG", default=False)
SECRET_KEY = env.read_text("SECRET_KEY") or (
    "only-for-debugging"
    if DEBUG
    else env.read_required("SECRET_KEY", "it signs tokens and keys hashes")
)
SECRET_KEY_FALLBACKS = env.read_list("SECRET_KEY_FALLBACKS")
SECRETS_KEYS = env.read_encryption_keys("SECRETS_KEY")
PUBLIC_URL = env.read_url(
    "PUBLIC_URL", f"http://127.0.0.1:{env.read_int('PORT', env.DEFAULT_PORT)}"
)
HAS_PUBLIC_URL = bool(env.read_text("PUBLIC_URL"))
IS_HTTPS = PUBLIC_URL.startswith("https:")
ALLOWED_HOSTS = env.read_hosts("ALLOWED_HOSTS") or [
    "127.0.0.1",
    "localhost",
    "[::1]",
    str(urlsplit(PUBLIC_URL).hostname),
]
WEB_THREADS = env.read_int("WEB_THREADS", DEFAULT_THREADS, minimum=1, maximum=32)
TRUSTED_PROXY_COUNT = env.read_int("TRUSTED_PROXY_COUNT", 0, maximum=10)
CORS_ALLOWED_ORIGINS = env.read_origins("CORS_ALLOWED_ORIGINS")
HOME_CURRENCY = env.read_currency("HOME_CURRENCY", "KRW")
# Its public holidays move the payment days of cards.
HOME_COUNTRY = env.read_country("HOME_COUNTRY", "KR")
TIME_ZONE = env.read_time_zone("TIME_ZONE", "Asia/Seoul")
# The source language comes first.
LANGUAGES = [("en", "English"), ("ko", "한국어")]
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
METRICS_TOKEN = env.read_text("METRICS_TOKEN")
VERSION, LICENSE, ABOUT = about.VERSION, about.LICENSE, about.read_about()

# --- Applications -------------------------------------------------------------

INSTALLED_APPS = [
    "administration.apps.ServiceAdminConfig",
    "accounts",  # before auth, whose createsuperuser command it overrides
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "core.leases",
    "core.jobs",
    "core.releases",
    "administration",
    "ledger",
    "billing",
    "board",
]
MIDDLEWARE = [
    *(["core.middleware.PrometheusMiddleware"] if METRICS_TOKEN else []),
    "core.middleware.AccessLogMiddleware",
    "core.middleware.LanguageMiddleware",
    "core.compression.CompressionMiddleware",
    "core.middleware.RetrySafeRequestsMiddleware",
    "core.response_headers.ResponseHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    *(["corsheaders.middleware.CorsMiddleware"] if CORS_ALLOWED_ORIGINS else []),
    "accounts.sessions.cookies.SessionMiddleware",
    "core.middleware.HostCheckMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "core.middleware.NonApiAuthenticationMiddleware",
    "core.middleware.NonApiMessageMiddleware",
    "accounts.switches.middleware.ReadOnlyMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "core.response_headers.add_nonce",
            ]
        },
    }
]

# --- PostgreSQL ---------------------------------------------------------------

DATABASE_POOL_SIZE = env.read_int("DATABASE_POOL_SIZE", 8, minimum=1, maximum=100)
DATABASE_STATEMENT_SECONDS = env.read_int("DATABASE_STATEMENT_SECONDS", 10)
DATABASE_LIMITS = {
    "statement_timeout": DATABASE_STATEMENT_SECONDS * 1_000,
    "lock_timeout": env.read_int("DATABASE_LOCK_SECONDS", 3, minimum=1) * 1_000,
    "idle_in_transaction_session_timeout": 30_000,
}
# A transaction pooler rejects or ignores `options`; the limits come from the role.
DATABASE_TRANSACTION_POOLING = env.read_bool(
    "DATABASE_TRANSACTION_POOLING", default=False
)
# PgBouncer 1.22 or newer can keep them, if it is told to.
DATABASE_PREPARED_STATEMENTS = env.read_bool(
    "DATABASE_PREPARED_STATEMENTS", default=not DATABASE_TRANSACTION_POOLING
)
_limits = " ".join(f"-c {name}={value}" for name, value in DATABASE_LIMITS.items())
_database = env.parse_database_url(
    env.read_required("DATABASE_URL", "only script/server starts its own database"),
    env.read_text("DATABASE_PASSWORD"),
)
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **_database,
        "ENGINE": "core.db.postgresql",
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,  # the backend checks connections itself
        # A cursor outlives its transaction only in a session of its own.
        "DISABLE_SERVER_SIDE_CURSORS": DATABASE_TRANSACTION_POOLING,
        "OPTIONS": {
            "connect_timeout": 3,
            "prepare_threshold": 1 if DATABASE_PREPARED_STATEMENTS else None,
            **({} if DATABASE_TRANSACTION_POOLING else {"options": _limits}),
            "application_name": "household-ledger",
            # Detect a broken network within half a minute.
            # `core.db.postgresql.liveness` detects a server that hangs.
            "tcp_user_timeout": 10_000,
            "keepalives_idle": 15,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            **_database.get("OPTIONS", {}),
            "pool": {
                "connection_class": WatchdogConnection,
                "min_size": 1,
                "max_size": DATABASE_POOL_SIZE,
                # Both are short, since `core.db.postgresql` asks the pool repeatedly.
                "timeout": 0.25,
                "reconnect_timeout": 0.2,
                "max_lifetime": 30 * 60,
            },
        },
    }
}

# --- Valkey (the fast store of the specification) -----------------------------

REDIS_URL = env.add_password(
    env.read_url(
        "REDIS_URL", "redis://127.0.0.1:6379/0", schemes=("redis", "rediss", "unix")
    ),
    env.read_text("REDIS_PASSWORD"),
)
# After this time a request is served from PostgreSQL.
REDIS_SOCKET_TIMEOUT_SECONDS = 0.15
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {
            # The default, pickle, runs any code that was written into Valkey.
            "SERIALIZER": "django_redis.serializers.json.JSONSerializer",
            "SOCKET_CONNECT_TIMEOUT": REDIS_SOCKET_TIMEOUT_SECONDS,
            "SOCKET_TIMEOUT": REDIS_SOCKET_TIMEOUT_SECONDS,
            "CONNECTION_POOL_KWARGS": {"retry": Retry(NoBackoff(), 0)},
        },
    }
}

# --- Members and sessions -----------------------------------------------------

AUTH_USER_MODEL = "accounts.Member"
AUTHENTICATION_BACKENDS = ["accounts.login.password.LoginBackend"]
PASSWORD_HASHERS = [
    "accounts.login.hashers.LowMemoryArgon2PasswordHasher",
    "accounts.login.hashers.BoundedPBKDF2PasswordHasher",
]
_VALIDATORS_MODULE = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {
        "NAME": f"{_VALIDATORS_MODULE}.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["login_id", "display_name", "email"]},
    },
    {"NAME": f"{_VALIDATORS_MODULE}.MinimumLengthValidator"},
    {"NAME": f"{_VALIDATORS_MODULE}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATORS_MODULE}.NumericPasswordValidator"},
]
# The ledger goes first: it takes longest, and no other member waits for it. Then follow
# locks that are taken before the member's row.
ACCOUNT_DELETION_STEPS_BEFORE_LOCK = [
    "ledger.account_deletion.delete_member_data",
    "board.account_deletion.lock_for_account_deletion",
]
ACCOUNT_DELETION_STEPS = [
    "board.account_deletion.delete_member_data",
    "accounts.account_deletion.delete_member_data",
    "billing.account_deletion.delete_member_data",
]
INBOX_SOURCES = ["accounts.inbox.kinds.SOURCE", "board.inbox.SOURCE"]
SESSION_ENGINE = "accounts.sessions.store"
SESSION_TTL_DAYS = env.read_int("SESSION_TTL_DAYS", 14, minimum=1, maximum=3650)
# Unlimited by default.
SESSION_MAX_DAYS = env.read_int(
    "SESSION_MAX_DAYS", max(180, SESSION_TTL_DAYS), minimum=1, maximum=3650
)
SESSION_COOKIE_AGE = SESSION_TTL_DAYS * 24 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = IS_HTTPS
ADMIN_SECOND_FACTOR = env.read_bool("ADMIN_SECOND_FACTOR", default=False)
# How long a process knows the legal documents.
LEGAL_CACHE_SECONDS = 10
# How long a process knows the switches, and the announcements.
SWITCH_CACHE_SECONDS = 2
ANNOUNCEMENT_CACHE_SECONDS = 10
RESERVED_NAMES = env.read_list("RESERVED_NAMES") or [
    *("관리자", "운영자", "운영진", "admin", "administrator", "moderator", "root"),
]
SECURITY_EVENT_DAYS = env.read_int("SECURITY_EVENT_DAYS", 180, minimum=1)
IDP_CLIENT_ID = env.read_text("IDP_CLIENT_ID")
GOOGLE_TOKENINFO_URL = "https://oauth2.googleapis.com/tokeninfo"
IDP_TOKENINFO_URL = env.read_url("IDP_TOKENINFO_URL", GOOGLE_TOKENINFO_URL)
IDP_TOKENS_ARE_JWTS = env.read_bool(
    "IDP_TOKENS_ARE_JWTS", default=IDP_TOKENINFO_URL == GOOGLE_TOKENINFO_URL
)

# None: requests that need a mail are 503.
MAIL_SERVER = read_mail_server("MAIL_URL")
MAIL_FROM = read_mail_sender("MAIL_FROM", MAIL_SERVER)
# Of one run of the job; each has a thread and a connection of the pool.
MAIL_CONNECTIONS = env.read_int("MAIL_CONNECTIONS", 4, minimum=1, maximum=64)

# --- The ledger ---------------------------------------------------------------

ACCOUNT_NUMBER_KEYS = env.read_encryption_keys("ACCOUNT_NUMBER_KEY")
FX_PROVIDER = env.read_dotted_path(
    "FX_PROVIDER", "ledger.currencies.provider.FallbackRateProvider"
)
FX_BASE_URL = env.read_origin("FX_BASE_URL", "https://api.frankfurter.dev")
PRICE_PROVIDER = env.read_dotted_path(
    "PRICE_PROVIDER", "ledger.investments.price_providers.CompositePriceProvider"
)
PRICE_BASE_URL = env.read_text("PRICE_BASE_URL") and env.read_origin(
    "PRICE_BASE_URL", ""
)
PRICE_MAX_AGE_SECONDS = env.read_int("PRICE_MAX_AGE_SECONDS", 600)
OCR_API_KEY = env.read_text("OCR_API_KEY")
OCR_BASE_URL = env.read_origin("OCR_BASE_URL", "https://vision.googleapis.com")

# --- Billing -------------------------------------------------------------------

BILLING_TEST_MODE = env.read_bool("BILLING_TEST_MODE", default=False)
PREMIUM_PRICES = {
    "premium_monthly": env.read_int("PREMIUM_MONTHLY_PRICE", 4_900),
    "premium_yearly": env.read_int("PREMIUM_YEARLY_PRICE", 49_000),
}
STORE_VERIFIER = env.read_dotted_path("STORE_VERIFIER", "billing.stores.StubVerifier")
STORE_BASE_URL = env.read_origin(
    "STORE_BASE_URL", "https://androidpublisher.googleapis.com"
)
STORE_SERVICE_ACCOUNT = env.read_json_object("STORE_SERVICE_ACCOUNT")
STORE_PACKAGE_NAME = env.read_text("STORE_PACKAGE_NAME")
STORE_PUSH_AUDIENCE = env.read_text("STORE_PUSH_AUDIENCE")
STORE_PUSH_EMAIL = env.read_text("STORE_PUSH_EMAIL")

# --- The board: accepted writes of one member ---------------------------------

BOARD_NEEDS_VERIFIED_EMAIL = env.read_bool("BOARD_NEEDS_VERIFIED_EMAIL", default=False)
BOARD_LIMITS_PER_HOUR = {
    "posts": env.read_int("BOARD_POSTS_PER_HOUR", 60, minimum=1),
    "comments": env.read_int("BOARD_COMMENTS_PER_HOUR", 300, minimum=1),
    "votes": env.read_int("BOARD_VOTES_PER_HOUR", 1_200, minimum=1),
}
# 0 is off: no post of a newcomer is held.
NEWCOMER_HOURS = env.read_int("NEWCOMER_HOURS", 0, minimum=0, maximum=24 * 365)
# Reporters who hide a post or comment; 0 is never.
REPORTS_HIDE = env.read_int("REPORTS_HIDE", 5, minimum=0)
BLIND_DAYS = env.read_int("BLIND_DAYS", 30, minimum=1, maximum=365)
# What staff delete is hidden so long before it is removed; 0 removes at once.
BOARD_KEPT_DAYS = env.read_int("BOARD_KEPT_DAYS", 30, minimum=0, maximum=3_650)
# None: no image may lie in a bucket. With a bucket, IMAGE_STORE decides about new ones.
OBJECT_STORE = read_object_store()
IMAGE_STORE = read_image_store(OBJECT_STORE)

# --- The JSON interface -------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.sessions.authentication.SessionAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["core.api.permissions.IsMember"],
    "DEFAULT_PARSER_CLASSES": ["core.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["core.api.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.api.renderers.ContentNegotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "core.api.openapi.ApiAutoSchema",
    "EXCEPTION_HANDLER": "core.api.exception_handler.handle_exception",
    "UNAUTHENTICATED_USER": None,
    "DATETIME_FORMAT": None,
    "URL_FORMAT_OVERRIDE": None,
}
# 2.5 MiB for a JSON body; a larger body is 413.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 2**19
CORS_ALLOW_HEADERS = [*default_headers, "idempotency-key", "if-match"]
CORS_EXPOSE_HEADERS = [
    *("Content-Disposition", "ETag", "Idempotency-Replayed", "Location"),
    *("Operation-Id", "Retry-After", "X-Request-ID"),
]

# --- Transport security -------------------------------------------------------

SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_COUNT else None
)
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = IS_HTTPS
SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "core.api.exception_handler.csrf_failure"
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # login ids are unique, case-insensitively, by a constraint
    "security.W002",  # `core.response_headers` sets X-Frame-Options
    "security.W008",  # the proxy redirects to https
]

# --- Static files -------------------------------------------------------------

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = env.read_bool("SERVE_STATIC_FROM_SOURCE", default=DEBUG)
STATIC_ROOT = None if WHITENOISE_USE_FINDERS else BASE_DIR / "var" / "static"
WHITENOISE_AUTOREFRESH = False
_STATIC_STORAGE = "whitenoise.storage.CompressedStaticFilesStorage"
STORAGES = {"staticfiles": {"BACKEND": _STATIC_STORAGE}}

# --- Jobs ---------------------------------------------------------------------

# The task of a killed worker is delivered again after this time. The second run of a
# longer task is skipped.
JOB_VISIBILITY_TIMEOUT_SECONDS = 10 * 60
# Workers that share a run of `core.jobs.ranges`.
JOB_WORKERS = env.read_int("JOB_WORKERS", 2, minimum=1, maximum=64)
ON_DEMAND_JOBS = frozenset(
    {
        "process_store_notifications",
        "send_mail",
        "delete_image_objects",
    }
)
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": "jobs:",
    "visibility_timeout": JOB_VISIBILITY_TIMEOUT_SECONDS,
}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_EXPIRES = None
# Beat waits while Valkey is down, so that no run is lost.
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": None,
    "interval_start": 0,
    "interval_step": 0.5,
    "interval_max": 5,
}
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_SYNC_EVERY = 1
# --- Logs ---------------------------------------------------------------------

LOGGING = build_logging()
LOG_LEVEL = LOGGING["root"]["level"]

# --- Safety --------------------------------------------------------------------

# See `config.unsafe_settings`.
ACCEPT_UNSAFE = env.read_list("ACCEPT_UNSAFE")
refuse_unsafe_settings(globals(), ACCEPT_UNSAFE)
