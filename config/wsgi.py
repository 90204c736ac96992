"""The WSGI application."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

from core.wsgi_request_body import ChunkedRequestMiddleware, DrainRequestBodyMiddleware

# gunicorn does not restart a worker that exits with this code.
APP_LOAD_ERROR = 4

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    application = DrainRequestBodyMiddleware(
        ChunkedRequestMiddleware(get_wsgi_application())
    )
except ImproperlyConfigured as error:
    sys.stderr.write(f"configuration: {error}\n")
    sys.exit(APP_LOAD_ERROR)
