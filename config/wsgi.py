"""The WSGI application."""

import os
import sys
from importlib import import_module

import django
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    django.setup(set_prefix=False)
except ImproperlyConfigured as error:
    sys.exit(f"configuration: {error}")

# Its modules need the settings.
RememberingWSGIHandler = import_module("core.wsgi_handler").RememberingWSGIHandler
application = RememberingWSGIHandler()

# Otherwise Celery would use its own default queue in other threads.
import_module("config.celery").app.set_default()
