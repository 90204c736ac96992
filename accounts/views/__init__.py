"""Views of the accounts app, one module per topic."""
