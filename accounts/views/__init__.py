"""The views of the accounts app, one module for each topic."""
