"""Settings of the board's peers: those of the service, with a plain Django around.

They have its sessions, connection pool and web server, and only the middleware that
`startproject` would leave an API with.
"""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.baseline.board_urls"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}
