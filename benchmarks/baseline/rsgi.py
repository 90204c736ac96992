"""The baseline for the web server, with as many threads as the service has."""

from benchmarks.baseline.wsgi import application as wsgi_application
from core.rsgi import DEFAULT_THREADS, ThreadedWSGIApplication

application = ThreadedWSGIApplication(wsgi_application, DEFAULT_THREADS)
