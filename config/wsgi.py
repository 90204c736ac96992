"""The entry of the web server."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from core.wsgi_request_body import ChunkedRequestMiddleware, DrainRequestBodyMiddleware

APP_LOAD_ERROR = 4
"""The exit code with which a worker tells gunicorn not to start it again."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    application = DrainRequestBodyMiddleware(
        ChunkedRequestMiddleware(get_wsgi_application())
    )
except ImproperlyConfigured as error:
    sys.stderr.write(f"configuration: {error}\n")
    sys.exit(APP_LOAD_ERROR)
