"""Settings of the baseline, on the same stores as the service.

BASELINE_SESSIONS is the session backend: `cached_db`, `cached_db_slide` (saved on every
request, for a sliding expiry) or `cache`.
"""

import os
from pathlib import Path

import environ

# The migrations of the service read their SQL files below this directory.
BASE_DIR = Path(__file__).resolve().parent.parent.parent
SESSION_BACKEND = os.environ.get("BASELINE_SESSIONS", "cached_db")
SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "benchmarks.baseline.urls"
INSTALLED_APPS = [
    "accounts",
    "benchmarks.baseline.apps.LedgerTablesConfig",
    "board",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.postgres",
    "rest_framework",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
LOG_LEVEL = "WARNING"
LOGGING = {"version": 1, "disable_existing_loggers": False}
# Those of the server are as they come.
DATABASE_LIMITS: dict[str, int] = {}
DATABASES = {
    "default": environ.Env.db_url_config(os.environ["DATABASE_URL"])
    | {"CONN_MAX_AGE": 600, "OPTIONS": {}}
}
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": os.environ["REDIS_URL"],
    }
}
AUTH_USER_MODEL = "accounts.Member"
SESSION_ENGINE = (
    f"django.contrib.sessions.backends.{SESSION_BACKEND.removesuffix('_slide')}"
)
SESSION_SAVE_EVERY_REQUEST = SESSION_BACKEND.endswith("_slide")
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
# The login id is unique through a case-insensitive index.
SILENCED_SYSTEM_CHECKS = ["auth.E003"]
ACCOUNT_NUMBER_KEYS: tuple[str, ...] = ()
TIME_ZONE = "Asia/Seoul"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
