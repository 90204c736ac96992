"""The application that the web server runs in each of its workers (`config.server`)."""

from core.metrics_files import claim_metrics_number

claim_metrics_number()

from config.env import read_int  # noqa: E402
from config.wsgi import application as wsgi_application  # noqa: E402
from core.rsgi import DEFAULT_THREADS, ThreadedWSGIApplication  # noqa: E402

application = ThreadedWSGIApplication(
    wsgi_application, read_int("WEB_THREADS", DEFAULT_THREADS, minimum=1)
)
