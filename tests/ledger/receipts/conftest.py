from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer


@pytest.fixture
def vision(settings: Any, httpserver: HTTPServer, tmp_path: Path) -> HTTPServer:
    """Return a server in place of Google Vision, without answers."""
    settings.OCR_API_KEY = "AIzaSy-very-secret-key"
    settings.OCR_BASE_URL = httpserver.url_for("").rstrip("/")
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return httpserver
