"""The address of categories, and a body that makes one."""

CATEGORIES = "/api/account/categories"
PLAIN = {"name": "Food", "type": "expense"}
