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

# For calls of jobs, from all threads: without it, Celery would look for a queue at its
# own default.
import_module("config.celery").app.set_default()
