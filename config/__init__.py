"""The project: settings, URLs and the machinery that every app shares."""
