"""The baseline for the web server, with as many threads as the service has."""

from benchmarks.baseline.wsgi import application as wsgi_application
from config.rsgi import DEFAULT_THREADS
from core.rsgi import ThreadedWSGIApplication

application = ThreadedWSGIApplication(wsgi_application, DEFAULT_THREADS)
