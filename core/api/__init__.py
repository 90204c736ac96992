"""Building blocks of the JSON API, one module per policy."""
