"""Terms, privacy, age: documents and consents (spec 2.20)."""
