"""Django admin: base classes of its pages, columns, filters, actions and CSV files."""
