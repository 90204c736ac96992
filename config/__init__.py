"""The Django project: settings, URLs, Celery and WSGI applications."""
