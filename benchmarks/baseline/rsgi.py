"""The baseline with as many threads as the service."""

from django.core.wsgi import get_wsgi_application

from core.rsgi import DEFAULT_THREADS, ThreadedWSGIApplication

application = ThreadedWSGIApplication(get_wsgi_application(), DEFAULT_THREADS)
