"""The WSGI application."""

import os
import sys
from importlib import import_module

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    application = get_wsgi_application()
except ImproperlyConfigured as error:
    sys.exit(f"configuration: {error}")

# Otherwise Celery would use its own default queue in other threads.
import_module("config.celery").app.set_default()
