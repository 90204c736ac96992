"""Building blocks of the JSON API."""
