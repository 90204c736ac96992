"""The baseline with as many threads as the service."""

from django.core.wsgi import get_wsgi_application

from core.bulkhead import DEFAULT_THREADS
from core.rsgi import MAX_BODY_BYTES, ThreadedWSGIApplication

application = ThreadedWSGIApplication(
    get_wsgi_application(), DEFAULT_THREADS, lambda *_: MAX_BODY_BYTES
)
