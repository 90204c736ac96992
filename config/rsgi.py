"""The application that each worker of the web server runs."""

from importlib import import_module

from core.metrics_files import use_named_files

use_named_files()

from django.conf import settings  # noqa: E402
from django.utils import translation  # noqa: E402

from config.wsgi import application as wsgi_application  # noqa: E402
from core.api.body_limits import find_body_limit  # noqa: E402
from core.rsgi import ThreadedWSGIApplication  # noqa: E402

# Load it before the first requests of each process.
import_module(settings.ROOT_URLCONF)

for language, _ in settings.LANGUAGES:
    with translation.override(language):
        pass

application = ThreadedWSGIApplication(
    wsgi_application, settings.WEB_THREADS, find_body_limit
)
