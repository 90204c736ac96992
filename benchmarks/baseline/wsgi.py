"""WSGI application of the baseline."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.baseline.settings")
application = get_wsgi_application()
