"""Administration: the administrators' API, Django admin, dashboard and metrics."""
