"""The models of the service with a plain Django around.

BASELINE_SESSIONS is the session backend: `service`, `cached_db` or `cached_db_slide`;
the last saves the session on every request.
"""

import os

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS, REDIS_URL, SILENCED_SYSTEM_CHECKS

SESSION_BACKEND = os.environ.get("BASELINE_SESSIONS", "service")
ROOT_URLCONF = "benchmarks.baseline.views"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.sessions.authentication.SessionAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
if SESSION_BACKEND != "service":
    MIDDLEWARE = [
        MIDDLEWARE[0],
        "django.contrib.sessions.middleware.SessionMiddleware",
        MIDDLEWARE[1],
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ]
    REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"] = [
        "rest_framework.authentication.SessionAuthentication"
    ]
    INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.sessions"]
    # The admin site is not used here.
    SILENCED_SYSTEM_CHECKS = [*SILENCED_SYSTEM_CHECKS, "admin.E409"]
    SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
    SESSION_SAVE_EVERY_REQUEST = SESSION_BACKEND.endswith("_slide")
    DATABASE_LIMITS = {}
    DATABASES = {
        "default": DATABASES["default"]
        | {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": 600}
        | {"OPTIONS": {}}
    }
    CACHES = {
        "default": {
            "BACKEND": "django_redis.cache.RedisCache",
            "LOCATION": REDIS_URL,
        }
    }
